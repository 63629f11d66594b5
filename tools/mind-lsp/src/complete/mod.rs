//! Completion.

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
use crate::names::{NameKind, Occurrence, Symbol};
use crate::view::View;

/// The cursor with its line.
pub(crate) struct Cursor<'v> {
    pub(crate) view: View<'v>,
    pub(crate) offset: usize,
    /// The line up to the cursor.
    pub(crate) before: &'v str,
}

/// The completions, and the bytes that they replace.
#[derive(Default)]
struct Choices {
    replaced: Range<usize>,
    items: Vec<CompletionItem>,
}

/// The maximal number of completions.
const MOST: usize = 1000;

/// Returns the completions at `offset`.
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
    /// Returns the words before the cursor's word, and the part of that word before the cursor.
    fn words(&self) -> (Vec<&'v str>, &'v str) {
        let partial = self.partial(|letter| !letter.is_whitespace());
        let done = &self.before[..self.before.len() - partial.len()];
        (done.split_whitespace().collect(), partial)
    }

    /// Returns the partial word: the letters before the cursor for which `belongs` holds.
    fn partial(&self, belongs: impl Fn(char) -> bool) -> &'v str {
        let before = self.before.trim_end_matches(belongs);
        &self.before[before.len()..]
    }

    /// Returns the byte range of the partial word.
    fn replaced(&self, partial: &str) -> Range<usize> {
        self.offset - partial.len()..self.offset
    }

    /// Returns the ops of the format.
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

    /// Returns the names of `kind` that are declared above the cursor's line, last first.
    fn declared(&self, kind: NameKind) -> Vec<CompletionItem> {
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
                    Language::Module(Format::Mic2) if kind == NameKind::Value => {
                        symbol.number.to_string()
                    }
                    _ => self.view.spelling(found, symbol),
                };
                self.symbol(label, found, symbol)
            })
            .collect()
    }

    fn symbol(&self, label: String, found: &Occurrence, symbol: Symbol) -> CompletionItem {
        let (kind, detail) = match symbol.kind {
            NameKind::Value => (CompletionItemKind::VARIABLE, self.view.value_type(symbol)),
            NameKind::Type => (CompletionItemKind::STRUCT, Some(self.line_of(found))),
            NameKind::Text => (CompletionItemKind::TEXT, Some(self.line_of(found))),
            _ => (CompletionItemKind::VALUE, None),
        };
        CompletionItem {
            kind: Some(kind),
            detail,
            ..word(label)
        }
    }

    /// Returns the line of a name.
    fn line_of(&self, found: &Occurrence) -> String {
        let lines = &self.view.document.lines;
        let line = lines.line_range(self.view.text(), lines.line(found.range.start));
        self.view.word(&line).trim().to_owned()
    }

    /// Returns the distinct symbolic dimensions of the text, and `?`.
    fn dimensions(&self) -> Vec<CompletionItem> {
        let mut names: Vec<&str> = Vec::new();
        for found in self.view.names().all() {
            let is_dimension = found
                .symbol()
                .is_some_and(|own| own.kind == NameKind::Dimension);
            let name = self.view.word(&found.range);
            if is_dimension && !names.contains(&name) && names.len() < MOST {
                names.push(name);
            }
        }
        names.push("?");
        names.into_iter().map(word).collect()
    }
}

/// Returns the dtypes.
fn dtypes() -> Vec<CompletionItem> {
    let item = |dtype: &DType| CompletionItem {
        kind: Some(CompletionItemKind::TYPE_PARAMETER),
        ..word(dtype.name())
    };
    DType::ALL.iter().map(item).collect()
}

/// Returns the completion of an op under its name in the language.
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

/// Returns the completion of a keyword.
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

/// Returns the attribute keys of an op, each followed by `after`.
fn keys(
    def: &'static OpDef,
    after: &str,
    key: impl Fn(usize) -> Option<&'static str>,
) -> Vec<CompletionItem> {
    let named = (0..def.attrs.len()).filter_map(|at| Some((at, key(at)?)));
    named
        .map(|(at, key)| CompletionItem {
            kind: Some(CompletionItemKind::PROPERTY),
            detail: Some(def.attrs[at].kind.text()),
            insert_text: Some(format!("{key}{after}")),
            ..word(key)
        })
        .collect()
}

/// Returns the innermost open bracket at the end of `text`, with the text before and after it. Strings are skipped.
fn open_bracket(text: &str) -> Option<(char, &str, &str)> {
    let mut open: Vec<(usize, char)> = Vec::new();
    let mut quoted = false;
    let mut last = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' | '<' => open.push((at, letter)),
            // The `->` of MIL is not a bracket.
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
