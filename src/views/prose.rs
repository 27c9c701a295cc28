//! A lesson's prose as elements: paragraphs, lists, quotes, code, and words that a claim stands
//! behind.

use leasehold_player::lesson::lesson::{Inline, Prose};
use leasehold_player::text::typeset;
use yew::prelude::*;

use crate::markup::html;

/// Prose; `marks` says of each marked word whether its claim has been shown true.
pub(crate) fn prose(all: &[&Prose], marks: &[Option<bool>]) -> Html {
    all.iter().map(|p| block(p, marks)).collect()
}

fn block(prose: &Prose, marks: &[Option<bool>]) -> Html {
    match prose {
        Prose::Heading(text) => html! { <h3>{ line(text, marks) }</h3> },
        Prose::Paragraph(text) => html! { <p>{ line(text, marks) }</p> },
        Prose::List { start, items } => {
            let items = items.iter().map(|item| {
                let item: Vec<&Prose> = item.iter().collect();
                html! { <li>{ self::prose(&item, marks) }</li> }
            });
            match start {
                Some(start) => html! { <ol start={start.to_string()}>{ for items }</ol> },
                None => html! { <ul>{ for items }</ul> },
            }
        }
        Prose::Quote(inner) => {
            let inner: Vec<&Prose> = inner.iter().collect();
            html! { <blockquote>{ self::prose(&inner, marks) }</blockquote> }
        }
        Prose::Code { text, .. } => html! { <pre><code>{ text }</code></pre> },
    }
}

fn line(text: &[Inline], marks: &[Option<bool>]) -> Html {
    text.iter().map(|part| inline(part, marks)).collect()
}

fn inline(part: &Inline, marks: &[Option<bool>]) -> Html {
    match part {
        Inline::Text(text) => html! { { typeset(text) } },
        Inline::Emphasis(text) => html! { <em>{ line(text, marks) }</em> },
        Inline::Strong(text) => html! { <strong>{ line(text, marks) }</strong> },
        Inline::Code(text) => html! { <code>{ text }</code> },
        Inline::Link { to, text } => {
            html! { <a href={to.clone()} target="_blank" rel="noopener">{ line(text, marks) }</a> }
        }
        Inline::Mark { mark, text } => {
            let shown = marks.get(*mark).copied().flatten();
            let (class, title) = match shown {
                Some(true) => ("mark true", "The run has shown this."),
                Some(false) => ("mark false", "In this run it is otherwise."),
                None => ("mark", "The run will show this."),
            };
            html! { <span class={class} title={title}>{ line(text, marks) }</span> }
        }
        Inline::Break => html! { <br /> },
    }
}
