//! The lanes of one run, and the slider over them.
//!
//! The marks come placed; the cursor, the edge of what has happened and the shade over what lies
//! ahead are moved by [`crate::browser::place`].

use leasehold_player::Msg;
use leasehold_player::frame::{Part, RunFrame};
use leasehold_player::text::px;
use leasehold_player::timeline::{Anchor, Mark, Scale, Timeline};
use wasm_bindgen::JsCast;
use web_sys::Element;
use yew::prelude::*;

use crate::browser;
use crate::markup::{component, html};

/// The lanes of one run under their slider.
pub(crate) fn lanes(run: &RunFrame, n: usize, label: String, emit: &Callback<Msg>) -> Html {
    let slider = &run.slider;
    let scale = run.timeline.scale;
    let emit = emit.clone();
    let onpointerdown = {
        let emit = emit.clone();
        Callback::from(move |event: PointerEvent| {
            if event.button() != 0 {
                return;
            }
            if let Some(element) = target(&event) {
                browser::capture(&element, event.pointer_id());
            }
            scrub(&event, &scale, &emit);
        })
    };
    let onpointermove = {
        let emit = emit.clone();
        Callback::from(move |event: PointerEvent| {
            if event.buttons() & 1 == 1 {
                scrub(&event, &scale, &emit);
            }
        })
    };
    let onkeydown = Callback::from(move |event: KeyboardEvent| slide(&event, &emit));
    html! {
        <div class="lanes" key={n} id={format!("slider{n}")} role="slider" tabindex="0"
            aria-label={label}
            aria-valuemin="0" aria-valuemax={slider.max_ms.to_string()}
                aria-valuenow={slider.now_ms.to_string()}
            aria-valuetext={slider.text.clone()} {onpointerdown} {onpointermove} {onkeydown}>
            { component::<Lanes>(LanesProps { timeline: run.timeline.clone(), index: n }) }
        </div>
    }
}

/// The lanes that a pointer is in. Events are delegated, so that their current target is the page's
/// root.
fn target(event: &PointerEvent) -> Option<Element> {
    let inner = event.target().and_then(|t| t.dyn_into::<Element>().ok())?;
    inner.closest(".lanes").ok().flatten()
}

fn scrub(event: &PointerEvent, scale: &Scale, emit: &Callback<Msg>) {
    if let Some(element) = target(event) {
        let x = browser::pointer_x(&element, event.client_x());
        emit.emit(Msg::Seek(scale.time(x)));
    }
}

/// The keys of a slider: one event, ten events, the ends.
fn slide(event: &KeyboardEvent, emit: &Callback<Msg>) {
    if event.ctrl_key() || event.alt_key() || event.meta_key() {
        return;
    }
    let far = if event.shift_key() { 10 } else { 1 };
    let msg = match event.key().as_str() {
        "ArrowRight" | "ArrowUp" => Msg::SeekEvents(far),
        "ArrowLeft" | "ArrowDown" => Msg::SeekEvents(-far),
        "PageUp" => Msg::SeekEvents(10),
        "PageDown" => Msg::SeekEvents(-10),
        "Home" => Msg::SeekEvents(i32::MIN + 1),
        "End" => Msg::Latest,
        _ => return,
    };
    event.prevent_default();
    event.stop_propagation();
    emit.emit(msg);
}

#[derive(PartialEq, Properties)]
struct LanesProps {
    timeline: Part<Timeline>,
    index: usize,
}

/// Drawn anew only when the film has changed.
#[component]
fn Lanes(props: &LanesProps) -> Html {
    let timeline = &*props.timeline;
    let n = props.index;
    let (w, h) = (timeline.width, timeline.height);
    let floor = timeline.floor;
    html! {
        <svg width={px(w)} height={px(h)} aria-hidden="true">
            <defs>
                <clipPath id={format!("so-far{n}")}><rect id={format!("edge{n}")} x="0" y="0"
                    width="0" height={px(h)} /></clipPath>
                <pattern id={format!("sleep{n}")} width="6" height="6" patternUnits="userSpaceOnUse"
                    patternTransform="rotate(45)">
                    <line class="hatch-line" x1="0" y1="0" x2="0" y2="6" stroke-width="1.6" />
                </pattern>
            </defs>
            { for timeline.ground.iter().map(|m| mark(m, n)) }
            <g clip-path={format!("url(#so-far{n})")}>
                { for timeline.marks.iter().filter(|m| !is_text(m)).map(|m| mark(m, n)) }
            </g>
            <g class="labels">{ for timeline.marks.iter().filter(|m| is_text(m)).map(|m| mark(m, n))
                }</g>
            <rect class="tl-future" id={format!("future{n}")} x="0" y="0" width="0"
                height={px(floor)} />
            <g id={format!("cursor{n}")} class="tl-cursor"><line x1="0" y1="2" x2="0" y2={px(floor)}
                /><path d="M-6 0h12l-6 8z" /></g>
        </svg>
    }
}

const fn is_text(mark: &Mark) -> bool {
    matches!(mark, Mark::Text { .. })
}

fn mark(mark: &Mark, n: usize) -> Html {
    match mark {
        Mark::Rect { ink, rect } => {
            let fill = (ink.class() == "tl-asleep").then(|| format!("url(#sleep{n})"));
            html! {
                <rect class={ink.class()} x={px(rect.x)} y={px(rect.y)} width={px(rect.w)}
                    height={px(rect.h)} fill={fill} />
            }
        }
        Mark::Line { ink, from, to } => html! {
            <line class={ink.class()} x1={px(from.0)} y1={px(from.1)} x2={px(to.0)} y2={px(to.1)} />
        },
        Mark::Dot { ink, x, y, r, at } => html! {
            <circle class={ink.class()} cx={px(*x)} cy={px(*y)} r={px(*r)}
                data-at={at.0.to_string()} />
        },
        Mark::Cross { ink, x, y, at } => {
            let d = format!("M{} {}l10 10m0 -10l-10 10", px(x - 5.0), px(y - 5.0));
            html! { <path class={ink.class()} d={d} data-at={at.0.to_string()} /> }
        }
        Mark::Text {
            ink,
            x,
            y,
            anchor,
            text,
        } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            html! { <text class={ink.class()} x={px(*x)} y={px(*y)} text-anchor={anchor}>{ text }
            </text> }
        }
    }
}
