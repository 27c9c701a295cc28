//! Reads a lesson's Markdown into typed blocks, and says everything that is wrong with it at once.
//!
//! A patient proofreader: it never stops at the first mistake. What only a run can show is left to
//! [`crate::judge`].

mod blocks;
mod keys;
mod markdown;
mod world;
mod write;

use leasehold_engine::setup::{Names, Setup};

use crate::lesson::{Block, Directive, Lesson, Page, Prose, Stated};
use crate::place::{Diagnostic, Lines, Place};
use crate::script;

pub use write::{world_block, write_script};

use markdown::{Document, Fence, Item, Line, Mark, Section};

/// Lessons longer than this are not read.
const LENGTH_MAX: usize = 256 * 1024;

/// What is wrong so far.
#[derive(Debug)]
struct Errors<'a> {
    file: String,
    lines: Lines<'a>,
    all: Vec<Diagnostic>,
}

impl Errors<'_> {
    fn add(&mut self, offset: usize, what: impl Into<String>, remedy: impl Into<String>) {
        let place = self.lines.place(offset);
        self.add_at(place, what, remedy);
    }

    fn add_at(&mut self, place: Place, what: impl Into<String>, remedy: impl Into<String>) {
        self.all.push(Diagnostic {
            file: self.file.clone(),
            place,
            what: what.into(),
            remedy: remedy.into(),
        });
    }
}

/// Reads a lesson. `file` is its name for messages.
///
/// # Errors
/// Everything that is wrong with it, in the order of the file; never an empty list.
pub fn parse(text: &str, file: &str) -> Result<Lesson, Vec<Diagnostic>> {
    let mut errors = Errors {
        file: file.to_owned(),
        lines: Lines::of(text),
        all: Vec::new(),
    };
    let lesson = if text.len() > LENGTH_MAX {
        let most = LENGTH_MAX / 1024;
        errors.add(
            0,
            format!("the lesson is longer than {most} KiB"),
            "split it: one idea a lesson",
        );
        None
    } else {
        read(text, &mut errors)
    };
    match lesson {
        Some(lesson) if errors.all.is_empty() => Ok(lesson),
        _ => {
            errors.all.sort();
            errors.all.dedup();
            Err(errors.all)
        }
    }
}

/// A command script: a world, a line of four dashes, then the lines of a `run` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    pub setup: Setup,
    pub names: Names,
    pub directives: Vec<Directive>,
}

/// Reads a command script. `file` is its name for messages.
///
/// # Errors
/// Everything that is wrong with it; never an empty list.
pub fn parse_script(text: &str, file: &str) -> Result<Script, Vec<Diagnostic>> {
    let mut errors = Errors {
        file: file.to_owned(),
        lines: Lines::of(text),
        all: Vec::new(),
    };
    let mut head = Vec::new();
    let mut offset = 0;
    let mut body = None;
    for line in text.split_inclusive('\n') {
        let text = line.trim_end().to_owned();
        if text == DASHES {
            body = Some(offset + line.len());
            break;
        }
        head.push(Line { offset, text });
        offset += line.len();
    }
    let Some(body) = body else {
        let remedy = "write the world's keys, then a line ----, then commands";
        errors.add(0, "the script has no line of four dashes", remedy);
        return Err(errors.all);
    };
    let world = world::read(&head, 0, &mut errors);
    let first = head.len() as u32 + 2;
    let mut directives = Vec::new();
    if let Some(names) = &world.names {
        match script::lines(&text[body..], first, file, names) {
            Ok(lines) => directives = lines,
            Err(wrong) => errors.all.extend(wrong),
        }
    }
    match world.names {
        Some(names) if errors.all.is_empty() => Ok(Script {
            setup: world.setup,
            names,
            directives,
        }),
        _ => {
            errors.all.sort();
            Err(errors.all)
        }
    }
}

const DASHES: &str = "----";

fn read<'a>(text: &'a str, errors: &mut Errors<'a>) -> Option<Lesson> {
    let Document {
        title,
        mut sections,
    } = markdown::read(text, errors);
    if title.is_none() {
        errors.add(
            0,
            "the lesson has no title",
            "begin with a line `# What it is about`",
        );
    }
    let world = read_world(&mut sections, errors)?;
    let id = read_id(&world, errors);
    let names = world.names?;
    let mut sections = sections.into_iter();
    let intro = read_intro(sections.next()?, errors);
    let (teacher, pages): (Vec<Section>, Vec<Section>) =
        sections.partition(|section| section.heading == "Teacher");
    let teacher = teacher
        .into_iter()
        .flat_map(|section| read_teacher(section, errors))
        .collect();
    let headings: Vec<String> = pages
        .iter()
        .map(|section| section.heading.clone())
        .collect();
    if headings.is_empty() {
        errors.add(
            0,
            "the lesson has no page",
            "begin a page with a line `## What happens`",
        );
    }
    let reader = blocks::Reader {
        names: &names,
        headings: &headings,
    };
    let pages: Vec<Page> = pages
        .into_iter()
        .map(|page| read_page(page, &reader, errors))
        .collect();
    check_whole(&pages, errors);
    let world_place = errors.lines.place(world_offset(text));
    Some(Lesson {
        file: errors.file.clone(),
        id: id?,
        title: title?,
        order: world.order,
        setup: world.setup,
        names,
        seed_reason: world.seed_reason,
        intro,
        pages,
        teacher,
        world_place,
    })
}

fn world_offset(text: &str) -> usize {
    text.find("```world")
        .or_else(|| text.find("~~~world"))
        .unwrap_or(0)
}

/// Takes the one world block out of the sections.
fn read_world(sections: &mut [Section], errors: &mut Errors<'_>) -> Option<world::World> {
    let mut found: Option<world::World> = None;
    for section in sections {
        for item in std::mem::take(&mut section.items) {
            match item {
                Item::Fence(Fence {
                    kind: "world",
                    offset,
                    lines,
                }) => {
                    if found.is_some() {
                        let remedy = "a lesson has one world; change it by commands in `run`";
                        errors.add(offset, "a second `world` block", remedy);
                    } else {
                        found = Some(world::read(&lines, offset, errors));
                    }
                }
                item @ (Item::Prose(_) | Item::Fence(_)) => section.items.push(item),
            }
        }
    }
    if found.is_none() {
        let remedy = "add a fenced block `world` below the title, with at least an id";
        errors.add(0, "the lesson has no `world` block", remedy);
    }
    found
}

fn read_id(world: &world::World, errors: &mut Errors<'_>) -> Option<String> {
    let Some((id, offset)) = &world.id else {
        let remedy = "write id = \"what-happens-here\"; it never changes again";
        errors.add(0, "the `world` block has no id", remedy);
        return None;
    };
    if is_id(id) {
        return Some(id.clone());
    }
    errors.add(
        *offset,
        format!("`{}` is not an id", crate::words::shorten(id)),
        ID_REMEDY,
    );
    None
}

const ID_REMEDY: &str = "write small letters, digits and single hyphens, as in late-write";

fn is_id(text: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    text.len() <= 60 && text.split('-').all(is_part)
}

fn read_intro(section: Section, errors: &mut Errors<'_>) -> Vec<Prose> {
    for mark in &section.marks {
        errors.add(
            mark.offset,
            "marked words before the first page",
            "move them below a ## heading",
        );
    }
    prose_alone(
        section,
        "before the first page",
        "move it below a ## heading",
        errors,
    )
}

fn read_teacher(section: Section, errors: &mut Errors<'_>) -> Vec<Prose> {
    for mark in &section.marks {
        errors.add(
            mark.offset,
            "marked words for teachers",
            "mark words on the lesson's own pages",
        );
    }
    prose_alone(
        section,
        "among the teacher's words",
        "move it to a page before",
        errors,
    )
}

fn prose_alone(section: Section, place: &str, remedy: &str, errors: &mut Errors<'_>) -> Vec<Prose> {
    let mut all = Vec::new();
    for item in section.items {
        match item {
            Item::Prose(prose) => all.push(prose),
            Item::Fence(fence) => {
                errors.add(
                    fence.offset,
                    format!("a `{}` block stands {place}", fence.kind),
                    remedy,
                );
            }
        }
    }
    all
}

fn read_page(section: Section, reader: &blocks::Reader<'_>, errors: &mut Errors<'_>) -> Page {
    if section.heading.is_empty() {
        errors.add(
            section.offset,
            "a page without a heading",
            "write what happens behind the ##",
        );
    }
    let marks = section
        .marks
        .iter()
        .filter_map(|mark| read_mark(mark, reader.names, errors));
    let marks: Vec<Stated> = marks.collect();
    let mut page_blocks = Vec::new();
    for item in section.items {
        let block = match item {
            Item::Prose(prose) => Some(Block::Prose(prose)),
            Item::Fence(fence) => match fence.kind {
                "watch" => Some(Block::Watch(reader.watch(&fence, errors))),
                "run" => Some(Block::Run(reader.run(&fence, errors))),
                "expect" => Some(Block::Expect(reader.expect(&fence, errors))),
                "predict" => reader.predict(&fence, errors).map(Block::Predict),
                _ => reader.goal(&fence, errors).map(Block::Goal),
            },
        };
        page_blocks.extend(block);
    }
    Page {
        heading: section.heading,
        place: errors.lines.place(section.offset),
        blocks: page_blocks,
        marks,
    }
}

fn read_mark(mark: &Mark, names: &Names, errors: &mut Errors<'_>) -> Option<Stated> {
    let place = errors.lines.place(mark.offset);
    let claim = match script::claim(&mark.claim, names) {
        Ok(claim) => claim,
        Err(error) => {
            let place = place.along(error.column - 1);
            errors.add_at(place, error.trouble.what, error.trouble.remedy);
            return None;
        }
    };
    if let Some(number) = blocks::number_without_claim(&mark.words, &mark.claim) {
        let what = format!("the words say {number}, the claim behind them does not");
        errors.add_at(
            place,
            what,
            "make the two agree: a number stands in the claim or in its window",
        );
    }
    Some(Stated {
        claim,
        place,
        negated: false,
    })
}

/// What only shows when the pages are seen together.
fn check_whole(pages: &[Page], errors: &mut Errors<'_>) {
    check_headings(pages, errors);
    let mut ids: Vec<(&str, Place)> = Vec::new();
    let mut has_run = false;
    let mut unanswered: Vec<Place> = Vec::new();
    for page in pages {
        let page_has_run = page
            .blocks
            .iter()
            .any(|block| matches!(block, Block::Run(_)));
        for block in &page.blocks {
            match block {
                Block::Run(_) => {
                    has_run = true;
                    unanswered.clear();
                }
                Block::Expect(claims) if !has_run => no_run_before(claims, errors),
                Block::Predict(predict) => {
                    ids.push((&predict.id, predict.place));
                    unanswered.push(predict.place);
                }
                Block::Goal(goal) => ids.push((&goal.id, goal.place)),
                Block::Prose(_) | Block::Watch(_) | Block::Expect(_) => {}
            }
        }
        if !page_has_run {
            no_run_before(&page.marks, errors);
        }
    }
    for place in unanswered {
        errors.add_at(
            place,
            "no `run` follows this question",
            "add the `run` block that answers it",
        );
    }
    for (at, (id, place)) in ids.iter().enumerate() {
        if ids[..at].iter().any(|(other, _)| other == id) {
            errors.add_at(
                *place,
                format!("the id {id} is used twice"),
                "give each question and goal its own",
            );
        }
    }
}

fn no_run_before(claims: &[Stated], errors: &mut Errors<'_>) {
    for stated in claims
        .iter()
        .filter(|stated| stated.claim.is_about_events())
    {
        let remedy = "put the `run` block that it speaks of before it, or claim a state";
        errors.add_at(
            stated.place,
            "this speaks of what happened, but nothing has run",
            remedy,
        );
    }
}

fn check_headings(pages: &[Page], errors: &mut Errors<'_>) {
    for (at, page) in pages.iter().enumerate() {
        if pages[..at]
            .iter()
            .any(|other| other.heading == page.heading)
        {
            let what = format!(
                "a second page is called `{}`",
                crate::words::shorten(&page.heading)
            );
            errors.add_at(page.place, what, "give each page its own heading");
        }
    }
}
