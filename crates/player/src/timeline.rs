//! The run as lanes: truth as filled bars, belief as dots, the gap between them as a dotted line.
//!
//! Sheet music: one stave a process, time from left to right. What is still going on is drawn to
//! the far end and shown only as far as the run has come; that edge, and the cursor, move by
//! themselves between steps. Labels that would cover one another are left out, the less telling
//! first.

use leasehold_engine::event::Verdict;
use leasehold_engine::setup::{Kind, Names};
use leasehold_engine::truth::GrantEnd;
use leasehold_engine::units::{ProcessId, SimTime};

use crate::film::{Check, Film, Hold, Role, Said, Span, Strip, Write};
use crate::layout::Rect;
use crate::text::seconds;

/// How a mark is drawn; the style sheet knows each by its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Base,
    Band,
    BandOdd,
    Reign,
    Held,
    Renewal,
    Asleep,
    Gap,
    GapAtOdds,
    CheckDot,
    CheckDotAtOdds,
    SendDot,
    SendDotAtOdds,
    Jeopardy,
    Crash,
    Accepted,
    Stale,
    Refused,
    Follower,
    Candidate,
    Leader,
    Tick,
    Cut,
    Request,
    Word,
    Muted,
    Figure,
    DoubtWord,
    RefusedWord,
    LeaseWord,
    Name,
    Plate,
}

impl Ink {
    /// The class in the style sheet.
    #[must_use]
    pub const fn class(self) -> &'static str {
        match self {
            Self::Base => "tl-base",
            Self::Band => "tl-band",
            Self::BandOdd => "tl-band odd",
            Self::Reign => "tl-reign",
            Self::Held => "tl-held",
            Self::Renewal => "tl-renewal",
            Self::Asleep => "tl-asleep",
            Self::Gap => "tl-gap",
            Self::GapAtOdds => "tl-gap odds",
            Self::CheckDot => "tl-check",
            Self::CheckDotAtOdds => "tl-check odds",
            Self::SendDot => "tl-send",
            Self::SendDotAtOdds => "tl-send odds",
            Self::Jeopardy => "tl-jeopardy",
            Self::Crash => "tl-crash",
            Self::Accepted => "tl-accepted",
            Self::Stale => "tl-stale",
            Self::Refused => "tl-refused",
            Self::Follower => "tl-follower",
            Self::Candidate => "tl-candidate",
            Self::Leader => "tl-leader",
            Self::Tick => "tl-tick",
            Self::Cut => "tl-cut",
            Self::Request => "tl-request",
            Self::Word => "tl-word",
            Self::Muted => "tl-muted",
            Self::Figure => "tl-figure",
            Self::DoubtWord => "tl-doubt",
            Self::RefusedWord => "tl-refuse",
            Self::LeaseWord => "tl-lease",
            Self::Name => "tl-name",
            Self::Plate => "tl-plate",
        }
    }
}

/// Where a text's own x stands in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// One thing to draw.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    Rect {
        ink: Ink,
        rect: Rect,
    },
    Line {
        ink: Ink,
        from: (f32, f32),
        to: (f32, f32),
    },
    Dot {
        ink: Ink,
        x: f32,
        y: f32,
        r: f32,
        at: SimTime,
    },
    Cross {
        ink: Ink,
        x: f32,
        y: f32,
        at: SimTime,
    },
    Text {
        ink: Ink,
        x: f32,
        y: f32,
        anchor: Anchor,
        text: String,
    },
}

/// The lanes of one run, ready to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    pub width: f32,
    pub height: f32,
    pub scale: Scale,
    /// Names, base lines and the axis: always whole.
    pub ground: Vec<Mark>,
    /// What happened: shown as far as the run has come.
    pub marks: Vec<Mark>,
    /// The bottom of the lanes, above the axis.
    pub floor: f32,
}

/// Time to pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    pub left: f32,
    pub right: f32,
    pub from: SimTime,
    pub to: SimTime,
}

impl Scale {
    #[must_use]
    pub fn x(&self, at: SimTime) -> f32 {
        let whole = self.to.0.saturating_sub(self.from.0).max(1) as f32;
        let part = (at.0 as f32 - self.from.0 as f32) / whole;
        self.left + part.max(-0.02).min(1.02) * (self.right - self.left)
    }

    /// The time at a place, kept within the scale.
    #[must_use]
    pub fn time(&self, x: f32) -> SimTime {
        let part = ((x - self.left) / (self.right - self.left).max(1.0))
            .max(0.0)
            .min(1.0);
        let whole = self.to.0.saturating_sub(self.from.0) as f32;
        SimTime(self.from.0 + (part * whole) as u64)
    }
}

/// Which lanes are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    All,
    /// One worker's or server's lane, with the stores' marks; for narrow places.
    One(Option<ProcessId>),
    /// Those who act and the stores; for two runs side by side.
    Acting,
}

/// The stretch of time that is shown for a run that has come to `end`, with the cursor at `now`.
#[must_use]
pub fn window(end: SimTime, now: SimTime, narrow: bool) -> (SimTime, SimTime) {
    const SECOND: u64 = 1_000_000;
    let ladder: &[u64] = if narrow {
        &[12, 18, 24, 36]
    } else {
        &[18, 24, 36, 48, 60]
    };
    let need = end.0 + SECOND / 2;
    if let Some(whole) = ladder
        .iter()
        .map(|s| s * SECOND)
        .find(|whole| need <= *whole)
    {
        return (SimTime(0), SimTime(whole));
    }
    let whole = ladder.last().copied().unwrap_or(60) * SECOND;
    let page = 10 * SECOND;
    let ahead = now.0 + whole / 5;
    let from = ahead.saturating_sub(whole).div_ceil(page) * page;
    (SimTime(from), SimTime(from + whole))
}

/// The lanes of a film in a place of this width.
#[must_use]
pub fn timeline(
    film: &Film,
    names: &Names,
    lanes: Lanes,
    width: f32,
    span: (SimTime, SimTime),
) -> Timeline {
    let longest = names
        .ids()
        .map(|id| names.name(id).chars().count())
        .max()
        .unwrap_or(0)
        .max(7);
    let left = (longest as f32 * 7.4 + 16.0).min(150.0);
    let scale = Scale {
        left,
        right: width - 16.0,
        from: span.0,
        to: span.1,
    };
    let mut draw = Draw {
        film,
        names,
        scale,
        y: 8.0,
        ground: Vec::new(),
        marks: Vec::new(),
        texts: Vec::new(),
        sends: Vec::new(),
    };
    match lanes {
        Lanes::All => draw.all(true),
        Lanes::Acting => draw.all(false),
        Lanes::One(id) => draw.one(id),
    }
    draw.finish(width)
}

struct Draw<'a> {
    film: &'a Film,
    names: &'a Names,
    scale: Scale,
    y: f32,
    ground: Vec<Mark>,
    marks: Vec<Mark>,
    /// With a rank; the lower is kept when two collide.
    texts: Vec<(u8, Mark)>,
    /// Where each process's writes leave: its lane's row of dots.
    sends: Vec<(ProcessId, f32)>,
}

impl Draw<'_> {
    fn all(&mut self, with_service: bool) {
        let has = |kind| self.names.of_kind(kind).next().is_some();
        let (workers, servers) = (has(Kind::Worker), has(Kind::Server));
        if workers && servers {
            if with_service {
                self.service_lane();
            }
        } else {
            for id in self.names.of_kind(Kind::Server) {
                self.server_lane(id);
            }
        }
        if !self.film.cuts.is_empty() {
            self.network_lane();
        }
        for id in self.names.of_kind(Kind::Client) {
            self.client_lane(id);
        }
        for id in self.names.of_kind(Kind::Worker) {
            self.worker_lane(id);
        }
        for id in self.names.of_kind(Kind::Store) {
            self.store_lane(id);
        }
    }

    fn one(&mut self, id: Option<ProcessId>) {
        let first = || {
            self.names
                .of_kind(Kind::Worker)
                .chain(self.names.of_kind(Kind::Server))
                .next()
        };
        let Some(id) = id.or_else(first) else { return };
        match self.names.kind(id) {
            Kind::Worker => self.worker_lane(id),
            Kind::Server => self.server_lane(id),
            Kind::Client => self.client_lane(id),
            Kind::Store => {}
        }
        for store in self.names.of_kind(Kind::Store) {
            self.store_lane(store);
        }
    }

    fn name(&mut self, name: &str, y: f32) {
        let text = name.to_owned();
        self.ground.push(Mark::Text {
            ink: Ink::Name,
            x: 8.0,
            y,
            anchor: Anchor::Start,
            text,
        });
    }

    fn base(&mut self, y: f32) {
        let line = Mark::Line {
            ink: Ink::Base,
            from: (self.scale.left, y),
            to: (self.scale.right, y),
        };
        self.ground.push(line);
    }

    fn text(&mut self, rank: u8, ink: Ink, x: f32, y: f32, anchor: Anchor, text: String) {
        self.texts.push((
            rank,
            Mark::Text {
                ink,
                x,
                y,
                anchor,
                text,
            },
        ));
    }

    /// From and to in pixels; none when it lies outside what is shown.
    fn extent(&self, span: Span) -> Option<(f32, f32)> {
        let to = span.to.unwrap_or(self.scale.to);
        if to < self.scale.from || self.scale.to < span.from {
            return None;
        }
        let low = self.scale.x(span.from).max(self.scale.left);
        let high = self.scale.x(to).min(self.scale.right);
        Some((low, high.max(low + 1.0)))
    }

    fn sees(&self, at: SimTime) -> bool {
        self.scale.from <= at && at <= self.scale.to
    }

    fn rect(&mut self, ink: Ink, low: f32, high: f32, y: f32, h: f32) {
        self.marks.push(Mark::Rect {
            ink,
            rect: Rect::new(low, y, high - low, h),
        });
    }

    fn line(&mut self, ink: Ink, from: (f32, f32), to: (f32, f32)) {
        self.marks.push(Mark::Line { ink, from, to });
    }

    fn service_lane(&mut self) {
        let top = self.y;
        let base = top + 32.0;
        self.name("service", base - 4.0);
        for reign in &self.film.reigns {
            let Some((low, high)) = self.extent(reign.span) else {
                continue;
            };
            let band = if reign.term.0 % 2 == 0 {
                Ink::Band
            } else {
                Ink::BandOdd
            };
            self.rect(band, low, high, top, 38.0);
            self.line(Ink::Reign, (low, base), (high, base));
            let text = format!(
                "{} leads term {}",
                self.names.name(reign.leader),
                reign.term
            );
            self.text(4, Ink::Muted, low + 8.0, top + 16.0, Anchor::Start, text);
        }
        self.y += 46.0;
    }

    fn network_lane(&mut self) {
        let y = self.y + 10.0;
        self.name("network", y + 4.0);
        for cut in &self.film.cuts {
            let Some((low, high)) = self.extent(*cut) else {
                continue;
            };
            self.line(Ink::Cut, (low, y), (high, y));
            self.text(
                3,
                Ink::Muted,
                low + 4.0,
                y - 4.0,
                Anchor::Start,
                "cut".to_owned(),
            );
        }
        self.y += 22.0;
    }

    fn server_lane(&mut self, id: ProcessId) {
        let base = self.y + 24.0;
        self.name(self.names.name(id), base + 4.0);
        let film = self.film;
        let strip = &film.strips[usize::from(id.0)];
        let mut term_shown = None;
        for part in &strip.parts {
            let Some((low, high)) = self.extent(part.span) else {
                continue;
            };
            let ink = match part.role {
                Role::Follower => Ink::Follower,
                Role::Candidate => Ink::Candidate,
                Role::Leader => Ink::Leader,
            };
            self.line(ink, (low, base), (high, base));
            let word = match part.role {
                Role::Leader => Some(format!("leads term {}", part.term)),
                Role::Candidate => Some(format!("stands, term {}", part.term)),
                Role::Follower => {
                    (term_shown != Some(part.term)).then(|| format!("term {}", part.term))
                }
            };
            term_shown = Some(part.term);
            if let Some(word) = word {
                let rank = if part.role == Role::Leader { 2 } else { 4 };
                self.text(rank, Ink::Muted, low + 3.0, base - 7.0, Anchor::Start, word);
            }
        }
        self.faults(strip, base, base - 6.0, 12.0);
        self.gaps(id, strip, base + 12.0);
        self.y += if strip.checks.is_empty() { 38.0 } else { 52.0 };
    }

    fn client_lane(&mut self, id: ProcessId) {
        let base = self.y + 18.0;
        self.name(self.names.name(id), base + 4.0);
        self.base(base);
        let film = self.film;
        let strip = &film.strips[usize::from(id.0)];
        for request in &strip.requests {
            let Some((low, high)) = self.extent(request.span) else {
                continue;
            };
            self.line(Ink::Request, (low, base), (high, base));
            let word = request.outcome.map(|o| match o {
                leasehold_engine::event::Outcome::Accepted => ("accepted", Ink::LeaseWord),
                leasehold_engine::event::Outcome::Refused => ("refused", Ink::RefusedWord),
                leasehold_engine::event::Outcome::Unknown => ("unknown", Ink::DoubtWord),
            });
            if let Some((word, ink)) = word {
                self.text(
                    3,
                    ink,
                    high + 4.0,
                    base - 5.0,
                    Anchor::Start,
                    word.to_owned(),
                );
            }
        }
        self.faults(strip, base, base - 6.0, 12.0);
        self.y += 30.0;
    }

    fn worker_lane(&mut self, id: ProcessId) {
        let base = self.y + 28.0;
        self.name(self.names.name(id), base + 4.0);
        self.base(base);
        let film = self.film;
        let strip = &film.strips[usize::from(id.0)];
        for hold in &strip.holds {
            self.hold(hold, base);
        }
        for span in &strip.jeopardy {
            if let Some((low, high)) = self.extent(*span) {
                self.rect(Ink::Jeopardy, low, high, base - 14.0, 15.0);
            }
        }
        self.faults(strip, base, base + 3.0, 21.0);
        self.gaps(id, strip, base + 13.5);
        self.y += 54.0;
    }

    fn hold(&mut self, hold: &Hold, base: f32) {
        let Some((low, high)) = self.extent(hold.span) else {
            return;
        };
        self.rect(Ink::Held, low, high, base - 12.0, 12.0);
        for at in &hold.renewals {
            if self.sees(*at) {
                let x = self.scale.x(*at);
                self.line(Ink::Renewal, (x, base - 12.0), (x, base));
            }
        }
        self.text(
            1,
            Ink::Figure,
            low + 3.0,
            base - 16.0,
            Anchor::Start,
            hold.token.to_string(),
        );
        if let (Some(end), Some(at)) = (hold.end, hold.span.to)
            && self.sees(at)
        {
            let word = match end {
                GrantEnd::Expired => "lapsed",
                GrantEnd::Released => "released",
            };
            self.text(
                2,
                Ink::Muted,
                high + 6.0,
                base - 3.0,
                Anchor::Start,
                format!("{word} {}", seconds(at)),
            );
        }
    }

    /// Sleeps are hatched, a crash is a break.
    fn faults(&mut self, strip: &Strip, base: f32, top: f32, h: f32) {
        for span in &strip.asleep {
            let Some((low, high)) = self.extent(*span) else {
                continue;
            };
            self.rect(Ink::Asleep, low, high, top, h);
            let slept = span
                .to
                .map(|to| format!("asleep {} s", seconds(SimTime(to.0 - span.from.0))));
            let text = slept.unwrap_or_else(|| "asleep".to_owned());
            let wide = text_width(&text) + 10.0;
            // Beside the dot of the check, which often stands where the sleep began.
            let (at, anchor) = match span.to {
                Some(_) if wide + 30.0 < high - low => ((low + high) / 2.0, Anchor::Middle),
                Some(_) => (low + 8.0, Anchor::Start),
                None => (low + 12.0, Anchor::Start),
            };
            self.text(2, Ink::Plate, at, top + h / 2.0 + 4.0, anchor, text);
        }
        // Where the lane has words above its line, the word of the crash stands there; else below.
        let below = base < top;
        for span in &strip.crashed {
            let Some((low, high)) = self.extent(*span) else {
                continue;
            };
            let (y, h) = if below {
                (base - 1.5, 3.0)
            } else {
                (base - 5.0, 10.0)
            };
            self.rect(Ink::Crash, low, high, y, h);
            let y = if below { base + 14.0 } else { base - 8.0 };
            self.text(
                2,
                Ink::Muted,
                low + 6.0,
                y,
                Anchor::Start,
                "crashed".to_owned(),
            );
        }
    }

    /// The open dot of a check, the filled dot of its send, the dotted line between.
    fn gaps(&mut self, id: ProcessId, strip: &Strip, y: f32) {
        self.sends.push((id, y));
        for check in &strip.checks {
            let odds = at_odds(check, strip);
            let gap = Span {
                from: check.at,
                to: check.sent,
            };
            let open = check.sent.is_none() && check.over;
            let x = self.scale.x(check.at);
            if !open && let Some((low, high)) = self.extent(gap) {
                self.line(
                    if odds { Ink::GapAtOdds } else { Ink::Gap },
                    (low, y),
                    (high, y),
                );
            }
            if self.sees(check.at) {
                let ink = if odds {
                    Ink::CheckDotAtOdds
                } else {
                    Ink::CheckDot
                };
                self.marks.push(Mark::Dot {
                    ink,
                    x,
                    y,
                    r: if odds { 5.0 } else { 4.0 },
                    at: check.at,
                });
                let word = match check.verdict {
                    Verdict::Mine => "checked: mine",
                    Verdict::Doubt => "checked: in doubt",
                    Verdict::NotMine => "checked: not mine",
                };
                let ink = if odds { Ink::DoubtWord } else { Ink::Muted };
                self.text(
                    if odds { 1 } else { 6 },
                    ink,
                    x - 9.0,
                    y + 4.0,
                    Anchor::End,
                    word.to_owned(),
                );
            }
            if let Some(sent) = check.sent.filter(|at| self.sees(*at)) {
                let ink = if odds {
                    Ink::SendDotAtOdds
                } else {
                    Ink::SendDot
                };
                let x = self.scale.x(sent);
                self.marks.push(Mark::Dot {
                    ink,
                    x,
                    y,
                    r: if odds { 5.0 } else { 4.0 },
                    at: sent,
                });
                let ink = if odds { Ink::DoubtWord } else { Ink::Muted };
                self.text(
                    if odds { 1 } else { 6 },
                    ink,
                    x + 9.0,
                    y + 4.0,
                    Anchor::Start,
                    "sent".to_owned(),
                );
            }
        }
    }

    fn store_lane(&mut self, id: ProcessId) {
        let base = self.y + 20.0;
        self.name(self.names.name(id), base + 4.0);
        self.base(base);
        let film = self.film;
        let strip = &film.strips[usize::from(id.0)];
        for write in &strip.writes {
            self.write(write, base);
        }
        self.faults(strip, base, base - 6.0, 12.0);
        self.y += 34.0;
    }

    fn write(&mut self, write: &Write, base: f32) {
        if !self.sees(write.at) {
            return;
        }
        let x = self.scale.x(write.at);
        let ink = match write.said {
            Said::Accepted => Ink::Accepted,
            Said::AcceptedStale => Ink::Stale,
            Said::Refused => Ink::Refused,
        };
        let lane = self
            .sends
            .iter()
            .find(|(id, _)| *id == write.from)
            .map(|(_, y)| *y);
        if let Some(y) = lane {
            self.line(ink, (self.scale.x(write.sent), y + 4.0), (x, base));
        }
        match write.said {
            Said::Accepted => self.marks.push(Mark::Dot {
                ink,
                x,
                y: base,
                r: 4.0,
                at: write.at,
            }),
            Said::AcceptedStale => self.marks.push(Mark::Dot {
                ink,
                x,
                y: base,
                r: 5.0,
                at: write.at,
            }),
            Said::Refused => self.marks.push(Mark::Cross {
                ink,
                x,
                y: base,
                at: write.at,
            }),
        }
        let (token, highest) = (write.token, write.highest);
        let word = match write.said {
            Said::Accepted => None,
            Said::AcceptedStale => {
                Some((format!("accepted: {token} after {highest}"), Ink::DoubtWord))
            }
            Said::Refused => Some((format!("refused: {token} < {highest}"), Ink::RefusedWord)),
        };
        if let Some((word, ink)) = word {
            let (at, anchor) = if x + 12.0 + text_width(&word) < self.scale.right {
                (x + 10.0, Anchor::Start)
            } else {
                (x - 10.0, Anchor::End)
            };
            self.text(0, ink, at, base - 6.0, anchor, word);
        } else {
            self.text(
                5,
                Ink::Figure,
                x,
                base + 14.0,
                Anchor::Middle,
                token.to_string(),
            );
        }
    }

    fn finish(mut self, width: f32) -> Timeline {
        let floor = self.y;
        self.axis(floor);
        let texts = place(&self.texts, &self.scale, &self.marks);
        self.marks.extend(texts);
        Timeline {
            width,
            height: floor + 24.0,
            scale: self.scale,
            ground: self.ground,
            marks: self.marks,
            floor,
        }
    }

    fn axis(&mut self, y: f32) {
        let second = 1_000_000;
        let whole = (self.scale.to.0 - self.scale.from.0) / second;
        let room = (self.scale.right - self.scale.left) / whole.max(1) as f32;
        let every = [1, 2, 3, 6, 12]
            .into_iter()
            .find(|n| *n as f32 * room >= 42.0)
            .unwrap_or(12);
        let first = self.scale.from.0 / second;
        for at in (first..=first + whole).filter(|s| s % every == 0) {
            let x = self.scale.x(SimTime(at * second));
            self.ground.push(Mark::Line {
                ink: Ink::Tick,
                from: (x, y),
                to: (x, y + 5.0),
            });
            let text = at.to_string();
            self.ground.push(Mark::Text {
                ink: Ink::Figure,
                x,
                y: y + 18.0,
                anchor: Anchor::Middle,
                text,
            });
        }
        let text = "seconds".to_owned();
        self.ground.push(Mark::Text {
            ink: Ink::Muted,
            x: 8.0,
            y: y + 18.0,
            anchor: Anchor::Start,
            text,
        });
    }
}

/// Whether a check stands at odds with the truth: it said "mine", and the lease ended before the
/// act.
fn at_odds(check: &Check, strip: &Strip) -> bool {
    if check.verdict == Verdict::Doubt {
        return true;
    }
    if check.over && check.sent.is_none() {
        return false;
    }
    let hold = strip.holds.iter().find(|h| h.token == check.token);
    let ended = hold.and_then(|h| h.span.to);
    let led = strip
        .parts
        .iter()
        .rev()
        .find(|p| p.role == Role::Leader && p.term.0 == check.token.0);
    let ended = ended.or_else(|| led.and_then(|p| p.span.to));
    match (check.verdict, ended, check.sent) {
        (Verdict::Mine, Some(end), Some(sent)) => end <= sent,
        (Verdict::Mine, Some(_), None) => true,
        (Verdict::Mine, None, _) | (Verdict::NotMine | Verdict::Doubt, _, _) => false,
    }
}

/// The width of a text of the timeline, by a safe estimate.
#[must_use]
pub fn text_width(text: &str) -> f32 {
    text.chars().count() as f32 * 7.1
}

/// Keeps the texts that cover nothing, those of lower rank first; pulls those at the edges inside.
fn place(texts: &[(u8, Mark)], scale: &Scale, marks: &[Mark]) -> Vec<Mark> {
    let last = texts
        .iter()
        .map(|(rank, _)| *rank)
        .max()
        .unwrap_or_default();
    let by_rank = (0..=last).flat_map(|rank| texts.iter().filter(move |text| text.0 == rank));
    let dots: Vec<Rect> = marks
        .iter()
        .filter_map(|mark| match mark {
            Mark::Dot { x, y, r, .. } => Some(Rect::new(x - r, y - r, 2.0 * r, 2.0 * r)),
            Mark::Cross { x, y, .. } => Some(Rect::new(x - 6.0, y - 6.0, 12.0, 12.0)),
            Mark::Rect { .. } | Mark::Line { .. } | Mark::Text { .. } => None,
        })
        .collect();
    let mut taken: Vec<Rect> = Vec::new();
    let mut kept = Vec::new();
    for (_, mark) in by_rank {
        let Mark::Text {
            ink,
            x,
            y,
            anchor,
            text,
        } = mark
        else {
            continue;
        };
        let w = text_width(text);
        let mut low = match anchor {
            Anchor::Start => *x,
            Anchor::Middle => x - w / 2.0,
            Anchor::End => x - w,
        };
        low = low.max(scale.left + 1.0).min(scale.right - w);
        let rect = Rect::new(low - 2.0, y - 10.5, w + 4.0, 13.0);
        let free = |other: &Rect| !rect.overlaps(*other);
        if taken.iter().all(free) && dots.iter().all(free) {
            taken.push(rect);
            let x = match anchor {
                Anchor::Start => low,
                Anchor::Middle => low + w / 2.0,
                Anchor::End => low + w,
            };
            kept.push(Mark::Text {
                ink: *ink,
                x,
                y: *y,
                anchor: *anchor,
                text: text.clone(),
            });
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_goes_both_ways() {
        let scale = Scale {
            left: 70.0,
            right: 880.0,
            from: SimTime(0),
            to: SimTime(18_000_000),
        };
        assert_eq!(scale.x(SimTime(0)), 70.0);
        assert_eq!(scale.x(SimTime(18_000_000)), 880.0);
        let there = scale.time(scale.x(SimTime(6_000_000)));
        assert!(there.0.abs_diff(6_000_000) < 2_000, "{there:?}");
    }

    #[test]
    fn the_window_holds_the_cursor() {
        for second in 0..300_u64 {
            for narrow in [false, true] {
                let now = SimTime(second * 1_000_000);
                let (from, to) = window(now, now, narrow);
                assert!(from <= now && now <= to, "{now:?} in {from:?}..{to:?}");
            }
        }
    }

    #[test]
    fn of_two_texts_in_one_place_the_more_telling_is_kept() {
        let text = |text: &str| Mark::Text {
            ink: Ink::Word,
            x: 100.0,
            y: 20.0,
            anchor: Anchor::Start,
            text: text.to_owned(),
        };
        let scale = Scale {
            left: 0.0,
            right: 400.0,
            from: SimTime(0),
            to: SimTime(1),
        };
        let kept = place(&[(3, text("less")), (1, text("more"))], &scale, &[]);
        assert_eq!(kept, vec![text("more")]);
    }
}
