//! Below the lanes: the selected one, what happened and by which rule, what must never be
//! otherwise, the command box, the branches, the switches, and the stage as a table.

use leasehold_player::Msg;
use leasehold_player::frame::{EventRow, InvariantRow, Panels, Part, Tools};
use wasm_bindgen::JsCast;
use web_sys::{HtmlFormElement, HtmlInputElement};
use yew::prelude::*;

use super::{deed, send};
use crate::markup::{classes, html};

#[derive(PartialEq, Properties)]
pub(crate) struct Props {
    pub(crate) panels: Part<Panels>,
    pub(crate) tools: Part<Tools>,
    pub(crate) emit: Callback<Msg>,
}

#[component]
pub(crate) fn PanelsView(props: &Props) -> Html {
    let panels = &*props.panels;
    let emit = &props.emit;
    html! {
        <div class="panels">
            { selected(&props.tools, emit) }
            { events(panels, emit) }
            { invariants(panels) }
            { command(panels, emit) }
            if panels.branches.len() > 1 { { branches(panels, emit) } }
            { switches(&props.tools, emit) }
            { table(panels) }
        </div>
    }
}

fn selected(tools: &Tools, emit: &Callback<Msg>) -> Html {
    let Some((name, kind)) = &tools.selected else {
        return html! {
            <section class="panel selected"><h2>{ "Selected" }</h2>
                <p class="quiet">{ "Nothing. Select a process or a link on the stage." }</p>
                    </section>
        };
    };
    let fact =
        |(name, value): &(String, String)| html! { <><dt>{ name }</dt><dd>{ value }</dd></> };
    html! {
        <section class="panel selected">
            <h2>{ name }<small>{ kind }</small></h2>
            if !tools.facts.is_empty()
                { <dl class="facts">{ for tools.facts.iter().map(fact) }</dl> }
            <div class="deeds">
                { for tools.main.iter().chain(&tools.more).map(|d| deed(d, "", emit)) }
            </div>
            if !tools.links.is_empty() {
                <h3>{ "Links" }</h3>
                { for tools.links.iter().map(|link| html! {
                    <div class="link-row">
                        <p>{ format!("to {}: {}", link.name, link.state) }</p>
                        <div class="deeds">{ for link.deeds.iter().map(|d| deed(d, "", emit)) }
                            </div>
                    </div>
                }) }
            }
        </section>
    }
}

fn events(panels: &Panels, emit: &Callback<Msg>) -> Html {
    let all = panels.all_steps;
    html! {
        <section class="panel events">
            <h2>{ "What happened" }</h2>
            <button type="button" class="quiet-button" aria-pressed={all.to_string()}
                onclick={send(emit, Msg::ShowAllSteps(!all))}>
                { "Show every step" }</button>
            <div class="scroll" tabindex="0" role="region" aria-label="Events, latest first">
                <ol>
                    if panels.events.is_empty() { <li class="quiet">{ "Nothing yet." }</li> }
                    { for panels.events.iter().map(|row| event(row, emit)) }
                </ol>
            </div>
        </section>
    }
}

fn event(row: &EventRow, emit: &Callback<Msg>) -> Html {
    let label = format!("Go to {} seconds", row.time);
    html! {
        <li key={row.number} class={classes!(row.is_last.then_some("last"))}>
            <button type="button" class="time figure" aria-label={label}
                onclick={send(emit, Msg::Seek(row.at))}>{ &row.time }</button>
            <div>
                { for row.facts.iter().map(|fact| html! {
                    <p class={classes!(fact.is_break.then_some("broken"))}>{ &fact.sentence }
                        if !fact.rule.is_empty() {
                            <small>{ fact.rule }<cite>{ format!(" {}", fact.source) }</cite></small>
                        }
                    </p>
                }) }
            </div>
        </li>
    }
}

fn invariants(panels: &Panels) -> Html {
    let row = |row: &InvariantRow| {
        let broken = row.broken.as_ref();
        let (sign, word) = if broken.is_some() {
            ("✕", "broken")
        } else {
            ("✓", "kept")
        };
        html! {
            <li class={if broken.is_some() { "broken" } else { "kept" }} data-invariant={row.id}>
                <span class="sign" role="img" aria-label={word}>{ sign }</span>
                <div><p>{ row.words }</p>
                    if let Some((at, reason)) = broken
                        { <p class="reason">{ format!("{at}: {reason}") }</p> }
                    <cite>{ row.source }</cite>
                </div>
            </li>
        }
    };
    html! {
        <section class="panel invariants">
            <h2>{ "What must never be otherwise" }</h2>
            <ul>{ for panels.invariants.iter().map(row) }</ul>
            if let Some(both) = &panels.both_believed {
                <p class="quiet">{ format!("Measured: for {both} in all, two believed at once.") }
                    </p>
            }
        </section>
    }
}

fn command(panels: &Panels, emit: &Callback<Msg>) -> Html {
    let emit = emit.clone();
    let onsubmit = Callback::from(move |event: SubmitEvent| {
        event.prevent_default();
        let form = event
            .target()
            .and_then(|t| t.dyn_into::<HtmlFormElement>().ok());
        let input = form.and_then(|f| f.query_selector("input").ok().flatten());
        if let Some(input) = input.and_then(|i| i.dyn_into::<HtmlInputElement>().ok()) {
            emit.emit(Msg::Say(input.value()));
            input.select();
        }
    });
    html! {
        <section class="panel command">
            <h2>{ "Say it yourself" }</h2>
            <form {onsubmit}>
                <label for="command">{ "A command" }</label>
                <div class="row">
                    <input id="command" type="text" autocomplete="off" autocapitalize="off"
                        spellcheck="false"
                        placeholder="pause A before send" aria-describedby="command-help" />
                    <button type="submit">{ "Do it" }</button>
                </div>
                <p class="quiet" id="command-help">
                    { format!("pause, resume, crash, restart, cut a -> b, partition, heal, clock, write, set … Names: {}.", panels.names) }</p>
            </form>
        </section>
    }
}

fn branches(panels: &Panels, emit: &Callback<Msg>) -> Html {
    html! {
        <section class="panel branches">
            <h2>{ "Futures" }</h2>
            <p class="quiet">{ "Acting in the past starts a new one; the old ones stay." }</p>
            <ul>
                { for panels.branches.iter().map(|branch| html! {
                    <li><button type="button" aria-pressed={branch.is_here.to_string()}
                        onclick={send(emit, Msg::SwitchBranch(branch.id))}>{ &branch.name }</button>
                            </li>
                }) }
            </ul>
        </section>
    }
}

fn switches(tools: &Tools, emit: &Callback<Msg>) -> Html {
    html! {
        <section class="panel switches">
            <details>
                <summary><h2>{ "Safety switches" }</h2></summary>
                <p class="quiet">{ "Take one away, and see what it was holding." }</p>
                <ul>
                    { for tools.switches.iter().map(|switch| html! {
                        <li class={if switch.is_on { "on" } else { "off" }}>
                            <p><code>{ switch.name }</code>{ ": " }<b>{ switch.position }</b></p>
                            <p class="quiet">{ switch.sentence }
                                if let Some(breaks) = switch.breaks
                                    { { format!(" Guards: {}.", breaks.to_ascii_lowercase()) } }</p>
                            <div class="deeds">{ deed(&switch.turn, "", emit) }{
                                deed(&switch.compare, "", emit) }</div>
                        </li>
                    }) }
                </ul>
            </details>
        </section>
    }
}

fn table(panels: &Panels) -> Html {
    html! {
        <section class="panel table">
            <h2 id="stage-as-text">{ format!("The stage as text, at {}", panels.table_at) }</h2>
            <div class="scroll" tabindex="0" role="region" aria-labelledby="stage-as-text">
                <table>
                    <thead><tr><th scope="col">{ "name" }</th><th scope="col">{ "kind" }</th><th
                        scope="col">{ "state" }</th>
                        <th scope="col">{ "belief" }</th><th scope="col">{ "truth" }</th></tr>
                            </thead>
                    <tbody>
                        { for panels.table.iter().map(|row| html! {
                            <tr><th scope="row">{ &row.name }</th><td>{ &row.kind }</td><td>
                                { &row.state }</td>
                                <td>{ &row.belief }</td><td>{ &row.truth }</td></tr>
                        }) }
                    </tbody>
                </table>
            </div>
        </section>
    }
}
