//! Sentences with blanks that the world fills: `A holds the lease for {lease}.`
//!
//! A form letter, so that an 8 s lease or another seed gives the same lesson with other numbers. No
//! arithmetic and no conditions: what needs those is a claim.

use leasehold_engine::setup::Names;
use leasehold_engine::units::{ProcessId, Token};
use leasehold_engine::worker::LeaseView;
use leasehold_engine::world::World;
use serde::{Deserialize, Serialize};

use crate::place::nearest;
use crate::words;

/// A sentence with blanks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Piece {
    Text(String),
    Blank(Blank),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Blank {
    Lease,
    Renew,
    Work,
    Heartbeat,
    Time,
    Leader,
    /// The token that a worker holds, or last held.
    Token(String),
    /// How long ago a process last checked.
    Age(String),
    Term(String),
    /// The highest token that a store has seen.
    Seen(String),
    Holder(String),
}

const PLAIN: &[(&str, Blank)] = &[
    ("lease", Blank::Lease),
    ("renew", Blank::Renew),
    ("work", Blank::Work),
    ("heartbeat", Blank::Heartbeat),
    ("time", Blank::Time),
    ("leader", Blank::Leader),
];
const NAMED: &[&str] = &["token", "age", "term", "seen", "holder"];

/// Why a text is not a template: the column of the blank, what is wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// From 1, in characters.
    pub column: u32,
    pub what: String,
    pub remedy: String,
}

impl Template {
    /// Reads a sentence; blanks stand in braces and name what exists.
    ///
    /// # Errors
    /// The first blank that is unknown or unclosed.
    pub fn parse(text: &str, names: &Names) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let column = text[..text.len() - rest.len() + open].chars().count() as u32 + 1;
            let Some(length) = rest[open..].find('}') else {
                let what = "a blank opens with { and never closes".to_owned();
                let remedy = "close it with }, as in {lease}".to_owned();
                return Err(TemplateError {
                    column,
                    what,
                    remedy,
                });
            };
            if open > 0 {
                pieces.push(Piece::Text(rest[..open].to_owned()));
            }
            let blank =
                Blank::parse(&rest[open + 1..open + length], names).map_err(|(what, remedy)| {
                    TemplateError {
                        column,
                        what,
                        remedy,
                    }
                })?;
            pieces.push(Piece::Blank(blank));
            rest = &rest[open + length + 1..];
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Self { pieces })
    }

    /// The sentence with its blanks filled from the world as it is.
    #[must_use]
    pub fn fill(&self, world: &World) -> String {
        let fill = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Blank(blank) => blank.fill(world),
        };
        self.pieces.iter().map(fill).collect()
    }
}

impl Blank {
    fn parse(text: &str, names: &Names) -> Result<Self, (String, String)> {
        if let Some((_, blank)) = PLAIN.iter().find(|(word, _)| *word == text) {
            return Ok(blank.clone());
        }
        let (word, name) = text.split_once(' ').unwrap_or((text, ""));
        if !NAMED.contains(&word) {
            let known = PLAIN
                .iter()
                .map(|(word, _)| *word)
                .chain(NAMED.iter().copied());
            let remedy = nearest(word, known).map_or_else(
                || "blanks are {lease}, {renew}, {work}, {heartbeat}, {time}, {leader}, {token A}, {age A}, \
                    {term s1}, {seen orders} and {holder orders}".to_owned(),
                |near| format!("did you mean {{{near}}}?"),
            );
            return Err((
                format!("{{{text}}} is not a blank that can be filled"),
                remedy,
            ));
        }
        let is_resource = word == "holder";
        let is_known = if is_resource {
            names.find_resource(name).is_some()
        } else {
            names.find(name).is_some()
        };
        if !is_known {
            let known = if is_resource {
                names.resources().join(", ")
            } else {
                names.list()
            };
            return Err((
                format!("{{{text}}} names nothing in this world"),
                format!("name one of {known}, as in {{{word} …}}"),
            ));
        }
        let name = name.to_owned();
        Ok(match word {
            "token" => Self::Token(name),
            "age" => Self::Age(name),
            "term" => Self::Term(name),
            "seen" => Self::Seen(name),
            _ => Self::Holder(name),
        })
    }

    fn fill(&self, world: &World) -> String {
        let names = world.names();
        let setup = world.setup();
        match self {
            Self::Lease => words::span(setup.lease),
            Self::Renew => words::span(setup.renew_every),
            Self::Work => words::span(setup.work),
            Self::Heartbeat => words::span(setup.heartbeat),
            Self::Time => words::time(world.now()),
            Self::Leader => {
                let leader = world.truth().leader();
                leader.map_or_else(|| "nobody".to_owned(), |(id, _)| names.name(id).to_owned())
            }
            Self::Token(name) => {
                let token = names.find(name).and_then(|id| token_of(world, id));
                token.map_or_else(|| "none".to_owned(), |token| token.to_string())
            }
            Self::Age(name) => {
                let checked = names.find(name).and_then(|id| world.belief_at(id));
                checked.map_or_else(
                    || "never".to_owned(),
                    |at| words::tenths(world.now().since(at)),
                )
            }
            Self::Term(name) => {
                let server = names.find(name).and_then(|id| world.server(id));
                server.map_or_else(|| "none".to_owned(), |server| server.term().to_string())
            }
            Self::Seen(name) => {
                let store = names.find(name).and_then(|id| world.store(id));
                store.map_or_else(|| "none".to_owned(), |store| store.highest().to_string())
            }
            Self::Holder(name) => {
                let grant = names
                    .find_resource(name)
                    .and_then(|id| world.truth().holder(id));
                grant.map_or_else(|| "nobody".to_owned(), |g| names.name(g.worker).to_owned())
            }
        }
    }
}

/// The token that a process holds, else last checked with, else was last granted.
fn token_of(world: &World, id: ProcessId) -> Option<Token> {
    if let Some(server) = world.server(id) {
        return Some(Token(server.term().0));
    }
    let worker = world.worker(id)?;
    if let LeaseView::Held { token, .. } = worker.lease() {
        return Some(token);
    }
    let ledgers = (0..world.names().resources().len() as u8)
        .flat_map(|n| world.truth().grants(leasehold_engine::units::ResourceId(n)));
    let granted = ledgers
        .filter(|grant| grant.worker == id)
        .map(|grant| grant.token);
    worker
        .belief()
        .map(|belief| belief.token)
        .filter(|t| *t > Token(0))
        .or_else(|| granted.max())
}
