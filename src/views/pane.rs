//! The lesson's pane: where one is, the prose, the question, the goal, and the two buttons that
//! never move.

use leasehold_player::Msg;
use leasehold_player::frame::{ChoiceView, GoalCard, Pane, Part, Question, Why};
use leasehold_player::lesson::lesson::{Block, Prose};
use yew::prelude::*;

use super::prose::prose;
use super::send;
use crate::markup::{classes, html};

#[derive(PartialEq, Properties)]
pub(crate) struct Props {
    pub(crate) pane: Part<Pane>,
    pub(crate) emit: Callback<Msg>,
}

#[component]
pub(crate) fn LessonPane(props: &Props) -> Html {
    let pane = &props.pane;
    let emit = &props.emit;
    let lesson = &pane.lesson;
    let page = &lesson.pages[pane.page];
    let go = if pane.go_on.is_primary { "go" } else { "" };
    html! {
        <section class="lesson" aria-label="Lesson">
            <details class="sheet" open={true}>
                <summary>
                    <span class="kicker">{ format!("Lesson {} of {}", pane.number.0, pane.number.1)
                        }</span>
                    <h1>{ &lesson.title }</h1>
                </summary>
                <div class="text" tabindex="0" role="region" aria-label="Text of the lesson">
                    { dots(pane, emit) }
                    if pane.page == 0 {
                        <div class="prose intro">
                            { prose(&lesson.intro.iter().collect::<Vec<_>>(), &[]) }</div>
                    }
                    <h2>{ &page.heading }</h2>
                    { blocks(pane, emit) }
                    { failure(pane) }
                </div>
            </details>
            <div class="turn">
                <button type="button" class="back" onclick={send(emit, Msg::PageBack)}
                    aria-disabled={(!pane.back).to_string()}>{ "Back" }</button>
                <button type="button" class={classes!("continue", go)}
                    onclick={send(emit, Msg::Continue)}
                    aria-disabled={pane.go_on.is_off.to_string()}>{ pane.go_on.label }</button>
            </div>
        </section>
    }
}

fn dots(pane: &Pane, emit: &Callback<Msg>) -> Html {
    let count = pane.lesson.pages.len();
    let dot = |n: usize| {
        let class = if n == pane.page {
            "now"
        } else if n < pane.pages_done {
            "done"
        } else {
            ""
        };
        let heading = &pane.lesson.pages[n].heading;
        let label = format!("Page {} of {count}: {heading}", n + 1);
        let current = (n == pane.page).then_some("page");
        html! {
            <li><button type="button" class={class} aria-label={label.clone()} title={label}
                aria-current={current} onclick={send(emit, Msg::GoToPage(n))}><i></i></button></li>
        }
    };
    html! { <ol class="dots" aria-label="Pages">{ for (0..count).map(dot) }</ol> }
}

fn blocks(pane: &Pane, emit: &Callback<Msg>) -> Html {
    let page = &pane.lesson.pages[pane.page];
    let mut questions = pane.questions.iter();
    let mut goals = pane.goals.iter();
    let mut why = pane.why.as_ref();
    // What stands after the run is told after the run.
    let mut behind_run = false;
    let mut parts = Vec::new();
    for (n, block) in page.blocks.iter().enumerate() {
        match block {
            Block::Prose(text) => {
                if behind_run {
                    continue;
                }
                parts.push(
                    html! { <div class="prose">{ prose(&[text as &Prose], &pane.marks) }</div> },
                );
            }
            Block::Predict(_) => {
                if let Some(question) = questions.next() {
                    parts.push(self::question(question, emit));
                }
            }
            Block::Goal(_) => {
                if let Some(goal) = goals.next() {
                    parts.push(self::goal(goal, emit));
                }
            }
            Block::Run(_) => {
                behind_run |= pane.block <= n && !is_over(pane);
                if let Some(told) = why.take() {
                    parts.push(self::why(told));
                }
            }
            Block::Expect(_) => {}
            Block::Watch(_) => {}
        }
    }
    if is_over(pane) && !pane.shown.is_empty() {
        parts.push(shown(pane));
    }
    html! { { for parts } }
}

const fn is_over(pane: &Pane) -> bool {
    pane.page < pane.pages_done
}

/// What this page's run has shown, as the lesson claims it and the judge has checked it.
fn shown(pane: &Pane) -> Html {
    let claim = |(claim, holds): &(String, bool)| {
        let (sign, word, class) = if *holds {
            ("✓", "shown", "true")
        } else {
            ("✕", "not so", "false")
        };
        html! { <li class={class}><span aria-label={word}>{ sign }</span><span>{ claim }</span></li>
        }
    };
    html! {
        <details class="shown">
            <summary>{ "What this run has shown" }</summary>
            <ul>{ for pane.shown.iter().map(claim) }</ul>
        </details>
    }
}

fn question(question: &Question, emit: &Callback<Msg>) -> Html {
    let open = question.is_asked;
    let choice = |(n, choice): (usize, &ChoiceView)| choice_view(n, choice, open, emit);
    html! {
        <section class={classes!("predict", open.then_some("asked"))} aria-label="Prediction"
            id={open.then_some("question")}>
            <strong class="q" id={format!("q-{}", question.id)}>{ &question.question }</strong>
            if open {
                <span class="hint">{ "What do you think? Then see." }</span>
            }
            <div class="opts" role="group" aria-labelledby={format!("q-{}", question.id)}>
                { for question.choices.iter().enumerate().map(choice) }
            </div>
            if let Some(verdict) = &question.verdict {
                <p class="verdict">{ verdict }</p>
            }
        </section>
    }
}

fn choice_view(n: usize, choice: &ChoiceView, open: bool, emit: &Callback<Msg>) -> Html {
    let is_true = choice.came_true == Some(true);
    let class = classes!(
        "opt",
        choice.is_mine.then_some("mine"),
        is_true.then_some("true"),
    );
    let note = match (choice.is_mine, choice.came_true) {
        (true, Some(true)) => Some("you chose this, and it is what happened"),
        (true, Some(false)) => Some("you chose this"),
        (false, Some(true)) => Some("this is what happened"),
        (true, None) => Some("your prediction"),
        (false, Some(false) | None) => None,
    };
    let sign = match choice.came_true {
        Some(true) => "✓",
        Some(false) if choice.is_mine => "✕",
        Some(false) | None => "",
    };
    let feedback =
        (choice.came_true.is_some() && (choice.is_mine || is_true)).then_some(&choice.feedback);
    html! {
        <button type="button" class={class} aria-disabled={(!open).to_string()}
            aria-pressed={choice.is_mine.to_string()}
            onclick={if open { send(emit, Msg::Choose(n)) } else { Callback::noop() }}>
            <span class="m">{ n + 1 }</span>
            <span class="what">
                { &choice.text }
                if let Some(note) = note { <small>{ note }</small> }
                if let Some(feedback) = feedback.filter(|f| !f.is_empty()) {
                    <small class="feedback">{ feedback }</small>
                }
            </span>
            <span class="sign" aria-hidden="true">{ sign }</span>
        </button>
    }
}

fn why(why: &Why) -> Html {
    html! {
        <aside class={classes!("why", why.is_refusal.then_some("refusal"))}
            aria-label="The rule behind it">
            <p>{ &why.sentence }</p>
            <cite>{ format!("{} · {}", why.rule, why.source) }</cite>
        </aside>
    }
}

fn goal(goal: &GoalCard, emit: &Callback<Msg>) -> Html {
    let begin = if goal.is_open { "Begin again" } else { "Begin" };
    html! {
        <section class={classes!("goal", goal.is_done.then_some("done"))} aria-label="Goal">
            <p class="what">{ &goal.text }</p>
            <dl>
                <dt>{ "reach" }</dt><dd><code>{ &goal.reach }</code></dd>
                if !goal.with.is_empty() { <dt>{ "with" }</dt><dd><code>{ &goal.with }</code></dd> }
                if !goal.budget.is_empty() { <dt>{ "using at most" }</dt><dd>{ &goal.budget }</dd> }
            </dl>
            if let Some((status, good)) = &goal.status {
                <p class={if *good { "status good" } else { "status" }}>
                    { if *good { "✓ " } else { "" } }{ status }</p>
            } else if goal.is_done {
                <p class="status good">{ "✓ Reached before." }</p>
            }
            <div class="row">
                <button type="button" class={if goal.is_open { "" } else { "go" }}
                    onclick={send(emit, Msg::BeginGoal(goal.id.clone()))}>{ begin }</button>
            </div>
            if let Some(hint) = &goal.hint {
                <details><summary>{ "A hint" }</summary><p>{ hint }</p></details>
            }
        </section>
    }
}

fn failure(pane: &Pane) -> Html {
    match &pane.failure {
        Some((what, remedy)) => html! {
            <aside class="why refusal" role="note"><p>
                { format!("The lesson cannot go on: {what}.") }</p><cite>{ remedy }</cite></aside>
        },
        None => Html::default(),
    }
}
