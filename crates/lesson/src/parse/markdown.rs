//! From Markdown to sections, prose and fenced blocks with their lines; nothing of their meaning
//! yet.
//!
//! The mail sorter: envelopes by kind into pigeonholes, unopened. What a page cannot show (HTML,
//! pictures, tables, deep nesting) is said here.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Parser, Tag, TagEnd};

use crate::lesson::{Inline, Prose};
use crate::place::nearest;

use super::Errors;

/// The kinds of fenced blocks that mean something to a lesson.
pub(super) const KINDS: &[&str] = &["world", "watch", "run", "expect", "predict", "goal"];

/// Prose nested deeper than this is a mistake.
const DEPTH_MAX: usize = 10;

/// Everything under one heading.
#[derive(Debug, Default)]
pub(super) struct Section {
    /// Empty before the first `##`.
    pub(super) heading: String,
    pub(super) offset: usize,
    pub(super) items: Vec<Item>,
    /// Claims behind marked words, with where they stand and the words themselves.
    pub(super) marks: Vec<Mark>,
}

#[derive(Debug)]
pub(super) enum Item {
    Prose(Prose),
    Fence(Fence),
}

#[derive(Debug)]
pub(super) struct Mark {
    pub(super) claim: String,
    pub(super) offset: usize,
    pub(super) words: String,
}

/// A fenced block with a known kind.
#[derive(Debug)]
pub(super) struct Fence {
    pub(super) kind: &'static str,
    pub(super) offset: usize,
    pub(super) lines: Vec<Line>,
}

#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) offset: usize,
    pub(super) text: String,
}

/// The document: its title, what stands before the first page, and the sections.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) title: Option<String>,
    pub(super) sections: Vec<Section>,
}

#[derive(Debug)]
enum Kind {
    Paragraph,
    Heading(HeadingLevel),
    List(Option<u64>),
    Item,
    Quote,
    Emphasis,
    Strong,
    Link {
        to: String,
        title: String,
    },
    Code {
        language: String,
    },
    Fence(&'static str),
    /// Its contents are dropped.
    Nothing,
}

#[derive(Debug)]
struct Frame {
    kind: Kind,
    range: Range<usize>,
    inlines: Vec<Inline>,
    proses: Vec<Prose>,
    lines: Vec<Line>,
}

struct Reader<'a, 'e> {
    text: &'a str,
    errors: &'e mut Errors<'a>,
    document: Document,
    stack: Vec<Frame>,
    /// How many frames too deep.
    too_deep: usize,
}

pub(super) fn read<'a>(text: &'a str, errors: &mut Errors<'a>) -> Document {
    let mut reader = Reader {
        text,
        errors,
        document: Document {
            title: None,
            sections: vec![Section::default()],
        },
        stack: Vec::new(),
        too_deep: 0,
    };
    for (event, range) in Parser::new(text).into_offset_iter() {
        reader.event(event, range);
    }
    reader.document
}

impl Reader<'_, '_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(end) => self.end(end),
            Event::Text(text) => self.text(&text, range),
            Event::Code(code) => self.inline(Inline::Code(code.to_string())),
            Event::SoftBreak => self.inline(Inline::Text(" ".to_owned())),
            Event::HardBreak => self.inline(Inline::Break),
            Event::Html(html) | Event::InlineHtml(html) => {
                let is_comment = self.stack.iter().any(|f| matches!(f.kind, Kind::Nothing));
                let is_told = html.starts_with("<!--") || html.starts_with("</");
                if !is_comment && !is_told {
                    self.unsupported(range.start, "HTML", "write it in Markdown");
                }
            }
            Event::Rule => {}
            Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => {
                self.unsupported(range.start, "this", "write it as plain prose");
            }
        }
    }

    fn unsupported(&mut self, offset: usize, what: &str, remedy: &str) {
        self.errors
            .add(offset, format!("{what} is not shown by the page"), remedy);
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        if self.stack.len() >= DEPTH_MAX || self.too_deep > 0 {
            if self.too_deep == 0 {
                let remedy = "say it with fewer lists and quotes inside each other";
                self.errors
                    .add(range.start, "this is nested too deeply", remedy);
            }
            self.too_deep += 1;
            return;
        }
        let kind = match tag {
            Tag::Paragraph => Kind::Paragraph,
            Tag::Heading { level, .. } => Kind::Heading(level),
            Tag::BlockQuote(_) => Kind::Quote,
            Tag::CodeBlock(CodeBlockKind::Indented) => Kind::Code {
                language: String::new(),
            },
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => self.fence(&info, &range),
            Tag::List(start) => Kind::List(start),
            Tag::Item => Kind::Item,
            Tag::Emphasis => Kind::Emphasis,
            Tag::Strong => Kind::Strong,
            Tag::Link {
                dest_url, title, ..
            } => Kind::Link {
                to: dest_url.to_string(),
                title: title.to_string(),
            },
            Tag::HtmlBlock => {
                if !self.text[range.clone()].trim_start().starts_with("<!--") {
                    self.unsupported(range.start, "HTML", "write it in Markdown");
                }
                Kind::Nothing
            }
            Tag::Image { .. } => {
                self.unsupported(
                    range.start,
                    "a picture",
                    "let the world show it, or say it in words",
                );
                Kind::Nothing
            }
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Table(_)
            | Tag::TableHead
            | Tag::TableRow
            | Tag::TableCell
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {
                self.unsupported(range.start, "this", "write it as plain prose");
                Kind::Nothing
            }
        };
        self.stack.push(Frame {
            kind,
            range,
            inlines: Vec::new(),
            proses: Vec::new(),
            lines: Vec::new(),
        });
    }

    /// A fence of the lesson's own kinds, or plain code.
    fn fence(&mut self, info: &str, range: &Range<usize>) -> Kind {
        let word = info.split_whitespace().next().unwrap_or("");
        let source = &self.text[range.clone()];
        let mark = source.trim_start().chars().next().unwrap_or('`');
        let last = source.trim_end().rsplit('\n').next().unwrap_or("").trim();
        let is_closed = source.contains('\n') && last.len() >= 3 && last.chars().all(|c| c == mark);
        if !is_closed {
            let remedy = format!("end it with {}", mark.to_string().repeat(3));
            self.errors
                .add(range.start, "the block never closes", remedy);
        }
        let Some(kind) = KINDS.iter().find(|kind| **kind == word) else {
            if let Some(near) = nearest(word, KINDS.iter().copied()) {
                let what = format!("`{word}` is not a kind of block");
                self.errors
                    .add(range.start, what, format!("did you mean `{near}`?"));
            }
            return Kind::Code {
                language: word.to_owned(),
            };
        };
        if !self.stack.is_empty() {
            let what = format!("the `{kind}` block stands inside a list or quote");
            self.errors.add(
                range.start,
                what,
                "begin it at the start of a line of its own",
            );
            return Kind::Nothing;
        }
        Kind::Fence(kind)
    }

    fn text(&mut self, text: &str, range: Range<usize>) {
        if self.too_deep > 0 {
            return;
        }
        let in_code = self
            .stack
            .last()
            .is_some_and(|frame| matches!(frame.kind, Kind::Code { .. } | Kind::Fence(_)));
        if !in_code {
            return self.inline(Inline::Text(text.to_owned()));
        }
        let frame = self.stack.last_mut().expect("it was just looked at");
        let mut offset = range.start;
        for piece in text.split_inclusive('\n') {
            let is_new = frame
                .lines
                .last()
                .is_none_or(|line| line.text.ends_with('\n'));
            if is_new {
                frame.lines.push(Line {
                    offset,
                    text: String::new(),
                });
            }
            frame
                .lines
                .last_mut()
                .expect("there is one now")
                .text
                .push_str(piece);
            offset += piece.len();
        }
    }

    fn inline(&mut self, inline: Inline) {
        if self.too_deep > 0 {
            return;
        }
        let Some(frame) = self.stack.last_mut() else {
            return;
        };
        match (frame.inlines.last_mut(), inline) {
            (Some(Inline::Text(before)), Inline::Text(text)) => before.push_str(&text),
            (_, inline) => frame.inlines.push(inline),
        }
    }

    fn prose(&mut self, prose: Prose) {
        match self.stack.last_mut() {
            Some(frame) => {
                frame.flush();
                frame.proses.push(prose);
            }
            None => self.section().items.push(Item::Prose(prose)),
        }
    }

    fn section(&mut self) -> &mut Section {
        self.document
            .sections
            .last_mut()
            .expect("there is one from the beginning")
    }

    fn end(&mut self, _: TagEnd) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        let Some(mut frame) = self.stack.pop() else {
            return;
        };
        let offset = frame.range.start;
        let inlines = std::mem::take(&mut frame.inlines);
        match frame.kind {
            Kind::Paragraph => self.prose(Prose::Paragraph(inlines)),
            Kind::Heading(level) => self.heading(level, inlines, offset),
            Kind::List(start) => {
                let items = frame.proses.into_iter().map(|prose| match prose {
                    Prose::Quote(inner) => inner,
                    other @ (Prose::Heading(_)
                    | Prose::Paragraph(_)
                    | Prose::List { .. }
                    | Prose::Code { .. }) => vec![other],
                });
                let items = items.collect();
                self.prose(Prose::List { start, items });
            }
            Kind::Item => {
                frame.inlines = inlines;
                frame.flush();
                // Until the list ends, an item is kept as a quote: a list's frame holds nothing
                // else.
                self.prose(Prose::Quote(frame.proses));
            }
            Kind::Quote => {
                frame.inlines = inlines;
                frame.flush();
                self.prose(Prose::Quote(frame.proses));
            }
            Kind::Emphasis => self.inline(Inline::Emphasis(inlines)),
            Kind::Strong => self.inline(Inline::Strong(inlines)),
            Kind::Link { to, title } => self.link(to, title, inlines, frame.range),
            Kind::Code { language } => {
                let text: String = frame.lines.into_iter().map(|line| line.text).collect();
                self.prose(Prose::Code { language, text });
            }
            Kind::Fence(kind) => {
                let mut lines = frame.lines;
                for line in &mut lines {
                    let kept = line.text.trim_end().len();
                    line.text.truncate(kept);
                }
                self.section().items.push(Item::Fence(Fence {
                    kind,
                    offset,
                    lines,
                }));
            }
            Kind::Nothing => {}
        }
    }

    fn heading(&mut self, level: HeadingLevel, inlines: Vec<Inline>, offset: usize) {
        let plain = plain(&inlines);
        match level {
            _ if !self.stack.is_empty() => self.prose(Prose::Heading(inlines)),
            HeadingLevel::H1 if self.document.title.is_none() => self.document.title = Some(plain),
            HeadingLevel::H1 => {
                let what = "a second # heading";
                self.errors
                    .add(offset, what, "a lesson has one title; write ## for a page");
            }
            HeadingLevel::H2 => self.document.sections.push(Section {
                heading: plain,
                offset,
                ..Section::default()
            }),
            HeadingLevel::H3 | HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => {
                self.prose(Prose::Heading(inlines));
            }
        }
    }

    /// `[token 2](# "B holds orders with token 2")` is marked words; anything else is a link.
    fn link(&mut self, to: String, title: String, text: Vec<Inline>, range: Range<usize>) {
        if to != "#" || title.is_empty() {
            return self.inline(Inline::Link { to, text });
        }
        let source = &self.text[range.clone()];
        let within = source.rfind(&title).unwrap_or(0);
        let mark = Mark {
            claim: title,
            offset: range.start + within,
            words: plain(&text),
        };
        let section = self.section();
        let at = section.marks.len();
        section.marks.push(mark);
        self.inline(Inline::Mark { mark: at, text });
    }
}

impl Frame {
    /// Loose words become a paragraph, so that what follows comes after them.
    fn flush(&mut self) {
        if !self.inlines.is_empty() {
            let inlines = std::mem::take(&mut self.inlines);
            self.proses.push(Prose::Paragraph(inlines));
        }
    }
}

/// The words alone.
pub(super) fn plain(inlines: &[Inline]) -> String {
    let mut all = String::new();
    for inline in inlines {
        match inline {
            Inline::Text(text) | Inline::Code(text) => all.push_str(text),
            Inline::Emphasis(inner) | Inline::Strong(inner) => all.push_str(&plain(inner)),
            Inline::Link { text, .. } | Inline::Mark { text, .. } => all.push_str(&plain(text)),
            Inline::Break => all.push(' '),
        }
    }
    all.trim().to_owned()
}
