//! The bench: what to watch, the stage, the controls, the lanes, and below them everything else.

use leasehold_player::Msg;
use leasehold_player::frame::{Caption, Controls, Frame, GateView, LinkDeeds, Tools};
use leasehold_player::player::Speed;
use wasm_bindgen::JsCast;
use web_sys::HtmlSelectElement;
use yew::prelude::*;

use super::panels::PanelsView;
use super::stage::StageView;
use super::{deed, panels, send, stage, timeline};
use crate::markup::{classes, component, html};

/// The right side of the page.
pub(crate) fn bench(frame: &Frame, emit: &Callback<Msg>) -> Html {
    let count = frame.runs.len();
    let run = |(n, run): (usize, &leasehold_player::frame::RunFrame)| {
        html! {
            <div class="run" key={n}>
                if let Some(label) = &run.label {
                    <h2 class="run-name"><span class="nth">
                        { if n == 0 { "first run" } else { "same run" } }</span>{ label }</h2>
                }
                { component::<StageView>(stage::Props { stage: run.stage.clone(), emit: emit.clone() }) }
            </div>
        }
    };
    let lanes = |(n, run): (usize, &leasehold_player::frame::RunFrame)| {
        let label = match (&run.label, count) {
            (Some(label), 2..) => format!("Time, {label}"),
            (Some(_) | None, _) => "Time".to_owned(),
        };
        timeline::lanes(run, n, label, emit)
    };
    // Stages stand beside one another or below; the style sheet says which, and needs both heights.
    let tallest = frame
        .runs
        .iter()
        .map(|r| r.height_min)
        .max()
        .unwrap_or_default();
    let all: u32 = frame.runs.iter().map(|r| r.height_min).sum();
    let style = format!("--tallest:{tallest}px;--all:{all}px");
    html! {
        <section class="bench" aria-label="Bench">
            <div class={classes!("first-screen", (count > 1).then_some("two"))} style={style}>
                { caption(&frame.caption, emit) }
                <div class={classes!("stages", (count > 1).then_some("two"))} id="stages">
                    { for frame.runs.iter().enumerate().map(run) }</div>
                { controls(&frame.controls, &frame.tools, emit) }
                <div class={classes!("timelines", (count > 1).then_some("two"))}>
                    { for frame.runs.iter().enumerate().map(lanes) }</div>
            </div>
            { component::<PanelsView>(panels::Props { panels: frame.panels.clone(), tools: frame.tools.clone(), emit: emit.clone() }) }
        </section>
    }
}

// ---------------------------------------------------------------------------------------------

/// What to watch, and the one thing to press.
fn caption(caption: &Caption, emit: &Callback<Msg>) -> Html {
    html! {
        <div class={classes!("caption", caption.press.is_some().then_some("pressing"),
            caption.sandbox.then_some("own"))} id="caption" tabindex="-1">
            if let Some((what, remedy)) = &caption.notice {
                <div class="notice" role="note">
                    <p>{ what }{ if remedy.is_empty() { "" } else { ": " } }{ remedy }</p>
                    <button type="button" onclick={send(emit, Msg::DismissNotice)}
                        aria-label="Dismiss this notice">{ "✕" }</button>
                </div>
            }
            <div class="line">
                if caption.sandbox { <span class="tag">{ "sandbox" }</span> }
                <p class="watch">{ &caption.text }</p>
                if let Some(press) = &caption.press {
                    { deed(press, "go press", emit) }
                } else if caption.ask.is_some() {
                    <button type="button" class="asks" onclick={send(emit, Msg::ToQuestion)}>
                        { "Your prediction first" }</button>
                } else if caption.sandbox {
                    <button type="button" class="leave" onclick={send(emit, Msg::LeaveSandbox)}>
                        { "Back to the lesson" }</button>
                }
            </div>
        </div>
    }
}

// ---------------------------------------------------------------------------------------------

fn controls(controls: &Controls, tools: &Tools, emit: &Callback<Msg>) -> Html {
    let (play, shape) = if controls.is_playing {
        ("Stop", "M4 3h3.5v12H4zM10.5 3H14v12h-3.5z")
    } else {
        ("Play", "M5 2.5 15 9 5 15.5z")
    };
    let speed = {
        let emit = emit.clone();
        Callback::from(move |event: Event| {
            let select = event
                .target()
                .and_then(|t| t.dyn_into::<HtmlSelectElement>().ok());
            let chosen =
                select.and_then(|s| Speed::ALL.get(s.selected_index().max(0) as usize).copied());
            if let Some(speed) = chosen {
                emit.emit(Msg::SetSpeed(speed));
            }
        })
    };
    html! {
        <div class="bar" role="group" aria-label="Controls">
            <div class="transport">
                { icon("To the start of the page", "M3 3v12M14 3 6 9l8 6z", Msg::PageStart, emit) }
                { icon("Step back", "M12 3 4 9l8 6z", Msg::Back, emit) }
                <button type="button" class={classes!("icon", "play",
                    (!controls.waits).then_some("go"))} aria-label={play}
                    title={format!("{play} (k)")}
                    aria-disabled={controls.waits.to_string()} onclick={send(emit, Msg::Toggle)}>
                    <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
                        <path d={shape} />
                    </svg>
                    <span class="play-word" aria-hidden="true">{ play }</span>
                </button>
                { icon("Next", "M4 3l8 6-8 6zM14 3v12", Msg::Next, emit) }
                { icon("One small step", "M6 5l6 4-6 4z", Msg::StepForward, emit) }
                <label class="speed"><span class="sr">{ "Speed" }</span>
                    <select onchange={speed}>
                        { for Speed::ALL.iter().map(|s| html!
                            { <option selected={*s == controls.speed}>{ s.label() }</option> }) }
                    </select>
                </label>
            </div>
            <div class="verbs" role="group" aria-label="What the selected one can be asked for">
                { verbs(tools, emit) }
            </div>
            <div class="when">
                <span class={classes!("slow", controls.is_slowed.then_some("on"))}>{ "slow motion" }
                    </span>
                <time id="clock"></time>
            </div>
        </div>
    }
}

fn icon(label: &'static str, path: &'static str, msg: Msg, emit: &Callback<Msg>) -> Html {
    html! {
        <button type="button" class="icon" aria-label={label} title={label}
            onclick={send(emit, msg)}>
            <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true"><path d={path} />
                </svg>
        </button>
    }
}

fn verbs(tools: &Tools, emit: &Callback<Msg>) -> Html {
    let more = !tools.more.is_empty();
    html! {
        <>
            if tools.selected.is_none()
                { <span class="hint">{ "Select a process to act on it." }</span> }
            { for tools.main.iter().take(1).map(|d| deed(d, "verb", emit)) }
            if tools.main.len() > 1 || more {
                { menu("More", html! { <>
                    { for tools.main.iter().skip(1).chain(&tools.more).map(|d|
                    deed(d, "item", emit)) } </> }) }
            }
            if !tools.links.is_empty() || tools.any_cut {
                { menu("Links", html! { <> { for tools.links.iter().map(|l| link(l, emit)) }
                    if tools.any_cut { { deed(&leasehold_player::frame::heal_all(), "item", emit) }
                        } </> }) }
            }
            { for tools.gates.iter().map(|g| gate(g, emit)) }
        </>
    }
}

/// A button that opens a small list; the browser keeps its state.
fn menu(label: &'static str, items: Html) -> Html {
    html! {
        <details class="menu" name="menu"><summary>{ label }</summary><div class="items">{ items }
            </div></details>
    }
}

fn link(link: &LinkDeeds, emit: &Callback<Msg>) -> Html {
    html! {
        <div class="link-deeds">
            <span class="to">{ format!("to {}: {}", link.name, link.state) }</span>
            { for link.deeds.iter().map(|d| deed(d, "item", emit)) }
        </div>
    }
}

fn gate(gate: &GateView, emit: &Callback<Msg>) -> Html {
    html! {
        <details class="menu" name="menu"><summary>{ format!("Gate: {}", gate.word) }</summary>
            <div class="items">
                { for gate.to.iter().map(|d| deed(d, "item", emit)) }
                <hr />
                { for gate.compare.iter().map(|d| deed(d, "item", emit)) }
            </div>
        </details>
    }
}
