//! The attributes of an op.

use std::ops::Range;

use mind_ir::attr::{Attr, Literal};
use mind_ir::types::Dim;
use smallvec::SmallVec;

use super::source::Source;
use super::value::{Lists, Written};
use crate::core::cursor::excerpt;
use crate::core::error::{Fault, Parsed, SyntaxError};
use crate::core::table::{AttrSyntax, Key, OpSyntax};
use crate::source_map::{Entity, Role};

/// The attributes written for one op. Reused from op to op.
#[derive(Default)]
pub(super) struct Attributes {
    /// The value of each key of the op, with its start and end.
    written: Vec<Option<(Written, Range<usize>)>>,
    lists: Lists,
}

impl Attributes {
    /// Clears everything, for an op with `keys` keys.
    pub(super) fn start(&mut self, keys: usize) {
        self.written.clear();
        self.written.resize(keys, None);
        self.lists.clear();
    }

    /// Returns the value of the op's first key of `form`, and its start and end.
    pub(super) fn of_form(
        &self,
        op: &OpSyntax,
        form: AttrSyntax,
    ) -> Option<(&Written, &Range<usize>)> {
        let at = op.keys.iter().position(|key| key.form == form)?;
        self.written[at]
            .as_ref()
            .map(|(written, place)| (written, place))
    }

    /// Returns the extents in `written`; empty for anything but a list of extents.
    pub(super) fn extents(&self, written: &Written) -> &[Dim] {
        match written {
            Written::Dims(range) => self.lists.dims(range.clone()),
            _ => &[],
        }
    }

    /// Reads the attributes in braces, after the opening brace.
    pub(super) fn read_braces(&mut self, src: &mut Source<'_>, op: &OpSyntax) -> Parsed<()> {
        src.list(b'}', "`,` or `}`", |src| {
            let Some(name) = src.cursor.word()? else {
                return Err(src.cursor.unexpected("the name of an attribute"));
            };
            let start = src.cursor.at() - name.len();
            let Some(at) = op.key(name) else {
                return Err(unknown_key(op, name, src.suggest).at(start, src.cursor.at()));
            };
            let attribute = Entity::Attr(op.def, Some(op.keys[at].row));
            src.note(start, attribute, Role::Reference);
            if !src.cursor.eat(b'=') && !src.cursor.eat(b':') {
                return Err(src.cursor.unexpected("`=` or `:`"));
            }
            let written = self.lists.read(src, op.keys[at].form)?;
            self.give(src, op, at, written, start)
        })
    }

    /// Reads argument `index` after the operands in parentheses, and returns the index of the next argument. Ranges set
    /// three attributes, for example `starts`, `ends` and `steps` of a slice.
    pub(super) fn read_argument(
        &mut self,
        src: &mut Source<'_>,
        op: &OpSyntax,
        index: usize,
    ) -> Parsed<usize> {
        src.cursor.peek();
        let start = src.cursor.at();
        let Some(at) = op.positional().nth(index) else {
            return Err(surplus(src, op));
        };
        let form = op.keys[at].form;
        if form == AttrSyntax::Starts && looks_like_ranges(src) {
            for (offset, list) in self.lists.read_ranges(src)?.into_iter().enumerate() {
                self.give(src, op, at + offset, Written::Ints(list), start)?;
            }
            return Ok(index + 3);
        }
        let written = if src.cursor.peek().is_ascii_lowercase() && op_has_key_here(src, op) {
            return Err(surplus(src, op));
        } else {
            self.lists.read(src, form)?
        };
        self.give(src, op, at, written, start)?;
        Ok(index + 1)
    }

    fn give(
        &mut self,
        src: &Source<'_>,
        op: &OpSyntax,
        at: usize,
        written: Written,
        start: usize,
    ) -> Parsed<()> {
        match &mut self.written[at] {
            Some(_) => {
                let key = op.keys[at].name.to_owned();
                Err(SyntaxError::RepeatedKey { key }.at(start, src.cursor.at()))
            }
            empty => {
                *empty = Some((written, start..src.cursor.at()));
                Ok(())
            }
        }
    }

    /// Returns the attributes in the order of the op's table entry, with defaults.
    ///
    /// # Errors
    ///
    /// Errors if an attribute without default is missing.
    pub(super) fn values<'a>(
        &'a self,
        op: &OpSyntax,
        name: &Range<usize>,
        literal: Option<&'a Literal<'a>>,
    ) -> Parsed<SmallVec<[Attr<'a>; 4]>> {
        let mut values = SmallVec::new();
        for (key, written) in op.keys.iter().zip(&self.written) {
            match (key.form, written) {
                (AttrSyntax::ElementType | AttrSyntax::Extents | AttrSyntax::Fill, _) => {}
                (AttrSyntax::Data, _) => values.extend(literal.map(Attr::Literal)),
                (_, Some((written, _))) => values.extend(self.lists.attr(written)),
                (_, None) => values.push(default(op, key, name)?),
            }
        }
        Ok(values)
    }
}

fn default(op: &OpSyntax, key: &Key, name: &Range<usize>) -> Parsed<Attr<'static>> {
    op.def.attrs[key.row].default.ok_or_else(|| {
        let interface = op.def.has(mind_ir::opdef::Trait::Interface);
        let missing = SyntaxError::MissingKey {
            op: op.name,
            key: key.name,
            interface,
        };
        missing.at(name.start, name.end)
    })
}

fn unknown_key(op: &OpSyntax, name: &str, suggest: bool) -> SyntaxError {
    let names = || op.sorted.iter().map(|&at| op.keys[at].name);
    let nearest = if suggest {
        mind_ir::opdef::nearest(name, names())
    } else {
        None
    };
    let keys = names()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    SyntaxError::UnknownKey {
        op: op.name,
        key: excerpt(name),
        nearest,
        keys,
    }
}

/// Returns the error for an argument in parentheses that has no attribute.
fn surplus(src: &mut Source<'_>, op: &OpSyntax) -> Box<Fault> {
    let (start, end) = src.cursor.token();
    let names: Vec<_> = op
        .positional()
        .map(|at| format!("`{}`", op.keys[at].name))
        .collect();
    let attributes = if names.is_empty() {
        "no attribute".to_owned()
    } else {
        names.join(", ")
    };
    let found = excerpt(&src.cursor.text()[start..end]);
    if names.is_empty() && found.parse::<f64>().is_ok() {
        return SyntaxError::NumberOperand { op: op.name, found }.at(start, end);
    }
    SyntaxError::SurplusArgument {
        op: op.name,
        attributes,
        found,
    }
    .at(start, end)
}

/// Returns whether the next word is one of the op's keys followed by `=` or `:`, which belongs in braces.
fn op_has_key_here(src: &mut Source<'_>, op: &OpSyntax) -> bool {
    let start = src.cursor.at();
    let word = src.cursor.word().ok().flatten();
    let named =
        word.is_some_and(|word| op.key(word).is_some()) && matches!(src.cursor.peek(), b'=' | b':');
    src.cursor.seek(start);
    named
}

/// Returns whether the next list holds ranges: its first item has a colon, or it is empty and the last argument.
fn looks_like_ranges(src: &mut Source<'_>) -> bool {
    let start = src.cursor.at();
    let opened = src.cursor.eat(b'[');
    let ranges = match src.cursor.number() {
        "" => src.cursor.eat(b']') && src.cursor.peek() != b',',
        _ => src.cursor.peek() == b':',
    };
    src.cursor.seek(start);
    opened && ranges
}
