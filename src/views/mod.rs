//! The views: pure functions from a frame's parts to elements, which send back what was done.
//!
//! Drawing hands. No view holds anything or decides anything; a question that a view would have to
//! think about belongs in the player.

mod bench;
mod dialogs;
mod head;
mod pane;
mod panels;
mod prose;
mod stage;
mod timeline;

use leasehold_player::Msg;
use leasehold_player::frame::{Deed, Frame};
use yew::prelude::*;

use crate::markup::{classes, component, html};

/// The whole page.
pub(crate) fn page(frame: &Frame, emit: &Callback<Msg>) -> Html {
    html! {
        <>
            if !frame.shell.embed {
                { head::head(&frame.shell, emit) }
            }
            <main class={classes!("player", (frame.runs.len() > 1).then_some("two"))}>
                { component::<pane::LessonPane>(pane::Props { pane: frame.pane.clone(), emit: emit.clone() }) }
                { bench::bench(frame, emit) }
            </main>
            { dialogs::dialogs(&frame.shell, emit) }
        </>
    }
}

/// A button that does one thing.
pub(crate) fn deed(deed: &Deed, class: &'static str, emit: &Callback<Msg>) -> Html {
    html! { <button type="button" class={class} onclick={send(emit, deed.msg.clone())}>
    { &deed.label }</button> }
}

/// A click that sends a message.
pub(crate) fn send(emit: &Callback<Msg>, msg: Msg) -> Callback<MouseEvent> {
    emit.reform(move |_| msg.clone())
}
