//! Where everything stands on the stage, in CSS pixels: who grants, who acts, who checks.
//!
//! The floor plan, marked with tape before the play begins. It is drawn twice: wide, with authority
//! flowing from left to right, and in rows for narrow places, with authority flowing from top to
//! bottom. It knows how many there are of each kind and nothing of what they do; positions are
//! floats because they are pixels, and no state or text depends on them.

use leasehold_engine::setup::{Kind, Names};
use leasehold_engine::units::ProcessId;

use crate::text::px;

/// The height of a ticket stub.
pub const STUB_HEIGHT: f32 = 26.0;
/// The free space kept at the sides.
const PAD: f32 = 16.0;
/// The heading above a column of the wide stage.
const HEADING: f32 = 34.0;
const GATE: f32 = 10.0;
const PLATE: (f32, f32) = (58.0, 46.0);
/// Room for what a worker believes, beside its ring: "checked 12.4 s ago".
const BELIEF: f32 = 130.0;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    pub x: f32,
    pub y: f32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    pub x: f32,
    pub y: f32,
    pub w: f32,
    pub h: f32,
}

impl Rect {
    #[must_use]
    pub const fn new(x: f32, y: f32, w: f32, h: f32) -> Self {
        Self { x, y, w, h }
    }

    #[must_use]
    pub fn right(self) -> f32 {
        self.x + self.w
    }

    #[must_use]
    pub fn bottom(self) -> f32 {
        self.y + self.h
    }

    #[must_use]
    pub fn center(self) -> Point {
        Point {
            x: self.x + self.w / 2.0,
            y: self.y + self.h / 2.0,
        }
    }

    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.x < other.right()
            && other.x < self.right()
            && self.y < other.bottom()
            && other.y < self.bottom()
    }
}

/// Which of the two floor plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Wide,
    Rows,
}

/// Who is to be seated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cast {
    pub servers: Vec<ProcessId>,
    pub workers: Vec<ProcessId>,
    pub clients: Vec<ProcessId>,
    pub stores: Vec<ProcessId>,
}

impl Cast {
    #[must_use]
    pub fn of(names: &Names) -> Self {
        let all = |kind| names.of_kind(kind).collect();
        Self {
            servers: all(Kind::Server),
            workers: all(Kind::Worker),
            clients: all(Kind::Client),
            stores: all(Kind::Store),
        }
    }

    /// With workers on the stage, the servers fold into one service box.
    #[must_use]
    pub fn folded(&self) -> bool {
        !self.workers.is_empty() && !self.servers.is_empty()
    }
}

/// One process that acts: its disc, the room for its words, and the whole block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seat {
    pub id: ProcessId,
    pub block: Rect,
    pub center: Point,
    pub radius: f32,
    pub words: Rect,
}

/// A store behind its gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoreSeat {
    pub id: ProcessId,
    pub block: Rect,
    pub gate: Rect,
    pub plate: Rect,
}

/// The floor plan of one stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    pub shape: Shape,
    pub width: f32,
    pub height: f32,
    /// The service box, when the servers fold into one.
    pub service: Option<Rect>,
    /// Servers as discs of their own; empty when folded.
    pub servers: Vec<Seat>,
    pub workers: Vec<Seat>,
    pub clients: Vec<Seat>,
    pub stores: Vec<StoreSeat>,
    /// The heads of the three columns of the wide stage: the middle of each.
    pub heads: [f32; 3],
}

/// An end of a link as it is drawn: all servers of a folded service are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    Service,
    Process(ProcessId),
}

/// A way between two ends: a quadratic curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    pub from: Point,
    pub bend: Point,
    pub to: Point,
}

impl Path {
    fn straight(from: Point, to: Point) -> Self {
        let bend = Point {
            x: (from.x + to.x) / 2.0,
            y: (from.y + to.y) / 2.0,
        };
        Self { from, bend, to }
    }

    /// The place at `part`, from 0 at the start to 1 at the end.
    #[must_use]
    pub fn at(&self, part: f32) -> Point {
        let (a, b) = (1.0 - part, part);
        let mix = |p: f32, q: f32, r: f32| a * a * p + 2.0 * a * b * q + b * b * r;
        Point {
            x: mix(self.from.x, self.bend.x, self.to.x),
            y: mix(self.from.y, self.bend.y, self.to.y),
        }
    }

    /// The same way, `by` pixels to the right of the direction of travel.
    fn beside(self, by: f32) -> Self {
        let (dx, dy) = (self.to.x - self.from.x, self.to.y - self.from.y);
        let length = (dx * dx + dy * dy).sqrt().max(1.0);
        let (nx, ny) = (-dy / length * by, dx / length * by);
        let move_by = |p: Point| Point {
            x: p.x + nx,
            y: p.y + ny,
        };
        Self {
            from: move_by(self.from),
            bend: move_by(self.bend),
            to: move_by(self.to),
        }
    }

    fn reversed(self) -> Self {
        Self {
            from: self.to,
            bend: self.bend,
            to: self.from,
        }
    }

    /// As the `d` of an SVG path.
    #[must_use]
    pub fn d(&self) -> String {
        let at = |p: Point| format!("{} {}", px(p.x), px(p.y));
        format!("M{}Q{} {}", at(self.from), at(self.bend), at(self.to))
    }
}

/// Below this width, in CSS pixels, the stage is redrawn in rows.
#[must_use]
pub fn wide_from(cast: &Cast) -> f32 {
    if cast.folded() {
        return 700.0;
    }
    let clients = if cast.clients.is_empty() { 0.0 } else { 110.0 };
    let stores = if cast.stores.is_empty() { 0.0 } else { 244.0 };
    let ring: f32 = if cast.servers.len() <= 3 {
        376.0
    } else {
        470.0
    };
    (60.0 + clients + stores + ring).max(560.0)
}

/// The height that a stage of this width needs, at least.
#[must_use]
pub fn height_min(cast: &Cast, width: f32) -> f32 {
    let actors = cast.workers.len().max(1) as f32;
    if width < wide_from(cast) {
        let strip = if cast.folded() { 76.0 } else { 0.0 };
        let rows = (cast.workers.len() + cast.clients.len()) as f32
            + if cast.folded() {
                0.0
            } else {
                cast.servers.len() as f32
            };
        let store = if cast.stores.is_empty() {
            0.0
        } else {
            STORE_STRIP + PLATE.1
        };
        return 12.0 + strip + rows * ROW + store + 12.0;
    }
    let stores = cast.stores.len() as f32 * 130.0;
    let servers = if cast.folded() {
        150.0
    } else {
        match cast.servers.len() {
            0 => 0.0,
            1..=3 => 290.0,
            4..=5 => 370.0,
            _ => 470.0,
        }
    };
    let clients = cast.clients.len() as f32 * 90.0;
    HEADING + 10.0 + (actors * 112.0).max(stores).max(servers).max(clients)
}

/// The floor plan for a cast in a place of this size.
#[must_use]
pub fn layout(cast: &Cast, width: f32, height: f32) -> Layout {
    let height = height.max(height_min(cast, width));
    if width < wide_from(cast) {
        rows(cast, width, height)
    } else {
        wide(cast, width, height)
    }
}

// ---------------------------------------------------------------------------------------------
// Wide

fn wide(cast: &Cast, width: f32, height: f32) -> Layout {
    let pad = if width < 1000.0 { PAD } else { 28.0 };
    let area = Rect::new(pad, HEADING, width - 2.0 * pad, height - HEADING - 12.0);
    let store_w = if cast.stores.is_empty() {
        0.0
    } else {
        (width * 0.19).max(160.0).min(210.0)
    };
    let stores = wide_stores(cast, area, store_w);
    let right = stores
        .iter()
        .map(|s| s.plate.x)
        .fold(area.right(), f32::min)
        - 12.0;
    let left_w = if cast.folded() {
        (width * 0.222).max(178.0).min(246.0)
    } else if cast.clients.is_empty() {
        0.0
    } else {
        96.0
    };
    let left = Rect::new(area.x, area.y, left_w, area.h);
    let mut clients = Vec::new();
    let mut service = None;
    if cast.folded() {
        let room = area.h - if cast.clients.is_empty() { 0.0 } else { 96.0 };
        let h = room.min(330.0);
        service = Some(Rect::new(left.x, area.y + (room - h) / 2.0, left.w, h));
        let below = Rect::new(left.x, area.y + room + 8.0, left.w, 88.0);
        let each = left.w / cast.clients.len().max(1) as f32;
        for (n, id) in cast.clients.iter().enumerate() {
            let block = Rect::new(below.x + n as f32 * each, below.y, each, below.h);
            clients.push(disc_over_words(*id, block, 20.0));
        }
    } else {
        let each = area.h / cast.clients.len().max(1) as f32;
        for (n, id) in cast.clients.iter().enumerate() {
            let block = Rect::new(left.x, area.y + n as f32 * each, left.w, each);
            clients.push(disc_over_words(*id, block, 22.0));
        }
    }
    let middle_x = if left_w > 0.0 {
        left.right() + 12.0
    } else {
        area.x
    };
    let middle = Rect::new(middle_x, area.y, (right - middle_x).max(120.0), area.h);
    let workers = wide_workers(cast, middle);
    let servers = if cast.folded() {
        Vec::new()
    } else {
        ring_of_servers(cast, middle)
    };
    let acts = workers.first().map_or(middle.center().x, |w| w.center.x);
    let heads = [
        left.center().x,
        acts,
        stores.first().map_or(area.right(), |s| s.block.center().x),
    ];
    Layout {
        shape: Shape::Wide,
        width,
        height,
        service,
        servers,
        workers,
        clients,
        stores,
        heads,
    }
}

fn wide_stores(cast: &Cast, area: Rect, w: f32) -> Vec<StoreSeat> {
    let count = cast.stores.len().max(1) as f32;
    let each = area.h / count;
    let seat = |(n, id): (usize, &ProcessId)| {
        let h = (each - 14.0).min(if count > 1.0 { 210.0 } else { 280.0 });
        let y = area.y + n as f32 * each + (each - h) / 2.0;
        let block = Rect::new(area.right() - w, y, w, h);
        let gate = Rect::new(block.x - GATE, y, GATE, h);
        let plate_y = y + (h - PLATE.1) / 2.0;
        let plate = Rect::new(gate.right() - PLATE.0, plate_y, PLATE.0, PLATE.1);
        StoreSeat {
            id: *id,
            block,
            gate,
            plate,
        }
    };
    cast.stores.iter().enumerate().map(seat).collect()
}

fn wide_workers(cast: &Cast, area: Rect) -> Vec<Seat> {
    let each = area.h / cast.workers.len().max(1) as f32;
    let radius = ((each - 44.0) / 2.0).max(16.0).min(46.0);
    let seat = |(n, id): (usize, &ProcessId)| {
        let block = Rect::new(area.x, area.y + n as f32 * each, area.w, each);
        let least = area.x + BELIEF + 10.0 + radius;
        let x = if cast.stores.is_empty() {
            least.max(area.center().x)
        } else {
            least
        };
        let center = Point {
            x,
            y: block.center().y - 11.0,
        };
        let words = Rect::new(x - radius - 10.0 - BELIEF, center.y - 29.0, BELIEF, 56.0);
        Seat {
            id: *id,
            block,
            center,
            radius,
            words,
        }
    };
    cast.workers.iter().enumerate().map(seat).collect()
}

/// A place on the unit circle at equal parts, from the top, clockwise: for up to seven.
fn around(part: usize, of: usize) -> Point {
    // Cosine and sine of one part of the turn.
    let (cos, sin) = match of {
        0 | 1 => (1.0, 0.0),
        2 => (-1.0, 0.0),
        3 => (-0.5, 0.866_025_4),
        4 => (0.0, 1.0),
        5 => (0.309_017, 0.951_056_5),
        6 => (0.5, 0.866_025_4),
        _ => (0.623_489_8, 0.781_831_5),
    };
    let turn = |p: Point, _| Point {
        x: p.x * cos - p.y * sin,
        y: p.x * sin + p.y * cos,
    };
    (0..part).fold(Point { x: 0.0, y: -1.0 }, turn)
}

const SERVER_BLOCK: (f32, f32) = (172.0, 118.0);

fn ring_of_servers(cast: &Cast, area: Rect) -> Vec<Seat> {
    let count = cast.servers.len();
    let (w, h) = SERVER_BLOCK;
    let rx = ((area.w - w) / 2.0)
        .max(0.0)
        .min(if count > 3 { 220.0 } else { 170.0 });
    let lowest = (0..count)
        .map(|n| around(n, count).y)
        .fold(-1.0_f32, f32::max);
    let ry = ((area.h - h) / (1.0 + lowest).max(0.1))
        .max(0.0)
        .min(if count > 5 { 180.0 } else { 150.0 });
    let top = area.center().y - ry * (lowest - 1.0) / 2.0;
    let seat = |(n, id): (usize, &ProcessId)| {
        let at = around(n, count);
        let mid = Point {
            x: area.center().x + at.x * rx,
            y: top + at.y * ry,
        };
        let block = Rect::new(mid.x - w / 2.0, mid.y - h / 2.0, w, h);
        disc_over_words(*id, block, 27.0)
    };
    cast.servers.iter().enumerate().map(seat).collect()
}

/// A disc with its words below it, in the middle of a block.
fn disc_over_words(id: ProcessId, block: Rect, radius: f32) -> Seat {
    let words_h = (block.h - 2.0 * radius - 6.0).max(18.0).min(60.0);
    let used = 2.0 * radius + 8.0 + words_h;
    let top = block.y + ((block.h - used) / 2.0).max(0.0);
    let center = Point {
        x: block.center().x,
        y: top + radius + 2.0,
    };
    let words = Rect::new(block.x, center.y + radius + 5.0, block.w, words_h);
    Seat {
        id,
        block,
        center,
        radius,
        words,
    }
}

// ---------------------------------------------------------------------------------------------
// Rows

const ROW: f32 = 80.0;
const STORE_STRIP: f32 = 96.0;
/// Where writes travel in the rows: at the right, from the rows down to the gates.
const CHANNEL: f32 = 108.0;
/// The same in the narrowest places: a stub's width.
const CHANNEL_LEAST: f32 = 94.0;
/// What counts as narrowest.
const NARROWEST: f32 = 350.0;

fn rows(cast: &Cast, width: f32, height: f32) -> Layout {
    let inner = width - 2.0 * PAD;
    let mut y = 8.0;
    let service = cast.folded().then(|| Rect::new(PAD, y, inner, 68.0));
    y += if cast.folded() { 76.0 } else { 0.0 };
    let count = cast.workers.len()
        + cast.clients.len()
        + if cast.folded() { 0 } else { cast.servers.len() };
    let bottom = if cast.stores.is_empty() {
        0.0
    } else {
        STORE_STRIP + PLATE.1
    };
    let each = ((height - y - bottom - 8.0) / count.max(1) as f32)
        .max(ROW)
        .min(ROW + 22.0);
    let channel = if cast.stores.is_empty() && cast.folded() {
        0.0
    } else {
        channel_of(width)
    };
    let mut row = |id: ProcessId, radius: f32| {
        let block = Rect::new(PAD, y, inner, each);
        let center = Point {
            x: PAD + if width < NARROWEST { 40.0 } else { 46.0 },
            y: block.center().y,
        };
        let words_x = center.x + if width < NARROWEST { 36.0 } else { 39.0 };
        let words = Rect::new(
            words_x,
            y + 4.0,
            PAD + inner - channel - words_x,
            each - 8.0,
        );
        y += each;
        Seat {
            id,
            block,
            center,
            radius,
            words,
        }
    };
    let clients = cast.clients.iter().map(|id| row(*id, 18.0)).collect();
    let servers = if cast.folded() {
        Vec::new()
    } else {
        cast.servers.iter().map(|id| row(*id, 22.0)).collect()
    };
    let workers = cast.workers.iter().map(|id| row(*id, 30.0)).collect();
    let store_y = y + PLATE.1 - GATE;
    let split = cast.stores.len().max(1) as f32;
    let store_w = (inner - (split - 1.0) * 8.0) / split;
    let seat = |(n, id): (usize, &ProcessId)| {
        let x = PAD + n as f32 * (store_w + 8.0);
        let gate = Rect::new(x, store_y, store_w, GATE);
        let block = Rect::new(x, gate.bottom(), store_w, STORE_STRIP - GATE);
        let plate_x = if split > 1.0 {
            gate.right() - PLATE.0 - 8.0
        } else {
            lane_x(width) - PLATE.0 / 2.0
        };
        let plate = Rect::new(plate_x, gate.bottom() - PLATE.1, PLATE.0, PLATE.1);
        StoreSeat {
            id: *id,
            block,
            gate,
            plate,
        }
    };
    let stores = cast.stores.iter().enumerate().map(seat).collect();
    let heads = [width / 2.0; 3];
    Layout {
        shape: Shape::Rows,
        width,
        height,
        service,
        servers,
        workers,
        clients,
        stores,
        heads,
    }
}

fn channel_of(width: f32) -> f32 {
    if width < NARROWEST {
        CHANNEL_LEAST
    } else {
        CHANNEL
    }
}

/// The middle of the channel.
fn lane_x(width: f32) -> f32 {
    width - PAD - channel_of(width) / 2.0
}

// ---------------------------------------------------------------------------------------------
// Ways

enum Place {
    Service(Rect),
    Disc(Seat),
    Store(StoreSeat),
}

impl Layout {
    #[must_use]
    pub fn seat(&self, id: ProcessId) -> Option<&Seat> {
        let acting = self
            .workers
            .iter()
            .chain(&self.servers)
            .chain(&self.clients);
        acting.into_iter().find(|s| s.id == id)
    }

    #[must_use]
    pub fn store(&self, id: ProcessId) -> Option<&StoreSeat> {
        self.stores.iter().find(|s| s.id == id)
    }

    fn place(&self, end: End) -> Option<Place> {
        match end {
            End::Service => self.service.map(Place::Service),
            End::Process(id) => self
                .seat(id)
                .map(|s| Place::Disc(*s))
                .or_else(|| self.store(id).map(|s| Place::Store(*s))),
        }
    }

    /// The way of a message between two ends, on the stroke of its own direction.
    #[must_use]
    pub fn path(&self, from: End, to: End) -> Option<Path> {
        let way = match (self.place(from)?, self.place(to)?) {
            (Place::Service(a), Place::Disc(b)) => self.service_way(a, &b),
            (Place::Disc(a), Place::Service(b)) => self.service_way(b, &a).reversed(),
            (Place::Disc(a), Place::Store(b)) => self.store_way(&a, &b),
            (Place::Store(a), Place::Disc(b)) => self.store_way(&b, &a).reversed(),
            (Place::Disc(a), Place::Disc(b)) => self.disc_way(&a, &b),
            (Place::Service(_), Place::Store(_) | Place::Service(_))
            | (Place::Store(_), Place::Service(_) | Place::Store(_)) => return None,
        };
        // In the channel of the rows, arcs lie beside one another already.
        let arcs = self.shape == Shape::Rows && self.seat_of(from) && self.seat_of(to);
        Some(if arcs { way } else { way.beside(2.5) })
    }

    fn seat_of(&self, end: End) -> bool {
        matches!(end, End::Process(id) if self.seat(id).is_some())
    }

    /// Between the service and one who asks it: below the words of belief, so that neither hides
    /// the other.
    fn service_way(&self, service: Rect, seat: &Seat) -> Path {
        match self.shape {
            Shape::Wide => {
                let y = seat.center.y + (seat.radius * 0.72).max(33.0);
                let half = (seat.radius * seat.radius - (y - seat.center.y) * (y - seat.center.y))
                    .max(0.0)
                    .sqrt();
                let to = Point {
                    x: seat.center.x - half - 5.0,
                    y,
                };
                let start = y.max(service.y + 16.0).min(service.bottom() - 16.0);
                if seat.center.x < service.right() {
                    let below = Point {
                        x: seat.center.x,
                        y: service.bottom(),
                    };
                    return Path::straight(
                        below,
                        Point {
                            x: seat.center.x,
                            y: seat.center.y - seat.radius,
                        },
                    );
                }
                // Level below the words of belief; what has to rise or fall does so at the box.
                let from = Point {
                    x: service.right(),
                    y: start,
                };
                let bend = Point {
                    x: service.right() + 14.0,
                    y,
                };
                Path { from, bend, to }
            }
            Shape::Rows => {
                let from = Point {
                    x: PAD + 5.0,
                    y: service.bottom(),
                };
                let to = Point {
                    x: seat.center.x - seat.radius - 3.0,
                    y: seat.center.y,
                };
                Path {
                    from,
                    bend: Point {
                        x: PAD + 4.0,
                        y: to.y - 4.0,
                    },
                    to,
                }
            }
        }
    }

    /// From one who writes to the gate, ending where a stub touches the plate.
    fn store_way(&self, seat: &Seat, store: &StoreSeat) -> Path {
        match self.shape {
            Shape::Wide => {
                let from = Point {
                    x: seat.center.x + seat.radius + 6.0,
                    y: seat.center.y,
                };
                let spread = ((seat.center.y - store.plate.center().y) / 16.0)
                    .max(-12.0)
                    .min(12.0);
                let to = Point {
                    x: store.plate.x - 4.0,
                    y: store.plate.center().y + spread,
                };
                let bend = Point {
                    x: from.x + (to.x - from.x) * 0.62,
                    y: from.y,
                };
                Path { from, bend, to }
            }
            Shape::Rows => {
                let from = Point {
                    x: lane_x(self.width),
                    y: seat.center.y,
                };
                let to = Point {
                    x: store.plate.center().x,
                    y: store.plate.y - 4.0,
                };
                let bend = Point {
                    x: from.x,
                    y: from.y + (to.y - from.y) * 0.6,
                };
                Path { from, bend, to }
            }
        }
    }

    fn disc_way(&self, a: &Seat, b: &Seat) -> Path {
        match self.shape {
            Shape::Wide => {
                let (dx, dy) = (b.center.x - a.center.x, b.center.y - a.center.y);
                let length = (dx * dx + dy * dy).sqrt().max(1.0);
                let off = |p: Point, by: f32| Point {
                    x: p.x + dx / length * by,
                    y: p.y + dy / length * by,
                };
                Path::straight(
                    off(a.center, a.radius + 5.0),
                    off(b.center, -b.radius - 5.0),
                )
            }
            Shape::Rows => {
                // Arcs in the channel: the farther apart, the wider; down inside, up outside.
                let x = self.width - PAD - channel_of(self.width) + 4.0;
                let rows = ((b.center.y - a.center.y).abs() / ROW).min(4.0);
                let (side, y) = if a.center.y < b.center.y {
                    (0.0, 5.0)
                } else {
                    (9.0, -5.0)
                };
                let bend = Point {
                    x: x + 22.0 + 30.0 * rows + side,
                    y: (a.center.y + b.center.y) / 2.0,
                };
                let (from, to) = (a.center.y + y, b.center.y - y);
                Path {
                    from: Point { x, y: from },
                    bend,
                    to: Point { x, y: to },
                }
            }
        }
    }

    /// Where a stub of this width rests when it has reached the gate, without passing it.
    #[must_use]
    pub fn at_gate(&self, seat: &StoreSeat, stub_width: f32) -> Point {
        match self.shape {
            Shape::Wide => Point {
                x: seat.plate.x - 4.0 - stub_width / 2.0,
                y: seat.plate.center().y,
            },
            Shape::Rows => Point {
                x: seat.plate.center().x,
                y: seat.plate.y - 4.0 - STUB_HEIGHT / 2.0,
            },
        }
    }

    /// The way of a stub's middle, from its writer to where it touches the plate.
    #[must_use]
    pub fn stub_path(&self, from: ProcessId, store: ProcessId, stub_width: f32) -> Option<Path> {
        let seat = self.seat(from)?;
        let gate = self.store(store)?;
        let way = self.store_way(seat, gate);
        let to = self.at_gate(gate, stub_width);
        let from = match self.shape {
            Shape::Wide => {
                let beside = seat.center.x + seat.radius + 9.0 + stub_width / 2.0;
                Point {
                    x: beside.min(to.x),
                    y: seat.center.y,
                }
            }
            Shape::Rows => way.from,
        };
        let bend = match self.shape {
            Shape::Wide => Point {
                x: from.x + (to.x - from.x) * 0.62,
                y: from.y,
            },
            Shape::Rows => Point {
                x: from.x,
                y: from.y + (to.y - from.y) * 0.6,
            },
        };
        Some(Path { from, bend, to })
    }

    /// The way of a refused stub back from the gate: it turns, and stays outside.
    #[must_use]
    pub fn bounce_path(&self, from: ProcessId, store: ProcessId, stub_width: f32) -> Option<Path> {
        let way = self.stub_path(from, store, stub_width)?;
        let back = match self.shape {
            Shape::Wide => Point {
                x: way.at(0.35).x,
                y: way.to.y + if way.from.y < way.to.y { 46.0 } else { -46.0 },
            },
            Shape::Rows => Point {
                x: way.to.x,
                y: way.to.y - 40.0,
            },
        };
        let bend = match self.shape {
            Shape::Wide => Point {
                x: way.to.x - 14.0,
                y: (way.to.y + back.y) / 2.0,
            },
            Shape::Rows => Point {
                x: way.to.x + 14.0,
                y: way.to.y - 12.0,
            },
        };
        Some(Path {
            from: way.to,
            bend,
            to: back,
        })
    }

    /// Everything that must not overlap, with a name: words, discs, boxes, plates.
    #[must_use]
    pub fn boxes(&self) -> Vec<(String, Rect)> {
        let mut boxes = Vec::new();
        if let Some(service) = self.service {
            boxes.push(("service".to_owned(), service));
        }
        for seat in self
            .workers
            .iter()
            .chain(&self.servers)
            .chain(&self.clients)
        {
            let r = seat.radius;
            let disc = Rect::new(seat.center.x - r, seat.center.y - r, 2.0 * r, 2.0 * r);
            boxes.push((format!("disc {}", seat.id), disc));
            boxes.push((format!("words {}", seat.id), seat.words));
        }
        for store in &self.stores {
            boxes.push((format!("store {}", store.id), store.block));
            boxes.push((
                format!("plate {}", store.id),
                Rect {
                    w: store.plate.w - GATE,
                    h: store.plate.h - GATE,
                    ..store.plate
                },
            ));
        }
        boxes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cast(servers: u8, workers: u8, clients: u8, stores: u8) -> Cast {
        let mut next = 0;
        let mut take = |n: u8| {
            let ids = (next..next + n).map(ProcessId).collect::<Vec<_>>();
            next += n;
            ids
        };
        Cast {
            servers: take(servers),
            workers: take(workers),
            clients: take(clients),
            stores: take(stores),
        }
    }

    fn check(cast: &Cast, width: f32) {
        let plan = layout(cast, width, 380.0);
        let boxes = plan.boxes();
        for (n, (name, rect)) in boxes.iter().enumerate() {
            assert!(
                0.0 <= rect.x && rect.right() <= width + 0.1,
                "{name} {rect:?} in {width}, {cast:?}"
            );
            assert!(
                rect.bottom() <= plan.height + 0.1,
                "{name} {rect:?} in {plan:?}"
            );
            assert!(
                rect.w > 40.0 || name.starts_with("disc"),
                "{name} is too narrow at {width}: {rect:?}"
            );
            for (other, there) in &boxes[n + 1..] {
                assert!(
                    !rect.overlaps(*there),
                    "{name} {rect:?} overlaps {other} {there:?} at {width}, {cast:?}"
                );
            }
        }
    }

    #[test]
    fn nothing_overlaps_at_any_width() {
        for width in (320..=1200).step_by(20) {
            for workers in 1..=3 {
                for stores in 0..=2 {
                    check(&cast(3, workers, 0, stores), width as f32);
                    check(&cast(5, workers, 1, stores), width as f32);
                }
            }
            for servers in [1, 3, 5] {
                for clients in 0..=2 {
                    check(&cast(servers, 0, clients, 0), width as f32);
                    check(&cast(servers, 0, clients, 1), width as f32);
                }
            }
        }
    }

    #[test]
    fn a_stub_never_passes_the_gate() {
        for width in [340.0, 530.0, 700.0, 900.0, 1060.0] {
            let plan = layout(&cast(3, 3, 0, 1), width, 380.0);
            let store = plan.stores[0];
            for worker in &plan.workers {
                for path in [
                    plan.stub_path(worker.id, store.id, 96.0).unwrap(),
                    plan.bounce_path(worker.id, store.id, 96.0).unwrap(),
                ] {
                    for part in 0..=20 {
                        let p = path.at(part as f32 / 20.0);
                        let stub =
                            Rect::new(p.x - 48.0, p.y - STUB_HEIGHT / 2.0, 96.0, STUB_HEIGHT);
                        assert!(!stub.overlaps(store.gate), "{width} {stub:?} {store:?}");
                    }
                }
            }
        }
    }
}
