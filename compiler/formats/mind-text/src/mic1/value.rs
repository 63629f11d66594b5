//! Attribute values as written in a text.

use mind_diag::{Code, Diagnostic};
use mind_ir::Sym;
use mind_ir::attr::{Attr, AttrKind, OPEN_END, Padding};
use mind_ir::opdef::nearest;
use mind_ir::types::{DType, Dim, Shape};
use smallvec::SmallVec;

use super::reader::Reader;
use crate::number::{NumberError, parse_float};
use crate::quoted::read_quoted;
use crate::scan::{Parsed, any_of, excerpt};

/// An owned attribute value.
pub(super) enum Value {
    Int(i64),
    Bool(bool),
    Float(f64),
    Str(Sym),
    Ints(SmallVec<[i64; 6]>),
    Dims(Shape),
    Valid,
    Same,
    Pads([i64; 4]),
    DType(DType),
    Word(&'static str),
}

impl Value {
    /// Returns the value as an attribute.
    pub(super) fn attr(&self) -> Attr<'_> {
        match self {
            Value::Int(value) => Attr::Int(*value),
            Value::Bool(value) => Attr::Bool(*value),
            Value::Float(value) => Attr::float(*value),
            Value::Str(sym) => Attr::Str(*sym),
            Value::Ints(list) => Attr::Ints(list),
            Value::Dims(list) => Attr::Dims(list),
            Value::Valid => Attr::Padding(Padding::Valid),
            Value::Same => Attr::Padding(Padding::Same),
            Value::Pads(pads) => Attr::Padding(Padding::Custom(pads)),
            Value::DType(dtype) => Attr::DType(*dtype),
            Value::Word(word) => Attr::Word(word),
        }
    }
}

/// Reads the value at the cursor.
///
/// # Errors
///
/// Errors if the value is not of `kind` or is not followed by a delimiter.
pub(super) fn read_value(r: &mut Reader<'_>, kind: AttrKind) -> Parsed<Value> {
    let start = r.cursor.at();
    let value = match kind {
        AttrKind::Int => Value::Int(r.int()?),
        AttrKind::Bool => Value::Bool(read_bool(r)?),
        AttrKind::Float => Value::Float(read_float(r, DType::F64)?),
        AttrKind::Str => Value::Str(read_str(r)?),
        AttrKind::Ints => Value::Ints(read_ints(r)?),
        AttrKind::Dims => Value::Dims(read_target(r)?),
        AttrKind::Pad => read_padding(r)?,
        AttrKind::ElementType => Value::DType(read_dtype(r)?),
        AttrKind::Word(words) => Value::Word(read_word(r, words)?),
        AttrKind::LiteralData => return Err(Box::new(r.unexpected(start))),
    };
    if r.cursor.at_delimiter() {
        return Ok(value);
    }
    Err(Box::new(r.unexpected(r.cursor.at())))
}

fn read_bool(r: &mut Reader<'_>) -> Parsed<bool> {
    let start = r.cursor.at();
    match r.cursor.item() {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        word => {
            let found = found(r, start, word);
            let message = format!("expected 0, 1, true or false, found {found}");
            let error = r.cursor.error_at(start, message);
            Err(Box::new(error.help("as in `kd=1`")))
        }
    }
}

fn read_dtype(r: &mut Reader<'_>) -> Parsed<DType> {
    let start = r.cursor.at();
    let word = r.cursor.item();
    DType::parse(word).ok_or_else(|| {
        let names = DType::ALL.iter().map(|dtype| dtype.name());
        not_a_word(r, start, word, &names.collect::<Vec<_>>())
    })
}

fn read_word(r: &mut Reader<'_>, words: &'static [&'static str]) -> Parsed<&'static str> {
    let start = r.cursor.at();
    let word = r.cursor.item();
    let known = words.iter().find(|known| **known == word);
    known
        .copied()
        .ok_or_else(|| not_a_word(r, start, word, words))
}

#[cold]
fn not_a_word(r: &Reader<'_>, start: usize, word: &str, words: &[&'static str]) -> Box<Diagnostic> {
    let message = format!(
        "expected {}, found {}",
        any_of(words),
        found(r, start, word)
    );
    let error = r.cursor.error_at(start, message);
    Box::new(match nearest(word, words.iter().copied()) {
        Some(meant) => error.did_you_mean(meant),
        None => error,
    })
}

/// Describes the `item` read at `start` for a message; if it is empty, the word that follows.
fn found(r: &Reader<'_>, start: usize, item: &str) -> String {
    if item.is_empty() {
        r.cursor.found_at(start)
    } else {
        excerpt(item)
    }
}

/// Reads a float of `dtype`.
///
/// # Errors
///
/// Returns E1005 if it is malformed and E4005 for a finite literal outside the range of `dtype`.
pub(super) fn read_float(r: &mut Reader<'_>, dtype: DType) -> Parsed<f64> {
    let start = r.cursor.at();
    let word = r.cursor.item();
    parse_float(word, dtype).map_err(|problem| {
        let span = if word.is_empty() {
            r.cursor.word_span(start)
        } else {
            r.cursor.span(start)
        };
        let word = found(r, start, word);
        Box::new(match problem {
            NumberError::Malformed => {
                Diagnostic::error(span, format!("expected a number, found {word}"))
                    .code(Code(1005))
                    .context("literal", word)
                    .help("numbers look like 1.5, -2e-3, nan, inf or -inf")
            }
            NumberError::OutOfRange => Diagnostic::error(span, format!("{word} overflows {dtype}"))
                .code(Code(4005))
                .help("write `inf` for infinity, or use a wider dtype")
                .context("literal", word)
                .context("dtype", dtype.name()),
        })
    })
}

fn read_str(r: &mut Reader<'_>) -> Parsed<Sym> {
    let start = r.cursor.at();
    if r.cursor.peek() != b'"' {
        let error = r.cursor.error_at(start, "expected a string in quotes");
        return Err(Box::new(error.help("as in `\"x\"`")));
    }
    let text = read_quoted(&mut r.cursor)?;
    r.intern(&text, start)
}

fn read_ints(r: &mut Reader<'_>) -> Parsed<SmallVec<[i64; 6]>> {
    let mut ints = SmallVec::new();
    expect_list(r, "[1,2]")?;
    r.list(|r| {
        ints.push(r.int()?);
        Ok(())
    })?;
    Ok(ints)
}

/// Reads the target dimensions of a reshape.
fn read_target(r: &mut Reader<'_>) -> Parsed<Shape> {
    let mut dims = Shape::new();
    expect_list(r, "[2,-1]")?;
    r.list(|r| {
        let start = r.cursor.at();
        check_rank(r, dims.len(), start)?;
        let dim = r.dim()?;
        if dim == Dim::Dynamic {
            let span = r.cursor.span(start);
            let error = Diagnostic::error(span, "a target dimension cannot be '?'");
            return Err(Box::new(error.help("use -1 for the extent that is left")));
        }
        dims.push(dim);
        Ok(())
    })?;
    Ok(dims)
}

/// Checks that a shape with `dims` dimensions may have another one, at `start`.
///
/// # Errors
///
/// Errors if the limit is reached.
pub(super) fn check_rank(r: &Reader<'_>, dims: usize, start: usize) -> Parsed<()> {
    if dims < r.limits.dims {
        return Ok(());
    }
    let span = r.cursor.span_of(start, start + 1);
    Err(Box::new(r.limits.rank_error(span)))
}

fn expect_list(r: &Reader<'_>, example: &str) -> Parsed<()> {
    if r.cursor.peek() == b'[' {
        return Ok(());
    }
    Err(Box::new(not_list(r, example)))
}

#[cold]
fn not_list(r: &Reader<'_>, example: &str) -> Diagnostic {
    let at = r.cursor.at();
    let found = r.cursor.found_at(at);
    let message = format!("expected a list such as {example}, found {found}");
    let error = r.cursor.error_at(at, message);
    let integer = |word: &&str| word.parse::<i64>().is_ok();
    let rest = r.cursor.rest_of_line(at);
    let items: Vec<&str> = rest.split([' ', '\t', ',']).take_while(integer).collect();
    let Some(last) = items.last() else {
        return error.help(format!("a list goes in brackets, as in `{example}`"));
    };
    let end = last.as_ptr().addr() - rest.as_ptr().addr() + last.len();
    let list = format!("[{}]", items.join(","));
    let fix = r.cursor.edit(at, end, list.as_str());
    error.help(format!("write `{list}`")).fix(fix)
}

/// Reads `valid`, `same` or `[[top,bottom],[left,right]]`.
fn read_padding(r: &mut Reader<'_>) -> Parsed<Value> {
    let start = r.cursor.at();
    if r.cursor.peek() == b'[' {
        let mut pads: SmallVec<[i64; 4]> = SmallVec::new();
        let mut pairs = true;
        r.list(|r| {
            let before = pads.len();
            if r.cursor.peek() != b'[' {
                pairs = false;
                return r.int().map(drop);
            }
            r.list(|r| {
                pads.push(r.int()?);
                Ok(())
            })?;
            pairs &= pads.len() == before + 2;
            Ok(())
        })?;
        if let (true, &[top, bottom, left, right]) = (pairs, pads.as_slice()) {
            return Ok(Value::Pads([top, bottom, left, right]));
        }
        let span = r.cursor.span(start);
        let error = Diagnostic::error(span, "expected two pairs of pads");
        return Err(Box::new(
            error
                .code(Code(4010))
                .help("as in `p=[[top,bottom],[left,right]]`"),
        ));
    }
    match r.cursor.item() {
        "valid" => Ok(Value::Valid),
        "same" => Ok(Value::Same),
        word => {
            let found = found(r, start, word);
            let error = r.cursor.error_at(start, format!("unknown padding {found}"));
            Err(Box::new(
                error.help("the paddings are valid, same and [[t,b],[l,r]]"),
            ))
        }
    }
}

/// Reads `start:end:step` for one axis; the step may be omitted and the end empty.
pub(super) fn read_range(r: &mut Reader<'_>) -> Parsed<[i64; 3]> {
    let start = r.cursor.at();
    let from = r.cursor.int();
    let colon = r.cursor.eat(b':');
    let to = match r.cursor.peek() {
        b'-' | b'0'..=b'9' => r.cursor.int(),
        _ => Some(OPEN_END),
    };
    let step = if r.cursor.eat(b':') {
        r.cursor.int()
    } else {
        Some(1)
    };
    match (from, colon, to, step) {
        (Some(from), true, Some(to), Some(step)) if r.at_item_end() => Ok([from, to, step]),
        _ => {
            r.cursor.go_to(start);
            let word = r.cursor.item();
            let span = if word.is_empty() {
                r.cursor.word_span(start)
            } else {
                r.cursor.span(start)
            };
            let message = format!("expected start:end:step, found {}", found(r, start, word));
            let error = Diagnostic::error(span, message);
            Err(Box::new(
                error.help("one range per axis, as in `slice N0 0:4:1,2:8:1`"),
            ))
        }
    }
}
