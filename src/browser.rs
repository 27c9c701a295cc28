//! The only module that touches the browser: its address, storage, clipboard, frames and elements.
//!
//! The hands of the page. It decides nothing; where the browser refuses (no storage, no clipboard),
//! the page goes on without, and says so when somebody asked for it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use leasehold_player::motion::Moving;
use leasehold_player::player::{Dialog, Settings};
use leasehold_player::start::{Motion, Theme};
use leasehold_player::text::{part, px};
use wasm_bindgen::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    Document, Element, HtmlDialogElement, HtmlElement, KeyboardEvent, MouseEvent, ResizeObserver,
    Storage, UrlSearchParams, Window,
};

pub(crate) const PROGRESS: &str = "leasehold.progress";
pub(crate) const SETTINGS: &str = "leasehold.settings";

#[wasm_bindgen]
extern "C" {
    /// What index.html keeps outside this instance, so that it outlives a panic.
    #[wasm_bindgen(js_namespace = leasehold, js_name = mirror)]
    fn keep_run(run: &str);
    #[wasm_bindgen(js_namespace = leasehold, js_name = failed)]
    fn failed(message: &str);
    #[wasm_bindgen(js_namespace = leasehold, js_name = ready)]
    fn ready();
    #[wasm_bindgen(js_namespace = leasehold, js_name = recovered)]
    fn recovered() -> Option<String>;
    #[wasm_bindgen(js_namespace = leasehold, js_name = save)]
    fn save_text(name: &str, text: &str);
    #[wasm_bindgen(js_namespace = leasehold, js_name = copy)]
    fn copy_text(what: &str, text: &str);
}

fn window() -> Window {
    web_sys::window().expect("the page runs in a window")
}

fn document() -> Document {
    window().document().expect("a window has a document")
}

fn by_id(id: &str) -> Option<Element> {
    document().get_element_by_id(id)
}

/// Where the page is drawn.
pub(crate) fn root() -> Element {
    by_id("player").expect("index.html has the player's root")
}

/// A panic shows what happened and the way on, by the part of the page that needs no wasm.
pub(crate) fn report_panic(info: &std::panic::PanicHookInfo<'_>) {
    failed(&info.to_string());
}

pub(crate) fn is_ready() {
    ready();
}

/// The address's query, decoded.
pub(crate) fn query() -> Vec<(String, String)> {
    let search = window().location().search().unwrap_or_default();
    let Ok(params) = UrlSearchParams::new_with_str(&search) else {
        return Vec::new();
    };
    let text = |pair: &js_sys::Array, at| pair.get(at).as_string().unwrap_or_default();
    let pairs = params.entries().into_iter().flatten().map(|pair| {
        let pair = js_sys::Array::from(&pair);
        (text(&pair, 0), text(&pair, 1))
    });
    pairs.collect()
}

/// The address of a page of a lesson, beside what else the address says.
pub(crate) fn link_to(lesson: &str, page: usize) -> String {
    let location = window().location();
    let search = location.search().unwrap_or_default();
    let origin = location.origin().unwrap_or_default();
    let path = location.pathname().unwrap_or_default();
    let Ok(params) = UrlSearchParams::new_with_str(&search) else {
        return String::new();
    };
    params.set("lesson", lesson);
    params.set("page", &page.to_string());
    format!("{origin}{path}?{}", String::from(params.to_string()))
}

pub(crate) fn set_link(lesson: &str, page: usize) {
    let link = link_to(lesson, page);
    if let Ok(history) = window().history() {
        // A page in a frame without an origin may not; nothing is lost.
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&link));
    }
}

fn storage() -> Option<Storage> {
    window().local_storage().ok().flatten()
}

pub(crate) fn kept(name: &str) -> Option<String> {
    storage()?.get_item(name).ok().flatten()
}

pub(crate) fn keep(name: &str, text: &str) {
    if let Some(storage) = storage() {
        // Full or forbidden storage: the visit goes on without a bookmark.
        let _ = storage.set_item(name, text);
    }
}

pub(crate) fn mirror(run: &str) {
    keep_run(run);
}

pub(crate) fn take_recovered() -> Option<String> {
    recovered()
}

pub(crate) fn save(name: &str, text: &str) {
    save_text(name, text);
}

pub(crate) fn copy(what: &str, text: &str) {
    copy_text(what, text);
}

// ---------------------------------------------------------------------------------------------
// Looks

/// Theme and motion, as attributes that the style sheet reads.
pub(crate) fn dress(settings: Settings, embed: bool) {
    let Some(html) = document().document_element() else {
        return;
    };
    let theme = match settings.theme {
        Theme::Auto => None,
        Theme::Light | Theme::Dark => Some(settings.theme.word()),
    };
    let motion = match settings.motion {
        Motion::Auto => None,
        Motion::Full | Motion::Reduced => Some(settings.motion.word()),
    };
    for (name, value) in [
        ("data-theme", theme),
        ("data-motion", motion),
        ("data-embed", embed.then_some("")),
    ] {
        match value {
            Some(value) => drop(html.set_attribute(name, value)),
            None => drop(html.remove_attribute(name)),
        }
    }
}

pub(crate) fn prefers_reduced_motion() -> bool {
    let query = window().match_media("(prefers-reduced-motion: reduce)");
    query.ok().flatten().is_some_and(|query| query.matches())
}

thread_local! {
    static SAID: Cell<bool> = const { Cell::new(false) };
}

/// One polite sentence. Two regions take turns, and one is empty for a while before it is written,
/// so that the same sentence twice is heard twice.
pub(crate) fn say(sentence: &str) {
    let turn = SAID.with(|said| said.replace(!said.get()));
    let (now, before) = if turn {
        ("say-1", "say-2")
    } else {
        ("say-2", "say-1")
    };
    if let Some(region) = by_id(before) {
        region.set_text_content(None);
    }
    let sentence = sentence.to_owned();
    Timeout::new(60, move || {
        if let Some(region) = by_id(now) {
            region.set_text_content(Some(&sentence));
        }
    })
    .forget();
}

/// Opens the dialog that is to be open; the browser itself keeps the focus in it and gives it back.
pub(crate) fn show_dialogs(open: Option<Dialog>) {
    let wanted = open.map(dialog_id);
    for dialog in [
        Dialog::Help,
        Dialog::Lessons,
        Dialog::Settings,
        Dialog::Share,
    ] {
        let id = dialog_id(dialog);
        let Some(element) = by_id(id).and_then(|e| e.dyn_into::<HtmlDialogElement>().ok()) else {
            continue;
        };
        if wanted == Some(id) && !element.open() {
            let _ = element.show_modal();
        } else if wanted != Some(id) && element.open() {
            element.close();
        }
    }
}

pub(crate) const fn dialog_id(dialog: Dialog) -> &'static str {
    match dialog {
        Dialog::Help => "dialog-help",
        Dialog::Lessons => "dialog-lessons",
        Dialog::Settings => "dialog-settings",
        Dialog::Share => "dialog-share",
    }
}

// ---------------------------------------------------------------------------------------------
// What moves

fn set(id: &str, name: &str, value: &str) {
    if let Some(element) = by_id(id) {
        let _ = element.set_attribute(name, value);
    }
}

fn write(id: &str, text: &str) {
    if let Some(element) = by_id(id)
        && element.text_content().as_deref() != Some(text)
    {
        element.set_text_content(Some(text));
    }
}

fn part_signed(value: f32) -> String {
    if value < 0.0 {
        format!("-{}", part(-value))
    } else {
        part(value)
    }
}

/// Puts everything that moves where it is.
pub(crate) fn place(moving: &Moving) {
    write("clock", &moving.clock);
    for run in &moving.runs {
        let n = run.index;
        for thing in &run.flying {
            let id = format!("m{n}-{}", thing.key);
            set(
                &id,
                "transform",
                &format!("translate({} {})", px(thing.at.x), px(thing.at.y)),
            );
            let (c, s) = (part_signed(thing.along.x), part_signed(thing.along.y));
            let against = part_signed(-thing.along.y);
            set(
                &format!("{id}-turn"),
                "transform",
                &format!("matrix({c} {s} {against} {c} 0 0)"),
            );
            set(&id, "opacity", &part(thing.opacity));
        }
        for ring in &run.rings {
            let id = format!("ring{n}-{}", ring.worker);
            set(
                &id,
                "stroke-dasharray",
                &format!("{} 100", px(ring.part * 100.0)),
            );
            set(&id, "data-part", &part(ring.part));
            set(
                &id,
                "visibility",
                if ring.part > 0.0 { "visible" } else { "hidden" },
            );
        }
        for (id, age) in &run.ages {
            write(&format!("age{n}-{id}"), age);
        }
        set(
            &format!("cursor{n}"),
            "transform",
            &format!("translate({} 0)", px(run.cursor)),
        );
        set(&format!("edge{n}"), "width", &px(run.edge.max(0.0)));
        set(&format!("future{n}"), "x", &px(run.cursor));
        set(
            &format!("future{n}"),
            "width",
            &px((run.edge - run.cursor).max(0.0)),
        );
        set(
            &format!("slider{n}"),
            "aria-valuenow",
            &run.now_ms.to_string(),
        );
    }
}

/// Asks for display frames, one at a time, and only while somebody asks.
pub(crate) struct Ticker {
    callback: Rc<Closure<dyn FnMut(f64)>>,
    asked: Rc<Cell<bool>>,
}

impl Ticker {
    pub(crate) fn new(shown: impl Fn(f64) + 'static) -> Self {
        let asked = Rc::new(Cell::new(false));
        let open = Rc::clone(&asked);
        let callback = Closure::new(move |at: f64| {
            open.set(false);
            shown(at);
        });
        Self {
            callback: Rc::new(callback),
            asked,
        }
    }

    pub(crate) fn ask(&self) {
        if !self.asked.replace(true) {
            let callback = self.callback.as_ref().as_ref().unchecked_ref();
            if window().request_animation_frame(callback).is_err() {
                self.asked.set(false);
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------
// What comes in

/// Kept as long as the page is there.
#[derive(Default)]
pub(crate) struct Listeners {
    _closures: Vec<JsValue>,
    _observer: Option<ResizeObserver>,
}

/// Listens for keys inside the player and for the stages' size.
pub(crate) fn listen(
    key: impl Fn(String, bool) + 'static,
    sized: impl Fn(u32, u32) + 'static,
) -> Listeners {
    let mut listeners = Listeners::default();
    let on_key = Closure::<dyn Fn(KeyboardEvent)>::new(move |event: KeyboardEvent| {
        if event.default_prevented() || event.ctrl_key() || event.alt_key() || event.meta_key() {
            return;
        }
        let name = event.key();
        if name == "Escape" && close_menus(None, true) {
            event.prevent_default();
            return;
        }
        if !takes_key(&event, &name) {
            return;
        }
        event.prevent_default();
        event.stop_propagation();
        key(name, event.repeat());
    });
    let _ = root().add_event_listener_with_callback("keydown", on_key.as_ref().unchecked_ref());
    listeners._closures.push(on_key.into_js_value());

    let on_click = Closure::<dyn Fn(MouseEvent)>::new(move |event: MouseEvent| {
        let target = event.composed_path().get(0).dyn_into::<Element>().ok();
        close_menus(target.as_ref(), false);
    });
    let _ = document().add_event_listener_with_callback("click", on_click.as_ref().unchecked_ref());
    listeners._closures.push(on_click.into_js_value());

    let seen = RefCell::new((0, 0));
    let measure = move || {
        let Some(stages) = by_id("stages") else {
            return;
        };
        let size = (
            stages.client_width().max(0) as u32,
            stages.client_height().max(0) as u32,
        );
        if size.0 > 0 && seen.replace(size) != size {
            sized(size.0, size.1);
        }
    };
    let on_size = Closure::<dyn Fn()>::new(measure);
    let callback: &js_sys::Function = on_size.as_ref().unchecked_ref();
    if let (Ok(observer), Some(stages)) = (ResizeObserver::new(callback), by_id("stages")) {
        observer.observe(&stages);
        listeners._observer = Some(observer);
    }
    listeners._closures.push(on_size.into_js_value());
    listeners
}

/// Closes open menus: all but the one that `at` is in, and that one too when an item of it was
/// chosen. True if one was open.
fn close_menus(at: Option<&Element>, gives_focus: bool) -> bool {
    let Ok(open) = document().query_selector_all("details.menu[open]") else {
        return false;
    };
    let chosen = at.is_some_and(|at| at.closest(".item").ok().flatten().is_some());
    let mut closed = false;
    for n in 0..open.length() {
        let Some(menu) = open.get(n).and_then(|node| node.dyn_into::<Element>().ok()) else {
            continue;
        };
        let is_inside = at.is_some_and(|at| menu.contains(Some(at)));
        if is_inside && !chosen {
            continue;
        }
        let _ = menu.remove_attribute("open");
        closed = true;
        let summary = menu.query_selector("summary").ok().flatten();
        if let Some(summary) = summary.and_then(|s| s.dyn_into::<HtmlElement>().ok())
            && (gives_focus || is_inside)
        {
            let _ = summary.focus();
        }
    }
    closed
}

/// Whether a key may act here: the table knows it, and what has the focus does not need it itself.
fn takes_key(event: &KeyboardEvent, name: &str) -> bool {
    if leasehold_player::keys::key(name, true).is_none() {
        return false;
    }
    let target = event.composed_path().get(0).dyn_into::<Element>().ok();
    let Some(target) = target else { return true };
    let inside = |selector: &str| target.closest(selector).ok().flatten().is_some();
    if inside("input, select, textarea, [contenteditable], dialog") {
        return false;
    }
    // Space presses what has the focus, and a slider has its own arrows.
    match name {
        " " => !inside("button, summary, a, [role=slider]"),
        "ArrowLeft" | "ArrowRight" | "Home" | "End" | "PageUp" | "PageDown" => {
            !inside("[role=slider]")
        }
        _ => true,
    }
}

/// Brings the question that is asked into view, and the focus to its first choice.
pub(crate) fn show_question() {
    let choice = document().query_selector("#question button").ok().flatten();
    if let Some(choice) = choice.and_then(|c| c.dyn_into::<HtmlElement>().ok()) {
        let _ = choice.focus();
        choice.scroll_into_view();
    }
}

/// What had the focus may be gone from the page: then the caption has it, so that keys go on
/// working and Tab goes on from there. A page that is not looked at takes no focus.
pub(crate) fn keep_focus() {
    let document = document();
    let lost = document
        .active_element()
        .is_none_or(|e| e.tag_name() == "BODY");
    if lost
        && document.has_focus().unwrap_or(false)
        && let Some(caption) = by_id("caption").and_then(|c| c.dyn_into::<HtmlElement>().ok())
    {
        let _ = caption.focus();
    }
}

/// Moves the focus to the next or the previous process on the same stage; gives its id.
pub(crate) fn focus_neighbour(from: &Element, by: i32) -> Option<u8> {
    let stage = from.closest(".stage").ok().flatten()?;
    let all = stage.query_selector_all("[data-process]").ok()?;
    let count = all.length() as i32;
    let here = (0..count).find(|n| {
        all.get(*n as u32)
            .is_some_and(|node| node.is_same_node(Some(from)))
    })?;
    let there = (here + by).rem_euclid(count.max(1));
    let element: HtmlElement = all.get(there as u32)?.dyn_into().ok()?;
    let _ = element.focus();
    element.get_attribute("data-process")?.parse().ok()
}

/// Where in an element a pointer is, from its left edge, in CSS pixels.
pub(crate) fn pointer_x(element: &Element, client_x: i32) -> f32 {
    (f64::from(client_x) - element.get_bounding_client_rect().left()) as f32
}

/// Keeps the pointer's moves coming to an element until it is let go.
pub(crate) fn capture(element: &Element, pointer: i32) {
    let _ = element.set_pointer_capture(pointer);
}
