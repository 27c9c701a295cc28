//! The one component with a state: it owns the player and passes its frames to the views.
//!
//! A stagehand: what the learner does goes to the player, the new slide goes to the screen, and
//! once a display frame, while the film plays, everything that moves is put where it now is.

use leasehold_player::frame::Frame;
use leasehold_player::keys::key;
use leasehold_player::player::Opening;
use leasehold_player::start::{Motion, Start};
use leasehold_player::{Msg, Player, Request, lesson};
use yew::prelude::*;

use crate::browser;
use crate::views;

/// The longest time between two display frames that is played: a page that was hidden does not
/// catch up.
const FRAME_MAX: f64 = 100.0;

pub(crate) enum What {
    Did(Msg),
    /// A display frame, at a time in milliseconds.
    Shown(f64),
    Key {
        name: String,
        repeat: bool,
    },
}

pub(crate) struct App {
    player: Player,
    frame: Frame,
    revision: u64,
    emit: Callback<Msg>,
    ticker: browser::Ticker,
    shown_at: Option<f64>,
    embed: bool,
    breaks_next: bool,
    listeners: Option<browser::Listeners>,
    /// Somebody has used the page, so that the focus was in it.
    was_used: bool,
}

impl Component for App {
    type Message = What;
    type Properties = ();

    fn create(cx: &Context<Self>) -> Self {
        let pairs = browser::query();
        let start = Start::read(
            pairs
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str())),
        );
        let embed = start.embed;
        let bytes = include_bytes!(concat!(env!("OUT_DIR"), "/lessons.bin"));
        let Ok::<Vec<lesson::lesson::Lesson>, _>(lessons) = postcard::from_bytes(bytes) else {
            panic!("the page's own build wrote them");
        };
        let lessons = lessons.into_iter().map(std::sync::Arc::new).collect();
        let kept = |name| if embed { None } else { browser::kept(name) };
        let opening = Opening {
            start,
            lessons,
            unread: Vec::new(),
            progress: kept(browser::PROGRESS),
            settings: kept(browser::SETTINGS),
            recovered: browser::take_recovered(),
        };
        let player = Player::new(opening);
        let frame = player.frame();
        let link = cx.link().clone();
        let ticker = browser::Ticker::new(move |at| link.send_message(What::Shown(at)));
        browser::dress(player.settings(), embed);
        Self {
            revision: player.revision(),
            frame,
            emit: cx.link().callback(What::Did),
            ticker,
            shown_at: None,
            embed,
            // For the test of what a broken page shows.
            breaks_next: pairs
                .iter()
                .any(|(name, value)| name == "fault" && value == "panic"),
            listeners: None,
            was_used: false,
            player,
        }
    }

    fn update(&mut self, _: &Context<Self>, what: What) -> bool {
        match what {
            What::Did(msg) => self.tell(msg),
            What::Key { name, repeat } => {
                let shortcuts = self.player.settings().shortcuts;
                let Some(key) = key(&name, shortcuts).filter(|_| self.player.dialog().is_none())
                else {
                    return false;
                };
                if repeat && matches!(key.msg(), Msg::Toggle | Msg::Continue | Msg::PageBack) {
                    return false;
                }
                self.tell(key.msg())
            }
            What::Shown(at) => {
                if !self.player.is_playing() {
                    self.shown_at = None;
                    return false;
                }
                let passed = self
                    .shown_at
                    .map_or(0.0, |before| (at - before).max(0.0).min(FRAME_MAX));
                self.shown_at = Some(at);
                self.tell(Msg::Elapsed((passed * 1_000.0) as u64))
            }
        }
    }

    fn view(&self, _: &Context<Self>) -> Html {
        views::page(&self.frame, &self.emit)
    }

    fn rendered(&mut self, cx: &Context<Self>, first: bool) {
        if first {
            let link = cx.link().clone();
            let keys = move |name, repeat| link.send_message(What::Key { name, repeat });
            let emit = self.emit.clone();
            let sized = move |width, height| emit.emit(Msg::Resized { width, height });
            self.listeners = Some(browser::listen(keys, sized));
            browser::is_ready();
        }
        self.move_all();
        browser::show_dialogs(self.player.dialog());
        if self.was_used {
            browser::keep_focus();
        }
    }
}

impl App {
    /// Passes a message to the player, carries out what it asks; true when there is something new
    /// to draw.
    fn tell(&mut self, msg: Msg) -> bool {
        assert!(
            !self.breaks_next || matches!(msg, Msg::Resized { .. } | Msg::Elapsed(_)),
            "the address asked for a fault"
        );
        let is_time = matches!(msg, Msg::Elapsed(_));
        self.was_used |= !matches!(msg, Msg::Elapsed(_) | Msg::Resized { .. });
        let settings = self.player.settings();
        for request in self.player.update(msg) {
            self.grant(request);
        }
        if settings != self.player.settings() {
            browser::dress(self.player.settings(), self.embed);
        }
        if self.player.is_playing() {
            self.ticker.ask();
        } else {
            self.shown_at = None;
        }
        let is_new = self.player.revision() != self.revision;
        self.revision = self.player.revision();
        if is_new {
            self.frame = self.player.next_frame(&self.frame);
        } else if is_time && !self.is_reduced() {
            self.move_all();
        }
        is_new
    }

    fn is_reduced(&self) -> bool {
        match self.player.settings().motion {
            Motion::Reduced => true,
            Motion::Full => false,
            Motion::Auto => browser::prefers_reduced_motion(),
        }
    }

    fn move_all(&self) {
        browser::place(&self.player.moving(&self.frame, self.is_reduced()));
    }

    fn grant(&self, request: Request) {
        match request {
            Request::Announce(sentence) => browser::say(&sentence),
            Request::SetLink { lesson, page } => browser::set_link(&lesson, page),
            Request::Mirror(run) => browser::mirror(&run),
            Request::KeepProgress(text) => browser::keep(browser::PROGRESS, &text),
            Request::KeepSettings(text) => {
                if !self.embed {
                    browser::keep(browser::SETTINGS, &text);
                }
            }
            Request::ShowQuestion => browser::show_question(),
            Request::CopyLink { lesson, page } => {
                browser::copy("The link", &browser::link_to(&lesson, page));
            }
            Request::Copy { what, text } => browser::copy(what, &text),
            Request::Save { name, text } => browser::save(&name, &text),
        }
    }
}
