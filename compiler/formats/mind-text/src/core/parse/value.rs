//! The value of one attribute.

use std::ops::Range;

use mind_ir::Sym;
use mind_ir::attr::{Attr, OPEN_END, Padding};
use mind_ir::types::{DType, Dim, Shape};
use smallvec::SmallVec;

use super::literal::{skip_data, skip_element};
use super::source::Source;
use super::suggest;
use crate::core::cursor::excerpt;
use crate::core::error::{Parsed, SyntaxError};
use crate::core::table::AttrSyntax;
use crate::number::{NumberError, element_form, parse_float};
use crate::scan::any_of;

/// A value as written; lists are ranges of [`Lists`].
#[derive(Clone, Debug)]
pub(super) enum Written {
    Int(i64),
    Bool(bool),
    Float(f64),
    Name(Sym),
    Ints(Range<usize>),
    Dims(Range<usize>),
    Valid,
    Same,
    Custom([i64; 4]),
    DType(DType),
    Word(&'static str),
    /// The offset of data, which is read once its dtype is known.
    Data(usize),
}

/// The items of the lists of one op.
#[derive(Default)]
pub(super) struct Lists {
    ints: Vec<i64>,
    dims: Vec<Dim>,
}

impl Lists {
    /// Removes all items.
    pub(super) fn clear(&mut self) {
        self.ints.clear();
        self.dims.clear();
    }

    /// Returns the extents of a [`Written::Dims`].
    pub(super) fn dims(&self, range: Range<usize>) -> &[Dim] {
        &self.dims[range]
    }

    /// Reads a value of `form`.
    pub(super) fn read(&mut self, src: &mut Source<'_>, form: AttrSyntax) -> Parsed<Written> {
        Ok(match form {
            AttrSyntax::Int => Written::Int(src.int()?),
            AttrSyntax::Bool => Written::Bool(read_word(src, &suggest::BOOLS)? == "true"),
            AttrSyntax::Role => Written::Bool(read_word(src, &suggest::ROLES)? == "param"),
            AttrSyntax::Word(words) => Written::Word(read_word(src, words)?),
            AttrSyntax::Float(dtype) => Written::Float(read_float(src, dtype)?),
            AttrSyntax::Name => Written::Name(read_name(src)?),
            AttrSyntax::Ints | AttrSyntax::Starts => Written::Ints(self.read_list(src, false)?),
            AttrSyntax::Ends => Written::Ints(self.read_list(src, true)?),
            AttrSyntax::Dims | AttrSyntax::Extents => {
                let mut dims = Shape::new();
                suggest::or_suggest(src, |src| src.dims(&mut dims), suggest::list)?;
                let start = self.dims.len();
                self.dims.extend(dims);
                Written::Dims(start..self.dims.len())
            }
            AttrSyntax::Pad => read_padding(src)?,
            AttrSyntax::DType | AttrSyntax::ElementType => Written::DType(src.dtype()?),
            AttrSyntax::Data => Written::Data(skip_data(&mut src.cursor)?),
            AttrSyntax::Fill => Written::Data(skip_element(&mut src.cursor)?),
        })
    }

    fn read_list(&mut self, src: &mut Source<'_>, open: bool) -> Parsed<Range<usize>> {
        suggest::or_suggest(src, |src| self.read_ints(src, open), suggest::list)
    }

    /// Reads a list of integers; `_` is an open end, if `open` allows it.
    fn read_ints(&mut self, src: &mut Source<'_>, open: bool) -> Parsed<Range<usize>> {
        src.cursor.expect(b'[', "`[` and integers")?;
        let start = self.ints.len();
        src.list(b']', "`,` or `]`", |src| {
            let at = src.cursor.at();
            if open && src.cursor.number() == "_" {
                self.ints.push(OPEN_END);
                return Ok(());
            }
            src.cursor.seek(at);
            self.ints.push(src.int()?);
            Ok(())
        })?;
        Ok(start..self.ints.len())
    }

    /// Reads `[start:end:step, start:]` and returns the starts, ends and steps.
    pub(super) fn read_ranges(&mut self, src: &mut Source<'_>) -> Parsed<[Range<usize>; 3]> {
        src.cursor.expect(b'[', "`[` and ranges")?;
        let mut lists: [SmallVec<[i64; 8]>; 3] = Default::default();
        src.list(b']', "`,` or `]`", |src| {
            let start = src.int()?;
            src.cursor.expect(b':', "`:` and the end of the range")?;
            let end = match src.cursor.peek() {
                b':' | b',' | b']' => OPEN_END,
                _ => src.int()?,
            };
            let step = if src.cursor.eat(b':') { src.int()? } else { 1 };
            for (list, value) in lists.iter_mut().zip([start, end, step]) {
                list.push(value);
            }
            Ok(())
        })?;
        Ok(lists.map(|list| {
            let start = self.ints.len();
            self.ints.extend(list);
            start..self.ints.len()
        }))
    }

    /// Returns `written` as an attribute; `None` for a part of a constant.
    pub(super) fn attr<'a>(&'a self, written: &'a Written) -> Option<Attr<'a>> {
        Some(match written {
            Written::Int(value) => Attr::Int(*value),
            Written::Bool(value) => Attr::Bool(*value),
            Written::Float(value) => Attr::float(*value),
            Written::Name(sym) => Attr::Str(*sym),
            Written::Ints(range) => Attr::Ints(&self.ints[range.clone()]),
            Written::Dims(range) => Attr::Dims(&self.dims[range.clone()]),
            Written::Valid => Attr::Padding(Padding::Valid),
            Written::Same => Attr::Padding(Padding::Same),
            Written::Custom(pads) => Attr::Padding(Padding::Custom(pads)),
            Written::Word(word) => Attr::Word(word),
            Written::DType(dtype) => Attr::DType(*dtype),
            Written::Data(_) => return None,
        })
    }
}

/// Reads one of `words`.
pub(super) fn read_word(
    src: &mut Source<'_>,
    words: &'static [&'static str],
) -> Parsed<&'static str> {
    src.cursor.peek();
    let start = src.cursor.at();
    let found = src.cursor.word()?;
    let known = words.iter().find(|word| found == Some(**word));
    known.copied().ok_or_else(|| {
        src.cursor.seek(start);
        let fault = src.cursor.unexpected(any_of(words));
        suggest::choice(src, start, words, fault)
    })
}

fn read_float(src: &mut Source<'_>, dtype: DType) -> Parsed<f64> {
    let literal = src.cursor.number();
    if literal.is_empty() {
        return Err(src.cursor.unexpected("a number"));
    }
    parse_float(literal, dtype).map_err(|error| match error {
        NumberError::Malformed => src.bad_number(literal, element_form(dtype)),
        NumberError::OutOfRange => {
            let end = src.cursor.at();
            let error = SyntaxError::Element {
                literal: excerpt(literal),
                dtype,
            };
            error.at(end - literal.len(), end)
        }
    })
}

fn read_name(src: &mut Source<'_>) -> Parsed<Sym> {
    let quoted = src.cursor.peek() == b'"';
    let start = src.cursor.at();
    if quoted {
        let name = src.cursor.string()?;
        return src.intern(&name, start);
    }
    match src.cursor.word()? {
        Some(name) => src.intern(name, start),
        None => {
            let fault = src
                .cursor
                .unexpected("a name, in quotes unless it is an identifier");
            Err(suggest::quoted(src, fault.start, fault))
        }
    }
}

/// Reads `valid`, `same`, `[[t, b], [l, r]]` or `Custom([[t, b], [l, r]])`.
fn read_padding(src: &mut Source<'_>) -> Parsed<Written> {
    const EXPECTED: &str = "`valid`, `same` or `[[top, bottom], [left, right]]`";
    if src.cursor.peek() == b'[' {
        return Ok(Written::Custom(read_pads(src)?));
    }
    let start = src.cursor.at();
    match src.cursor.word()? {
        Some("valid" | "Valid") => Ok(Written::Valid),
        Some("same" | "Same") => Ok(Written::Same),
        Some("custom" | "Custom") => {
            src.cursor.expect(b'(', "`(` and the pads")?;
            let pads = read_pads(src)?;
            src.cursor.expect(b')', "`)`")?;
            Ok(Written::Custom(pads))
        }
        _ => {
            src.cursor.seek(start);
            Err(src.cursor.unexpected(EXPECTED))
        }
    }
}

fn read_pads(src: &mut Source<'_>) -> Parsed<[i64; 4]> {
    const EXPECTED: &str = "two pairs, `[[top, bottom], [left, right]]`";
    let mut pads = [0; 4];
    src.cursor.expect(b'[', EXPECTED)?;
    for (side, pair) in pads.chunks_mut(2).enumerate() {
        if side > 0 {
            src.cursor.expect(b',', EXPECTED)?;
        }
        src.cursor.expect(b'[', EXPECTED)?;
        pair[0] = src.int()?;
        src.cursor.expect(b',', EXPECTED)?;
        pair[1] = src.int()?;
        src.cursor.eat(b',');
        src.cursor.expect(b']', EXPECTED)?;
    }
    src.cursor.eat(b',');
    src.cursor.expect(b']', EXPECTED)?;
    Ok(pads)
}
