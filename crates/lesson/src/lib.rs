//! The lesson format: read, played, judged. The same judge for authors, tests and the browser.
//!
//! A lesson is a text that can be held to its word: what it says of the run is checked against the
//! run. Nothing here touches files or the web: texts come in, verdicts and sentences go out.
//!
//! Read in this order: [`lesson`] (what a lesson is made of), [`parse()`] (from Markdown),
//! [`director`] (plays it), [`judge`] (holds it to its word), [`goal`] (grades a learner's own
//! commands), [`words`] (every event, rule and error as an English sentence), [`library`] (the
//! lessons that come with it).

pub mod director;
pub mod goal;
pub mod judge;
pub mod lesson;
#[cfg(feature = "parse")]
pub mod library;
#[cfg(feature = "parse")]
mod parse;
pub mod place;
pub mod script;
pub mod template;
pub mod words;

#[cfg(feature = "parse")]
pub use parse::{Script, parse, parse_script, world_block, write_script};
