//! What lies over the page: the list of lessons, how it looks, sharing, the keys.
//!
//! All four are there from the start, closed; the browser opens one as a modal dialog, keeps the
//! focus in it, and gives it back.

use leasehold_player::Msg;
use leasehold_player::frame::Shell;
use leasehold_player::keys::KEYS;
use leasehold_player::player::Dialog;
use leasehold_player::start::{Motion, Theme};
use yew::prelude::*;

use super::send;
use crate::browser::dialog_id;
use crate::markup::html;

/// All dialogs, closed or open.
pub(crate) fn dialogs(shell: &Shell, emit: &Callback<Msg>) -> Html {
    html! {
        <>
            { dialog(Dialog::Lessons, "Lessons", lessons(shell, emit), emit) }
            { dialog(Dialog::Settings, "Look", settings(shell, emit), emit) }
            { dialog(Dialog::Share, "Share", share(shell, emit), emit) }
            { dialog(Dialog::Help, "Keys", help(shell, emit), emit) }
        </>
    }
}

fn dialog(which: Dialog, title: &'static str, inner: Html, emit: &Callback<Msg>) -> Html {
    let id = dialog_id(which);
    let heading = format!("{id}-title");
    let closed = emit.reform(|_: Event| Msg::CloseDialog);
    html! {
        <dialog id={id} aria-labelledby={heading.clone()} onclose={closed}>
            <div class="dialog-head">
                <h2 id={heading}>{ title }</h2>
                <button type="button" class="icon" aria-label={format!("Close {title}")}
                    onclick={send(emit, Msg::CloseDialog)}>{ "✕" }</button>
            </div>
            { inner }
        </dialog>
    }
}

fn lessons(shell: &Shell, emit: &Callback<Msg>) -> Html {
    html! {
        <ol class="shelf">
            { for shell.lessons.iter().map(|lesson| html! {
                <li><button type="button" aria-current={lesson.is_here.then_some("true")}
                    onclick={send(emit, Msg::Open(lesson.id.clone()))}>
                    <span class="name">{ &lesson.title }</span><small>{ &lesson.note }</small>
                        </button></li>
            }) }
        </ol>
    }
}

fn settings(shell: &Shell, emit: &Callback<Msg>) -> Html {
    let theme = |theme: Theme, label: &'static str| {
        choice(
            label,
            shell.settings.theme == theme,
            Msg::SetTheme(theme),
            emit,
        )
    };
    let motion = |motion: Motion, label: &'static str| {
        choice(
            label,
            shell.settings.motion == motion,
            Msg::SetMotion(motion),
            emit,
        )
    };
    let keys = |on: bool, label: &'static str| {
        choice(
            label,
            shell.settings.shortcuts == on,
            Msg::SetShortcuts(on),
            emit,
        )
    };
    html! {
        <div class="settings">
            <div role="group" aria-labelledby="set-theme"><h3 id="set-theme">{ "Paper" }</h3>
                { theme(Theme::Auto, "As the system") }{ theme(Theme::Light, "Light") }{
                    theme(Theme::Dark, "Dark") }</div>
            <div role="group" aria-labelledby="set-motion"><h3 id="set-motion">{ "Motion" }</h3>
                { motion(Motion::Auto, "As the system") }{ motion(Motion::Full, "Full") }{
                    motion(Motion::Reduced, "Reduced") }</div>
            <div role="group" aria-labelledby="set-keys"><h3 id="set-keys">{ "Keys of one letter" }
                </h3>
                { keys(true, "On") }{ keys(false, "Off") }</div>
        </div>
    }
}

fn choice(label: &'static str, is_on: bool, msg: Msg, emit: &Callback<Msg>) -> Html {
    html! { <button type="button" aria-pressed={is_on.to_string()} onclick={send(emit, msg)}>
    { label }</button> }
}

fn share(shell: &Shell, emit: &Callback<Msg>) -> Html {
    let (lesson, page) = &shell.link;
    html! {
        <div class="share">
            <p>{ format!("A link opens “{}” at page {page}.", shell.title) }</p>
            <p class="quiet"><code>{ format!("?lesson={lesson}&page={page}") }</code></p>
            <div class="deeds">
                <button type="button" class="go" onclick={send(emit, Msg::CopyLink)}>
                    { "Copy the link" }</button>
            </div>
            <p>{ "The run as it is, with every command: whoever has it can play it again, step for step." }</p>
            <div class="deeds">
                <button type="button" onclick={send(emit, Msg::CopyRun)}>{ "Copy the run" }</button>
                <button type="button" onclick={send(emit, Msg::SaveRun)}>{ "Save the run" }</button>
            </div>
        </div>
    }
}

fn help(shell: &Shell, emit: &Callback<Msg>) -> Html {
    let is_on = shell.settings.shortcuts;
    let letters = if is_on {
        "Keys of one letter: on"
    } else {
        "Keys of one letter: off"
    };
    html! {
        <div class="help">
            <table>
                <thead><tr><th scope="col">{ "key" }</th><th scope="col">{ "does" }</th></tr>
                    </thead>
                <tbody>{ for KEYS.iter().map(|key| html!
                    { <tr><th scope="row"><kbd>{ key.shown }</kbd></th><td>{ key.does }</td></tr> })
                    }</tbody>
            </table>
            <p class="quiet">{ "On the stage, arrows go from process to process. On the time line, arrows go by one event, Page Up and Page Down by ten." }</p>
            <div class="deeds">{ choice(
                letters,
                shell.settings.shortcuts, Msg::SetShortcuts(!shell.settings.shortcuts), emit) }
                    </div>
        </div>
    }
}
