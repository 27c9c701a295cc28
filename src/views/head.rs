//! The head of the page: its name, and the ways to other lessons, the sandbox, sharing and help.

use leasehold_player::frame::{Part, Shell};
use leasehold_player::player::Dialog;
use leasehold_player::Msg;
use yew::prelude::*;

use super::send;

#[derive(PartialEq, Properties)]
pub(crate) struct Props {
    pub(crate) shell: Part<Shell>,
    pub(crate) emit: Callback<Msg>,
}

#[component]
pub(crate) fn Head(props: &Props) -> Html {
    let emit = &props.emit;
    let show = |dialog| send(emit, Msg::Show(dialog));
    let (sandbox, sandbox_label) = if props.shell.in_sandbox {
        (Msg::LeaveSandbox, "Leave the sandbox")
    } else {
        (Msg::Sandbox, "Sandbox")
    };
    html! {
        <header class="head">
            <span class="brand">{ "Leasehold" }</span>
            <span class="motto">{ "leaders, leases and fences" }</span>
            <nav aria-label="Page">
                <button type="button" onclick={show(Dialog::Lessons)} aria-haspopup="dialog">{ "Lessons" }</button>
                <button type="button" onclick={send(emit, sandbox)}>{ sandbox_label }</button>
                <button type="button" onclick={show(Dialog::Share)} aria-haspopup="dialog">{ "Share" }</button>
                <button type="button" onclick={show(Dialog::Settings)} aria-haspopup="dialog">{ "Look" }</button>
                <button type="button" onclick={show(Dialog::Help)} aria-haspopup="dialog" aria-label="Help: keys">{ "?" }</button>
            </nav>
        </header>
    }
}
