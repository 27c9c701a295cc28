//! One stage: who grants, who acts, who checks, and what is on its way between them.
//!
//! Places come from the floor plan, words from the scene; this only puts them there. What moves
//! between two steps has an id and is moved by [`crate::browser::place`].

use leasehold_player::Msg;
use leasehold_player::engine::setup::Kind;
use leasehold_player::engine::switch::Position;
use leasehold_player::engine::units::ProcessId;
use leasehold_player::film::Role;
use leasehold_player::frame::{Part, Stage};
use leasehold_player::layout::{End, Layout, Point, Rect, STUB_HEIGHT, Seat, Shape, StoreSeat};
use leasehold_player::player::Selected;
use leasehold_player::scene::{
    Client, Condition, Flying, Hand, Look, Row, Server, Service, Store, Tone, Trail, Wire, Worker,
    stub_width,
};
use leasehold_player::text::px;
use wasm_bindgen::JsCast;
use web_sys::Element;
use yew::prelude::*;

use super::send;
use crate::browser;
use crate::markup::{Classes, classes, html};

#[derive(PartialEq, Properties)]
pub(crate) struct Props {
    pub(crate) stage: Part<Stage>,
    pub(crate) emit: Callback<Msg>,
}

/// What every part of a stage is drawn with.
struct Cx<'a> {
    stage: &'a Stage,
    layout: &'a Layout,
    emit: &'a Callback<Msg>,
    /// The process that Tab comes to.
    tab_stop: Option<ProcessId>,
}

#[component]
pub(crate) fn StageView(props: &Props) -> Html {
    let stage = &*props.stage;
    let cx = Cx {
        stage,
        layout: &stage.layout,
        emit: &props.emit,
        tab_stop: tab_stop(stage),
    };
    let shape = match stage.layout.shape {
        Shape::Wide => "wide",
        Shape::Rows => "rows",
    };
    let style = format!("height:{}px", px(stage.layout.height));
    let emit = props.emit.clone();
    let onkeydown = Callback::from(move |event: KeyboardEvent| rove(&event, &emit));
    let folded = stage.scene.service.is_some();
    html! {
        <div class={classes!("stage", shape, (!folded).then_some("servers"))} style={style}
            role="group"
            aria-label={stage.summary.clone()} data-run={stage.index.to_string()} {onkeydown}>
            { wires(&cx) }
            if stage.layout.shape == Shape::Wide { { heads(&cx) } }
            if let (Some(service), Some(rect)) = (&stage.scene.service, stage.layout.service) {
                { service_box(&cx, service, rect) }
            }
            if !folded {
                { for stage.scene.servers.iter().filter_map(|s|
                    Some(server_disc(&cx, s, stage.layout.seat(s.id)?))) }
            }
            { for stage.scene.clients.iter().filter_map(|c|
                Some(client_disc(&cx, c, stage.layout.seat(c.id)?))) }
            { for stage.scene.workers.iter().filter_map(|w|
                Some(worker(&cx, w, stage.layout.seat(w.id)?))) }
            { for stage.scene.stores.iter().filter_map(|s|
                Some(store(&cx, s, stage.layout.store(s.id)?))) }
            { above(&cx) }
        </div>
    }
}

/// One process has the tab stop: the selected one, or the first.
fn tab_stop(stage: &Stage) -> Option<ProcessId> {
    let scene = &stage.scene;
    let all: Vec<ProcessId> = scene
        .servers
        .iter()
        .map(|s| s.id)
        .chain(scene.clients.iter().map(|c| c.id))
        .chain(scene.workers.iter().map(|w| w.id))
        .chain(scene.stores.iter().map(|s| s.id))
        .collect();
    match stage.selected {
        Some(Selected::Process(id)) if all.contains(&id) => Some(id),
        Some(Selected::Process(_) | Selected::Link(..)) | None => all.first().copied(),
    }
}

/// Arrows go from process to process; the focus takes the selection along.
fn rove(event: &KeyboardEvent, emit: &Callback<Msg>) {
    let by = match event.key().as_str() {
        "ArrowRight" | "ArrowDown" => 1,
        "ArrowLeft" | "ArrowUp" => -1,
        _ => return,
    };
    if event.ctrl_key() || event.alt_key() || event.meta_key() || event.shift_key() {
        return;
    }
    let target = event.target().and_then(|t| t.dyn_into::<Element>().ok());
    let Some(target) = target.filter(|t| t.has_attribute("data-process")) else {
        return;
    };
    event.prevent_default();
    event.stop_propagation();
    if let Some(id) = browser::focus_neighbour(&target, by) {
        emit.emit(Msg::Select(Some(Selected::Process(ProcessId(id)))));
    }
}

fn at(rect: Rect) -> String {
    format!(
        "left:{}px;top:{}px;width:{}px;height:{}px",
        px(rect.x),
        px(rect.y),
        px(rect.w),
        px(rect.h)
    )
}

fn place(at: Point) -> String {
    format!("translate({} {})", px(at.x), px(at.y))
}

fn square(center: Point, radius: f32) -> Rect {
    Rect::new(
        center.x - radius,
        center.y - radius,
        2.0 * radius,
        2.0 * radius,
    )
}

fn is_selected(cx: &Cx<'_>, id: ProcessId) -> bool {
    cx.stage.selected == Some(Selected::Process(id))
}

fn is_looked_at(cx: &Cx<'_>, name: &str) -> bool {
    cx.stage.look_at.as_deref() == Some(name)
}

/// The button of a process: what it is, and where it stands.
struct Button<'a> {
    id: ProcessId,
    kind: Kind,
    name: &'a str,
    label: String,
    class: Classes,
    style: String,
}

/// The button of a process: selecting it brings its tools.
fn process_button(cx: &Cx<'_>, button: Button<'_>, inner: Html) -> Html {
    let Button {
        id,
        kind,
        name,
        label,
        class,
        style,
    } = button;
    let tabindex = if cx.tab_stop == Some(id) { "0" } else { "-1" };
    html! {
        <button type="button" id={format!("p{}-{id}", cx.stage.index)}
            class={classes!("process", class)} style={style}
            data-process={id.to_string()} data-kind={kind.to_string()} data-name={name.to_owned()}
            aria-pressed={is_selected(cx, id).to_string()} aria-label={label} {tabindex}
            onclick={send(cx.emit, Msg::Select(Some(Selected::Process(id))))}>{ inner }</button>
    }
}

// ---------------------------------------------------------------------------------------------
// Who grants

fn heads(cx: &Cx<'_>) -> Html {
    let scene = &cx.stage.scene;
    let words = if scene.service.is_some() {
        ["who grants", "who acts", "who checks"]
    } else if scene.clients.is_empty() {
        ["", "who leads", "who checks"]
    } else {
        ["who asks", "who leads", "who checks"]
    };
    let shown = [true, true, !scene.stores.is_empty()];
    let head = |(n, word): (usize, &str)| {
        let style = format!("left:{}px", px(cx.layout.heads[n]));
        html! { <span class="column" style={style}>{ word }</span> }
    };
    let heads = words
        .into_iter()
        .enumerate()
        .filter(|(n, word)| shown[*n] && !word.is_empty());
    html! { { for heads.map(head) } }
}

fn service_box(cx: &Cx<'_>, service: &Service, rect: Rect) -> Html {
    let dots = cx.stage.scene.servers.iter().map(|s| server_dot(cx, s));
    let term = service
        .term
        .map_or("no leader".to_owned(), |term| format!("term {term}"));
    let narrow = cx.layout.shape == Shape::Rows;
    let most = if narrow { 2 } else { 4 };
    html! {
        <section class="service" style={at(rect)} data-box="service" aria-label="Lease service">
            <h3>{ "lease service" }</h3>
            <div class="dots-row">
                { for dots }
                <span class={if service.term.is_some() { "term" } else { "term none" }}>{ term }
                    </span>
            </div>
            <p class="ledger-head">{ "granted, by its own clock" }</p>
            <ol class="ledger" aria-label="Grants, latest first">
                if service.ledger.is_empty() {
                    <li class="none">{ "nothing granted yet" }</li>
                }
                { for service.ledger.iter().take(most).map(|grant| html! {
                    <li class={if grant.holds { "holds" } else { "over" }}>
                        <b class="figure">{ grant.token.to_string() }</b>
                        <span class="who">{ format!("{} {}", grant.worker, grant.word) }
                            if let Some(resource) = &grant.resource { { format!(" {resource}") } }
                                </span>
                        <span class="note">{ &grant.note }</span>
                    </li>
                }) }
            </ol>
            if let Some(waiting) = &service.waiting {
                <p class="waiting">{ format!("waiting: {waiting}") }</p>
            }
        </section>
    }
}

fn server_dot(cx: &Cx<'_>, server: &Server) -> Html {
    let label = server_label(server);
    let class = classes!(
        "dot",
        server.condition.class(),
        server.leads.then_some("leads"),
        server.at_odds.then_some("odds")
    );
    let inner = html! {
        <>
            if server.leads || server.at_odds { { crown(server.leads) } }
            <span>{ &server.name }</span>
        </>
    };
    let (id, name, style) = (server.id, server.name.as_str(), String::new());
    let button = Button {
        id,
        kind: Kind::Server,
        name,
        label,
        class,
        style,
    };
    process_button(cx, button, inner)
}

fn crown(filled: bool) -> Html {
    html! {
        <svg class={if filled { "crown" } else { "crown hollow" }} width="18" height="11"
            viewBox="0 0 18 11" aria-hidden="true">
            <path d="M1.5 1.8 5 5.8 9 1l4 4.8 3.5-4V10h-15z" />
        </svg>
    }
}

fn server_label(server: &Server) -> String {
    let state = match server.condition {
        Condition::Awake => String::new(),
        Condition::Asleep => "asleep, ".to_owned(),
        Condition::Crashed => "crashed, ".to_owned(),
    };
    let crown = if server.leads { ", leads in truth" } else { "" };
    format!("Server {}: {state}{}{crown}", server.name, server.words)
}

fn server_disc(cx: &Cx<'_>, server: &Server, seat: &Seat) -> Html {
    let class = classes!(
        "disc",
        "server",
        server.condition.class(),
        role_class(server.role),
        server.leads.then_some("leads"),
        server.at_odds.then_some("odds"),
        is_looked_at(cx, &server.name).then_some("watched"),
    );
    let inner = html! {
        <>
            if server.leads || server.at_odds { { crown(server.leads) } }
            <span class="letter">{ &server.name }</span>
            { badge(server.clock.as_deref()) }
            { pill(server.condition) }
        </>
    };
    let style = at(square(seat.center, seat.radius));
    let tone = if server.at_odds { "doubt" } else { "plain" };
    html! {
        <>
            { process_button(cx, Button
                { id: server.id, kind: Kind::Server, name: &server.name, label:
                server_label(server), class, style }, inner) }
            <div class={classes!("words", "of-server", group_class(server.group))}
                style={at(seat.words)} data-box={format!("words {}", server.name)}>
                <span class={classes!("belief", tone)}>{ &server.words }</span>
                if server.at_odds {
                    <span class="truth">{ &server.truth }</span>
                } else if server.believes.is_some() && server.role == Role::Leader {
                    <span class="age" id={format!("age{}-{}", cx.stage.index, server.id)}></span>
                }
                { log(server) }
            </div>
        </>
    }
}

const fn role_class(role: Role) -> &'static str {
    match role {
        Role::Follower => "follower",
        Role::Candidate => "candidate",
        Role::Leader => "leader",
    }
}

fn group_class(group: Option<u8>) -> Option<String> {
    group.map(|n| format!("group g{}", n % 4))
}

fn log(server: &Server) -> Html {
    if server.log.is_empty() {
        return html! { <span class="log none">{ "log empty" }</span> };
    }
    let title = format!(
        "log of {}: {} entries",
        server.name,
        server.log_before as usize + server.log.len()
    );
    html! {
        <span class="log" title={title}>
            if server.log_before > 0 { <i class="more">{ "…" }</i> }
            { for server.log.iter().map(|cell| {
                let state = if cell.applied { "applied" } else if cell.committed { "committed" }
                    else { "open" };
                let what = match cell.label.as_str() {
                    "" => "an entry of the service",
                    label => label,
                };
                let title = format!("{}: term {}, {what}, {}", cell.index, cell.term, if
                    cell.committed { "committed" } else { "not committed" });
                html! { <i class={classes!("cell", state, format!("t{}", cell.term.0 % 4))}
                    title={title}>{ cell.term.to_string() }</i> }
            }) }
        </span>
    }
}

/// That it sleeps, in a word on the disc.
fn pill(condition: Condition) -> Html {
    match condition {
        Condition::Asleep => html! { <span class="pill">{ "asleep" }</span> },
        Condition::Awake | Condition::Crashed => Html::default(),
    }
}

fn badge(clock: Option<&str>) -> Html {
    match clock {
        Some(text) => {
            html! { <span class="badge" title="its clock is off by this">{ text }</span> }
        }
        None => Html::default(),
    }
}

// ---------------------------------------------------------------------------------------------
// Who acts

fn worker(cx: &Cx<'_>, worker: &Worker, seat: &Seat) -> Html {
    let n = cx.stage.index;
    let r = seat.radius;
    let size = 2.0 * r;
    let class = classes!(
        "disc",
        "worker",
        worker.condition.class(),
        worker.holds.then_some("holds"),
        worker.at_odds.then_some("odds"),
        is_looked_at(cx, &worker.name).then_some("watched"),
    );
    let stroke = (r * 0.15).max(4.0).min(7.0);
    let ring_r = r - stroke / 2.0;
    let inner_r = r - stroke - 5.0;
    let hatch = format!("fill:url(#hatch{n})");
    let inner = html! {
        <>
            <svg class="ring" width={px(size)} height={px(size)}
                viewBox={format!("{0} {0} {1} {1}", px(-r), px(size))} aria-hidden="true">
                <circle class="track" r={px(ring_r)} stroke-width={px(stroke)} />
                <circle class="left" id={format!("ring{n}-{}", worker.id)} r={px(ring_r)}
                    stroke-width={px(stroke)}
                    pathLength="100" stroke-dasharray="0 100" transform="rotate(-90)" />
                <circle class="belief" r={px(inner_r)} />
                if worker.condition == Condition::Asleep {
                    <circle class="asleep-hatch" r={px(inner_r)} style={hatch} />
                }
            </svg>
            <span class={classes!("letter", (worker.name.len() > 3).then_some("long"))}>
                { &worker.name }</span>
            { badge(worker.clock.as_deref()) }
            { pill(worker.condition) }
        </>
    };
    let truth = truth_rect(cx, seat);
    html! {
        <>
            { process_button(cx, Button
                { id: worker.id, kind: Kind::Worker, name: &worker.name, label:
                worker_label(worker), class, style: at(square(seat.center, r)) }, inner) }
            <div class={classes!("words", "of-worker", group_class(worker.group))}
                style={at(seat.words)} data-box={format!("words {}", worker.name)}>
                { belief(cx, worker) }
                if cx.layout.shape == Shape::Rows {
                    <span class="truth" data-truth={worker.name.clone()}>{ &worker.truth }</span>
                }
            </div>
            if cx.layout.shape == Shape::Wide {
                <div class="truth under" style={at(truth)}
                    data-box={format!("truth {}", worker.name)} data-truth={worker.name.clone()}>
                    { &worker.truth }</div>
            }
        </>
    }
}

/// Below the ring, as wide as its words need.
fn truth_rect(cx: &Cx<'_>, seat: &Seat) -> Rect {
    let w = 190.0_f32.min((seat.block.right() - seat.center.x) * 2.0);
    let left = (seat.center.x - w / 2.0).max(cx.layout.service.map_or(0.0, |s| s.right() + 6.0));
    Rect::new(
        left,
        seat.center.y + seat.radius + 5.0,
        (seat.center.x - left) * 2.0,
        18.0,
    )
}

fn belief(cx: &Cx<'_>, worker: &Worker) -> Html {
    let n = cx.stage.index;
    match (&worker.believes, worker.condition) {
        (_, Condition::Crashed) => html! { <span class="belief muted">{ "crashed" }</span> },
        (None, _) => html! { <span class="belief muted">{ "has not checked" }</span> },
        (Some(believes), _) => html! {
            <>
                <span class={classes!("belief", believes.tone.class())}
                    data-belief={worker.name.clone()}>{ &believes.words }</span>
                <span class="age" id={format!("age{n}-{}", worker.id)}></span>
            </>
        },
    }
}

fn worker_label(worker: &Worker) -> String {
    let state = match worker.condition {
        Condition::Awake => "",
        Condition::Asleep => "asleep, ",
        Condition::Crashed => "crashed, ",
    };
    let belief = worker
        .believes
        .as_ref()
        .map_or_else(String::new, |b| format!("{}, ", b.words));
    format!("Worker {}: {state}{belief}{}", worker.name, worker.truth)
}

fn client_disc(cx: &Cx<'_>, client: &Client, seat: &Seat) -> Html {
    let class = classes!(
        "disc",
        "client",
        client.condition.class(),
        is_looked_at(cx, &client.name).then_some("watched")
    );
    let inner = html! { <span class="letter">{ &client.name }</span> };
    let label = format!("Client {}: {}", client.name, client.words);
    html! {
        <>
            { process_button(cx, Button
                { id: client.id, kind: Kind::Client, name: &client.name, label, class, style:
                at(square(seat.center, seat.radius)) }, inner) }
            <div class={classes!("words", "of-client", group_class(client.group))}
                style={at(seat.words)} data-box={format!("words {}", client.name)}>
                <span class={client.tone.class()}>{ &client.words }</span>
            </div>
        </>
    }
}

// ---------------------------------------------------------------------------------------------
// Who checks

fn store(cx: &Cx<'_>, store: &Store, seat: &StoreSeat) -> Html {
    let (gate, gate_words) = match store.gate {
        Position::Off => ("gate-open", "gate open: looks at no token"),
        Position::Observe => ("gate-observe", "gate observes: notes, refuses nothing"),
        Position::On => ("gate-on", "gate on: refuses lower tokens"),
    };
    let narrow = cx.layout.shape == Shape::Rows;
    let most = if narrow {
        2
    } else if seat.block.h > 200.0 {
        4
    } else {
        2
    };
    let skip = store.rows.len().saturating_sub(most);
    let label = format!(
        "Store {}: {gate_words}; highest token {}",
        store.name, store.highest
    );
    let class = classes!("store-name", store.condition.class());
    let inner = html! { <span>{ &store.name }</span> };
    let plate_word = match store.gate {
        Position::Off => "open",
        Position::Observe => "seen",
        Position::On => "highest",
    };
    html! {
        <>
            <section class={classes!("store", gate, store.condition.class(),
                group_class(store.group), is_looked_at(cx, &store.name).then_some("watched"))}
                style={at(seat.block)} data-box={format!("store {}", store.name)}
                    aria-label={format!("Store {}", store.name)}>
                { process_button(cx, Button
                    { id: store.id, kind: Kind::Store, name: &store.name, label, class, style:
                    String::new() }, inner) }
                <span class="gate-words">
                    { if store.condition == Condition::Crashed { "crashed" } else { gate_words } }
                    </span>
                <ol class="writes" aria-label="Writes, latest last">
                    if store.rows.is_empty() { <li class="none">{ "no writes yet" }</li> }
                    { for store.rows.iter().skip(skip).map(row) }
                </ol>
            </section>
            <div class={classes!("gate", gate)} style={at(seat.gate)} data-gate={store.name.clone()}
                aria-hidden="true"><i></i><i></i></div>
            <div class={classes!("plate", gate)} style={at(seat.plate)}
                data-plate={store.name.clone()} aria-hidden="true">
                <span>{ plate_word }</span><b>
                    { if store.highest.0 == 0 { "–".to_owned() } else { store.highest.to_string() }
                    }</b>
            </div>
        </>
    }
}

fn row(row: &Row) -> Html {
    html! {
        <li key={row.number} class={classes!("write", row.mark.tone().class())}
            data-write={row.mark.word()}>
            <span class="sign" role="img" aria-label={row.mark.word()}>{ row.mark.sign() }</span>
            <b class="figure">{ row.token.to_string() }</b>
            <span class="what">{ format!("{} {}", row.from, row.value) }</span>
            if let Some(note) = &row.note { <span class="note">{ note }</span> }
        </li>
    }
}

// ---------------------------------------------------------------------------------------------
// What is between

fn wires(cx: &Cx<'_>) -> Html {
    let (w, h) = (cx.layout.width, cx.layout.height);
    let n = cx.stage.index;
    html! {
        <svg class="wires" width={px(w)} height={px(h)} aria-hidden="true">
            <defs>
                <pattern id={format!("hatch{n}")} width="7" height="7" patternUnits="userSpaceOnUse"
                    patternTransform="rotate(45)">
                    <line class="hatch-line" x1="0" y1="0" x2="0" y2="7" stroke-width="3" />
                </pattern>
                <marker id={format!("tip{n}")} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7"
                    markerHeight="7" orient="auto">
                    <path class="tip" d="M0 0 8 4 0 8z" />
                </marker>
            </defs>
            { for cx.stage.scene.wires.iter().map(|wire| self::wire(cx, wire)) }
            { for cx.stage.scene.trails.iter().map(|trail| self::trail(cx, trail)) }
        </svg>
    }
}

fn wire(cx: &Cx<'_>, wire: &Wire) -> Html {
    let (Some(there), Some(back)) = (
        cx.layout.path(wire.a, wire.b),
        cx.layout.path(wire.b, wire.a),
    ) else {
        return Html::default();
    };
    let stroke = |cut: bool| if cut { "wire cut" } else { "wire" };
    let selected = cx.stage.selected == Some(Selected::Link(wire.a, wire.b));
    let (a, b) = (name_of(wire.a), name_of(wire.b));
    html! {
        <g class={classes!("link", selected.then_some("selected"))} data-link={format!("{a} {b}")}>
            <path class={stroke(wire.there_cut)} d={there.d()} pathLength="100"
                data-cut={wire.there_cut.to_string()} />
            <path class={stroke(wire.back_cut)} d={back.d()} pathLength="100"
                data-cut={wire.back_cut.to_string()} />
            <path class="wire-hit" d={there.d()}
                onclick={send(cx.emit, Msg::Select(Some(Selected::Link(wire.a, wire.b))))} />
        </g>
    }
}

fn name_of(end: End) -> String {
    match end {
        End::Service => "service".to_owned(),
        End::Process(id) => id.to_string(),
    }
}

fn trail(cx: &Cx<'_>, trail: &Trail) -> Html {
    let width = stub_width(trail.token, &trail.label) as f32;
    let ends = (End::Process(trail.from), End::Process(trail.store));
    let Some(way) = cx.layout.path(ends.0, ends.1) else {
        return Html::default();
    };
    if !trail.refused {
        let class = if trail.stale {
            "trail stale"
        } else {
            "trail accepted"
        };
        return html! { <path class={class} d={way.d()} /> };
    }
    let bounce = cx.layout.bounce_path(trail.from, trail.store, width);
    html! {
        <>
            <path class="trail refused" d={way.d()} />
            if let Some(bounce) = bounce {
                <path class="trail bounce" d={bounce.d()}
                    marker-end={format!("url(#tip{})", cx.stage.index)} />
            }
        </>
    }
}

/// What lies above the boxes: stubs and ticks.
fn above(cx: &Cx<'_>) -> Html {
    let (w, h) = (cx.layout.width, cx.layout.height);
    let scene = &cx.stage.scene;
    let rests = scene
        .trails
        .iter()
        .filter(|t| t.refused)
        .filter_map(|trail| {
            let width = stub_width(trail.token, &trail.label);
            let rest = cx
                .layout
                .bounce_path(trail.from, trail.store, width as f32)?
                .to;
            let stub = stub(trail.token.0, &trail.label, width, "refusal");
            Some(html! { <g class="rest" data-stub="refused" transform={place(rest)}>{ stub }</g> })
        });
    let hands = scene.workers.iter().map(|w| (w.id, &w.in_hand, w.at_odds));
    let hands = hands.chain(scene.servers.iter().map(|s| (s.id, &s.in_hand, s.at_odds)));
    let hands = hands.filter_map(|(id, hand, odds)| in_hand(cx, id, hand.as_ref()?, odds));
    html! {
        <svg class="above" width={px(w)} height={px(h)} aria-hidden="true">
            { for hands }
            { for rests }
            { for scene.crowds.iter().filter_map(|crowd| {
                let mid = cx.layout.path(crowd.from, crowd.to)?.at(0.5);
                let place = place(mid);
                Some(html! { <g class="crowd" transform={place}><circle r="12" /><text y="4">
                    { crowd.count }</text></g> })
            }) }
            { for scene.flying.iter().map(|message| flying(cx, message)) }
        </svg>
    }
}

/// A write between its check and its send: the stub is written, and still in the hand.
fn in_hand(cx: &Cx<'_>, id: ProcessId, hand: &Hand, odds: bool) -> Option<Html> {
    let at = cx.layout.stub_path(id, hand.store, hand.width as f32)?.from;
    let tone = if odds { Tone::Doubt } else { Tone::Lease };
    let place = place(at);
    Some(html! {
        <g class="hand" data-stub="in-hand" transform={place}>
            { stub(hand.token.0, &hand.label, hand.width, tone.class()) }</g>
    })
}

fn flying(cx: &Cx<'_>, message: &Flying) -> Html {
    let id = format!("m{}-{}", cx.stage.index, message.key);
    let turn = format!("{id}-turn");
    let (inner, kind) = match &message.look {
        Look::Tick(tone) => (
            html! { <g id={turn}><line class={classes!("tick", tone.class())} x1="-6" y1="0" x2="6"
            y2="0" /></g> },
            "tick",
        ),
        Look::Stub {
            token,
            label,
            tone,
            width,
        } => (stub(token.0, label, *width, tone.class()), "stub"),
        Look::Bounce {
            token,
            label,
            width,
        } => (stub(token.0, label, *width, "refusal"), "bounce"),
        Look::Enter {
            token,
            label,
            tone,
            width,
        } => (stub(token.0, label, *width, tone.class()), "enter"),
    };
    html! { <g key={id.clone()} id={id} class="flying" data-stub={kind}>{ inner }</g> }
}

/// A ticket stub around the origin, with its token.
fn stub(token: u64, label: &str, width: u32, tone: &'static str) -> Html {
    let (w, h) = (width as f32, STUB_HEIGHT);
    let (x, y) = (-w / 2.0, -h / 2.0);
    let notch = 4.0;
    let side = h / 2.0 - notch;
    let (wide, side, hole, n) = (px(w - 6.0), px(side - 3.0), px(2.0 * notch), px(notch));
    let top = format!("M{} {}h{wide}a3 3 0 0 1 3 3", px(x + 3.0), px(y));
    let right = format!("v{side}a{n} {n} 0 0 0 0 {hole}v{side}a3 3 0 0 1 -3 3");
    let left =
        format!("h-{wide}a3 3 0 0 1 -3 -3v-{side}a{n} {n} 0 0 0 0 -{hole}v-{side}a3 3 0 0 1 3 -3z");
    let d = format!("{top}{right}{left}");
    html! {
        <g class={classes!("stub", tone)}>
            <path d={d} />
            <text y="4.5"><tspan class="figure">{ token }</tspan>
                if !label.is_empty() { <tspan dx="5">{ shorten(label) }</tspan> }
            </text>
        </g>
    }
}

fn shorten(label: &str) -> String {
    const MOST: usize = 15;
    if label.chars().count() <= MOST {
        return label.to_owned();
    }
    let short: String = label.chars().take(MOST - 1).collect();
    format!("{short}…")
}
