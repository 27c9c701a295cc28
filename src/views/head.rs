//! The head of the page: its name, and the ways to other lessons, the sandbox, sharing and help.

use leasehold_player::Msg;
use leasehold_player::frame::Shell;
use leasehold_player::player::Dialog;
use yew::prelude::*;

use super::send;
use crate::markup::html;

/// The head of the page.
pub(crate) fn head(shell: &Shell, emit: &Callback<Msg>) -> Html {
    let show = |dialog| send(emit, Msg::Show(dialog));
    let (sandbox, sandbox_label) = if shell.in_sandbox {
        (Msg::LeaveSandbox, "Leave the sandbox")
    } else {
        (Msg::Sandbox, "Sandbox")
    };
    html! {
        <header class="head">
            <span class="brand">{ "Leasehold" }</span>
            <span class="motto">{ "leaders, leases and fences" }</span>
            <nav aria-label="Page">
                <button type="button" onclick={show(Dialog::Lessons)} aria-haspopup="dialog">
                    { "Lessons" }</button>
                <button type="button" onclick={send(emit, sandbox)}>{ sandbox_label }</button>
                <button type="button" onclick={show(Dialog::Share)} aria-haspopup="dialog">
                    { "Share" }</button>
                <button type="button" onclick={show(Dialog::Settings)} aria-haspopup="dialog">
                    { "Look" }</button>
                <button type="button" onclick={show(Dialog::Help)} aria-haspopup="dialog"
                    aria-label="Help: keys">{ "?" }</button>
            </nav>
        </header>
    }
}
