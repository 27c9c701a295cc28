//! A lesson as it is read: typed blocks, each with its place in the file.
//!
//! The score, not the music: what is to be shown, done, asked and claimed, in order. Nothing here
//! runs; [`crate::director::Director`] plays it and [`crate::judge`] marks it.

use leasehold_engine::claim::Claim;
use leasehold_engine::command::Command;
use leasehold_engine::setup::{Names, Setup};
use leasehold_engine::switch::{Position, Switch};
use leasehold_engine::units::Duration;
use serde::{Deserialize, Serialize};

use crate::place::Place;
use crate::template::Template;

/// One lesson file, read and checked as far as it can be without running it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lesson {
    /// The file's name, for messages.
    pub file: String,
    /// Never changes once published: progress, links and proofs go by it.
    pub id: String,
    /// The text of the `#` heading.
    pub title: String,
    /// The lesson's place in the list; lessons without one come last, by file name.
    pub order: Option<u64>,
    pub setup: Setup,
    pub names: Names,
    /// Why the lesson's claims need its own seed; none when they hold for others too.
    pub seed_reason: Option<String>,
    /// What stands between the `#` heading and the first page.
    pub intro: Vec<Prose>,
    /// At least one.
    pub pages: Vec<Page>,
    /// Shown to teachers only; empty without a `## Teacher`.
    pub teacher: Vec<Prose>,
    /// Where the `world` block stands.
    pub world_place: Place,
}

/// One `##` heading and what stands below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    pub heading: String,
    pub place: Place,
    pub blocks: Vec<Block>,
    /// Claims behind marked words of the page's prose, judged at the page's end. [`Inline::Mark`]
    /// points here.
    pub marks: Vec<Stated>,
}

/// A part of a page, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Block {
    Prose(Prose),
    Watch(Vec<CaptionLine>),
    Run(Vec<Directive>),
    Expect(Vec<Stated>),
    Predict(Predict),
    Goal(Goal),
}

/// A claim with its place. `negated` turns it round: the check of the checker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stated {
    pub claim: Claim,
    pub place: Place,
    pub negated: bool,
}

/// A line of a `watch` block: what to look at once `when` has come true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptionLine {
    /// None: from the page's beginning.
    pub when: Option<Claim>,
    /// The process that the caption speaks of.
    pub look_at: Option<String>,
    pub text: Template,
    pub place: Place,
}

/// A line of a `run` block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directive {
    pub what: Do,
    pub place: Place,
}

/// What a line of a `run` block asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Do {
    /// Any command, carried out and recorded.
    Act(Command),
    /// `run 500ms`
    RunFor(Duration),
    /// `run until CLAIM within 30s`; an error if it does not come in `bound`.
    RunUntil { claim: Claim, bound: Duration },
    /// `stop "sentence" press: COMMAND`: waits for the reader.
    Stop {
        sentence: Option<Template>,
        press: Option<Press>,
    },
    /// `again with SWITCH POSITION at X`: the lesson's directives from its start, in a new run.
    Again(Change),
}

/// What the reader is asked to press at a stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Press {
    Act(Command),
    Again(Change),
}

/// The one thing that a second run changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub switch: Switch,
    pub position: Position,
    /// One process, or none for the whole world.
    pub at: Option<String>,
}

/// A question about the next `run` block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Predict {
    pub id: String,
    pub question: String,
    /// At least two, of which exactly one comes true.
    pub choices: Vec<Choice>,
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    pub text: String,
    pub outcome: Stated,
    /// Said when it was chosen and the run is over; may be empty.
    pub feedback: String,
}

/// Something to make happen oneself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goal {
    pub id: String,
    pub text: String,
    /// The page at whose beginning the learner starts.
    pub from: usize,
    /// Switches that the learner's run is set to.
    pub with: Vec<Change>,
    pub reach: Stated,
    pub budget: crate::goal::Budget,
    pub hint: Option<String>,
    pub place: Place,
}

/// Prose, kept as it is meant rather than as it looks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Prose {
    /// A heading below a page's own; level 3 or deeper.
    Heading(Vec<Inline>),
    Paragraph(Vec<Inline>),
    /// Numbered from `start`, or with bullets.
    List {
        start: Option<u64>,
        items: Vec<Vec<Self>>,
    },
    Quote(Vec<Self>),
    Code {
        language: String,
        text: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Inline {
    Text(String),
    Emphasis(Vec<Self>),
    Strong(Vec<Self>),
    Code(String),
    Link {
        to: String,
        text: Vec<Self>,
    },
    /// Words that a claim stands behind: `[token 2](# "B holds orders with token 2")`.
    /// `mark` is its place in [`Page::marks`].
    Mark {
        mark: usize,
        text: Vec<Self>,
    },
    /// A line break that the author asked for.
    Break,
}

/// A directive's or block's address: page, block on the page, line in the block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    pub page: usize,
    pub block: usize,
    pub line: usize,
}

impl Lesson {
    /// All directives with their addresses, in order.
    pub fn directives(&self) -> impl Iterator<Item = (Address, &Directive)> {
        self.blocks().flat_map(|(at, block)| {
            let directives: &[Directive] = match block {
                Block::Run(directives) => directives,
                Block::Prose(_)
                | Block::Watch(_)
                | Block::Expect(_)
                | Block::Predict(_)
                | Block::Goal(_) => &[],
            };
            let address = move |line| Address { line, ..at };
            directives
                .iter()
                .enumerate()
                .map(move |(line, d)| (address(line), d))
        })
    }

    /// All blocks with their addresses, in order.
    pub fn blocks(&self) -> impl Iterator<Item = (Address, &Block)> {
        self.pages.iter().enumerate().flat_map(|(page, p)| {
            let address = move |block| Address {
                page,
                block,
                line: 0,
            };
            p.blocks
                .iter()
                .enumerate()
                .map(move |(block, b)| (address(block), b))
        })
    }

    /// All goals, in order.
    pub fn goals(&self) -> impl Iterator<Item = &Goal> {
        self.blocks().filter_map(|(_, block)| match block {
            Block::Goal(goal) => Some(goal),
            Block::Prose(_)
            | Block::Watch(_)
            | Block::Run(_)
            | Block::Expect(_)
            | Block::Predict(_) => None,
        })
    }

    /// All predictions, in order.
    pub fn predictions(&self) -> impl Iterator<Item = &Predict> {
        self.blocks().filter_map(|(_, block)| match block {
            Block::Predict(predict) => Some(predict),
            Block::Prose(_)
            | Block::Watch(_)
            | Block::Run(_)
            | Block::Expect(_)
            | Block::Goal(_) => None,
        })
    }

    /// Every claim that the judge holds the lesson to, in the order of the file: expectations,
    /// choices, marked words and what goals reach.
    pub fn claims(&self) -> Vec<&Stated> {
        let mut all: Vec<&Stated> = Vec::new();
        for page in &self.pages {
            all.extend(&page.marks);
            for block in &page.blocks {
                match block {
                    Block::Expect(claims) => all.extend(claims),
                    Block::Predict(predict) => {
                        all.extend(predict.choices.iter().map(|choice| &choice.outcome));
                    }
                    Block::Goal(goal) => all.push(&goal.reach),
                    Block::Prose(_) | Block::Watch(_) | Block::Run(_) => {}
                }
            }
        }
        all.sort_by_key(|stated| stated.place);
        all
    }

    /// The claim at a place, to turn it round.
    pub fn claim_mut(&mut self, place: Place) -> Option<&mut Stated> {
        self.pages.iter_mut().find_map(|page| {
            let in_blocks = page.blocks.iter_mut().flat_map(|block| match block {
                Block::Expect(claims) => claims.iter_mut().collect(),
                Block::Predict(predict) => predict
                    .choices
                    .iter_mut()
                    .map(|choice| &mut choice.outcome)
                    .collect(),
                Block::Goal(goal) => vec![&mut goal.reach],
                Block::Prose(_) | Block::Watch(_) | Block::Run(_) => Vec::new(),
            });
            page.marks
                .iter_mut()
                .chain(in_blocks)
                .find(|stated| stated.place == place)
        })
    }
}
