//! What may stand at the cursor.

mod core;
mod mic1;
mod mic2;
mod mil;
mod rules;

use std::ops::Range;

use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, Documentation, MarkupContent,
    MarkupKind, TextEdit,
};
use mind_driver::formats::Format;
use mind_ir::opdef::OpDef;
use mind_ir::types::DType;

use crate::hover;
use crate::language::Language;
use crate::names::{Found, Kind, Symbol};
use crate::view::View;

/// The cursor and the line it stands on.
pub(crate) struct Cursor<'v> {
    pub(crate) view: View<'v>,
    pub(crate) offset: usize,
    /// The line up to the cursor.
    pub(crate) before: &'v str,
}

/// What may stand there, and the bytes it would replace.
#[derive(Default)]
struct Choices {
    replaced: Range<usize>,
    items: Vec<CompletionItem>,
}

/// The most that is offered at once.
const MOST: usize = 1000;

/// What may stand at `offset`.
pub(crate) fn items(view: View<'_>, offset: usize) -> Vec<CompletionItem> {
    let lines = &view.document.lines;
    let line = lines.line_range(view.text(), lines.line(offset));
    let offset = offset.min(line.end).max(line.start);
    let before = view.word(&(line.start..offset));
    if before.contains(view.analysis.language.comment()) {
        return Vec::new();
    }
    let cursor = Cursor {
        view,
        offset,
        before,
    };
    let choices = match view.analysis.language {
        Language::Module(Format::Mic1) => mic1::choices(&cursor),
        Language::Module(Format::Mic2) => mic2::choices(&cursor),
        Language::Module(Format::Core) => core::choices(&cursor),
        Language::Module(Format::Mil | Format::MilPrimer) => mil::choices(&cursor),
        Language::Rules => rules::choices(&cursor),
    };
    let range = view.range(choices.replaced);
    let mut items = choices.items;
    items.truncate(MOST);
    for (rank, item) in items.iter_mut().enumerate() {
        let text = item
            .insert_text
            .take()
            .unwrap_or_else(|| item.label.clone());
        item.text_edit = Some(CompletionTextEdit::Edit(TextEdit::new(range, text)));
        item.sort_text = Some(format!("{rank:04}"));
    }
    items
}

impl<'v> Cursor<'v> {
    /// The words before the one that is being written, and that one.
    fn words(&self) -> (Vec<&'v str>, &'v str) {
        let partial = self.partial(|letter| !letter.is_whitespace());
        let done = &self.before[..self.before.len() - partial.len()];
        (done.split_whitespace().collect(), partial)
    }

    /// What is being written: the letters before the cursor for which `belongs` holds.
    fn partial(&self, belongs: impl Fn(char) -> bool) -> &'v str {
        let before = self.before.trim_end_matches(belongs);
        &self.before[before.len()..]
    }

    /// The bytes of what is being written.
    fn replaced(&self, partial: &str) -> Range<usize> {
        self.offset - partial.len()..self.offset
    }

    /// The ops of the format.
    fn ops(&self) -> Vec<CompletionItem> {
        let Some(format) = self.view.analysis.language.format() else {
            return self
                .view
                .session
                .registry
                .ops()
                .map(|def| op(def.name, def))
                .collect();
        };
        let ops = self.view.session.formats.ops(format).into_iter();
        ops.map(|(word, def)| op(word, def)).collect()
    }

    /// What the text above the cursor's line declares of `kind`, the last first.
    fn declared(&self, kind: Kind) -> Vec<CompletionItem> {
        let line = self.offset - self.before.len();
        let names = self.view.names().all().iter().rev();
        let above = names.filter(|found| found.declares() && found.range.start < line);
        let symbols = above.filter_map(|found| {
            let symbol = found.symbol().filter(|symbol| symbol.kind == kind)?;
            Some((found, symbol))
        });
        symbols
            .take(MOST)
            .map(|(found, symbol)| {
                let label = match self.view.analysis.language {
                    Language::Module(Format::Mic2) if kind == Kind::Value => {
                        symbol.number.to_string()
                    }
                    _ => self.view.spelling(found, symbol),
                };
                self.symbol(label, found, symbol)
            })
            .collect()
    }

    fn symbol(&self, label: String, found: &Found, symbol: Symbol) -> CompletionItem {
        let (kind, detail) = match symbol.kind {
            Kind::Value => (CompletionItemKind::VARIABLE, self.view.value_type(symbol)),
            Kind::Type => (CompletionItemKind::STRUCT, Some(self.line_of(found))),
            Kind::Text => (CompletionItemKind::TEXT, Some(self.line_of(found))),
            _ => (CompletionItemKind::VALUE, None),
        };
        CompletionItem {
            kind: Some(kind),
            detail,
            ..word(label)
        }
    }

    /// The line that a name stands on.
    fn line_of(&self, found: &Found) -> String {
        let lines = &self.view.document.lines;
        let line = lines.line_range(self.view.text(), lines.line(found.range.start));
        self.view.word(&line).trim().to_owned()
    }

    /// The dimensions that the text names, each once, and `?`.
    fn dimensions(&self) -> Vec<CompletionItem> {
        let mut names: Vec<&str> = Vec::new();
        for found in self.view.names().all() {
            let is_dimension = found
                .symbol()
                .is_some_and(|own| own.kind == Kind::Dimension);
            let name = self.view.word(&found.range);
            if is_dimension && !names.contains(&name) && names.len() < MOST {
                names.push(name);
            }
        }
        names.push("?");
        names.into_iter().map(word).collect()
    }
}

/// The dtypes.
fn dtypes() -> Vec<CompletionItem> {
    let item = |dtype: &DType| CompletionItem {
        kind: Some(CompletionItemKind::TYPE_PARAMETER),
        ..word(dtype.name())
    };
    DType::ALL.iter().map(item).collect()
}

/// An op under the word that the language has for it.
fn op(label: &str, def: &'static OpDef) -> CompletionItem {
    let first = def.doc.trim().lines().next().unwrap_or_default().trim();
    CompletionItem {
        kind: Some(CompletionItemKind::FUNCTION),
        detail: Some(first.to_owned()),
        documentation: Some(Documentation::MarkupContent(MarkupContent {
            kind: MarkupKind::Markdown,
            value: hover::op(def),
        })),
        ..word(label)
    }
}

/// A word of the language.
fn keyword(label: &str) -> CompletionItem {
    CompletionItem {
        kind: Some(CompletionItemKind::KEYWORD),
        ..word(label)
    }
}

fn word(label: impl Into<String>) -> CompletionItem {
    CompletionItem {
        label: label.into(),
        ..CompletionItem::default()
    }
}

/// The keys of an op's attributes, which `behind` follows.
fn keys(
    def: &'static OpDef,
    behind: &str,
    key: impl Fn(usize) -> Option<&'static str>,
) -> Vec<CompletionItem> {
    let named = (0..def.attrs.len()).filter_map(|at| Some((at, key(at)?)));
    named
        .map(|(at, key)| CompletionItem {
            kind: Some(CompletionItemKind::PROPERTY),
            detail: Some(def.attrs[at].kind.text()),
            insert_text: Some(format!("{key}{behind}")),
            ..word(key)
        })
        .collect()
}

/// The bracket that is open at the end of `text`, with the text before and after it; strings aside.
fn open_bracket(text: &str) -> Option<(char, &str, &str)> {
    let mut open: Vec<(usize, char)> = Vec::new();
    let mut quoted = false;
    let mut last = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' | '<' => open.push((at, letter)),
            // The arrow of MIL closes nothing.
            '>' if last == '-' => {}
            ')' | ']' | '}' | '>' => {
                open.pop();
            }
            _ => {}
        }
        last = letter;
    }
    let &(at, bracket) = open.last()?;
    Some((bracket, &text[..at], &text[at + 1..]))
}
