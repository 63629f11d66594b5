//! Parses constants.

use mind_diag::{Code, Diagnostic};
use mind_ir::types::{DType, Dim};

use super::reader::Reader;
use super::types::ty;
use crate::mil::Parsed;
use crate::mil::float::parse_hex;
use crate::mil::lex::{Kind, Token};
use crate::mil::spelling::Spelling;
use crate::mil::syntax::{Typed, Value};
use crate::mil::types::{Type, text};
use mind_mil::Element;
use mind_text::number::read_element;

/// Parses a type followed by a value in parentheses.
pub(super) fn typed(reader: &mut Reader<'_>) -> Parsed<Typed> {
    let start = reader.peek().span;
    let ty = ty(reader)?;
    reader.mark(b'(')?;
    let value = value(reader, &ty)?;
    let end = reader.mark(b')')?;
    let span = mind_diag::Span::new(start.start, end.end);
    Ok(Typed { ty, value, span })
}

fn value(reader: &mut Reader<'_>, ty: &Type) -> Parsed<Value> {
    let Type::Tensor { element, shape } = ty else {
        let message = format!("a value of type {} cannot stand here", text(ty));
        return Err(Box::new(Diagnostic::error(reader.peek().span, message)));
    };
    if reader.at_word("BLOBFILE") {
        return blob(reader);
    }
    if *element == Element::String {
        let token = reader.peek();
        if token.kind != Kind::Text || !shape.is_empty() {
            return reader.expected("one string in quotes");
        }
        reader.bump();
        return Ok(Value::Text(token.text.to_owned()));
    }
    let wanted: Option<Vec<usize>> = shape
        .iter()
        .map(|dim| match dim {
            Dim::Fixed(extent) => usize::try_from(*extent).ok(),
            _ => None,
        })
        .collect();
    let Some(wanted) = wanted else {
        let message = format!("the shape of a constant is not known: {}", text(ty));
        return Err(Box::new(Diagnostic::error(reader.peek().span, message)));
    };
    let start = reader.peek().span;
    let mut list = List {
        element: *element,
        shape: &wanted,
        bytes: Vec::new(),
        count: 0,
    };
    if wanted.is_empty() {
        list.element(reader)?
    } else {
        list.level(reader, 0)?
    }
    let total = wanted
        .iter()
        .try_fold(1usize, |all, &extent| all.checked_mul(extent));
    if total != Some(list.count) {
        let message = format!(
            "{} holds {} elements, found {}",
            text(ty),
            total.unwrap_or(0),
            list.count
        );
        let error = Diagnostic::error(start, message).code(Code(4005));
        return Err(Box::new(error.help(
            "write as many elements as the type holds, or change its shape",
        )));
    }
    Ok(Value::Elements {
        count: list.count,
        bytes: list.bytes,
    })
}

/// Parser state of a list of elements.
struct List<'s> {
    element: Element,
    shape: &'s [usize],
    bytes: Vec<u8>,
    count: usize,
}

impl List<'_> {
    /// Parses the entries of a list at `depth`: nested lists down to the last dimension, or all elements in one flat
    /// list.
    fn level(&mut self, reader: &mut Reader<'_>, depth: usize) -> Parsed<()> {
        let open = reader.mark(b'[')?;
        let nested = reader.at(b'[');
        if nested && depth + 1 >= self.shape.len() {
            return reader.expected("an element");
        }
        let before = self.count;
        let mut entries = 0usize;
        while !reader.at(b']') {
            if entries > 0 {
                reader.mark(b',')?;
            }
            if nested {
                self.level(reader, depth + 1)?
            } else {
                self.element(reader)?
            }
            entries += 1;
        }
        reader.bump();
        let flat = !nested && depth == 0;
        let full = entries == self.shape[depth] && (nested || depth + 1 == self.shape.len());
        if full || flat {
            return Ok(());
        }
        let found = self.count - before;
        let expected = self.shape[depth];
        let message = format!(
            "a list at depth {depth} has {entries} entries and {found} elements, its dimension {expected}"
        );
        let error = Diagnostic::error(open, message).code(Code(3010));
        let help =
            format!("each list at depth {depth} has {expected} entries; or change the shape");
        Err(Box::new(error.help(help)))
    }

    fn element(&mut self, reader: &mut Reader<'_>) -> Parsed<()> {
        let token = reader.peek();
        if !matches!(token.kind, Kind::Number | Kind::Word) {
            return reader.expected("an element");
        }
        reader.bump();
        self.count += 1;
        let dtype = self.element.carrier();
        if dtype.is_float() {
            return self.float(token, dtype, reader.spelling);
        }
        if let Some((least, most)) = self.element.range() {
            let value = token.text.parse::<i128>().ok();
            if !value.is_some_and(|value| (least..=most).contains(&value)) {
                let help = format!("{} holds {least} to {most}", self.element.name());
                return Err(Box::new(self.malformed(token).help(help)));
            }
        }
        read_element(token.text, dtype, &mut self.bytes)
            .map_err(|_| Box::new(self.malformed(token)))
    }

    fn float(&mut self, token: Token<'_>, dtype: DType, spelling: Spelling) -> Parsed<()> {
        let hex = token.text.trim_start_matches(['-', '+']).starts_with("0x");
        let exponent = token.text.contains(['p', 'P', '.']);
        let bits = match (hex, exponent, spelling) {
            (true, false, Spelling::Primer) if dtype == DType::F16 => {
                let digits = token.text.strip_prefix("0x").unwrap_or("");
                u64::from_str_radix(digits, 16)
                    .ok()
                    .filter(|bits| *bits <= 0xffff)
            }
            (true, false, _) => {
                let help = "bits are read with `--from mil-primer`; a number is `0x1p+0`";
                let message = format!("`{}` may be a number or the bits of one", token.text);
                let error = Diagnostic::error(token.span, message).code(Code(1005));
                return Err(Box::new(error.help(help)));
            }
            (true, true, _) => parse_hex(token.text, dtype),
            (false, ..) => {
                return match read_element(token.text, dtype, &mut self.bytes) {
                    Ok(()) => Ok(()),
                    Err(_) => Err(Box::new(self.malformed(token))),
                };
            }
        };
        let Some(bits) = bits else {
            return Err(Box::new(self.malformed(token)));
        };
        let bytes = bits.to_ne_bytes();
        let size = dtype.size();
        let at = if cfg!(target_endian = "big") {
            bytes.len() - size
        } else {
            0
        };
        self.bytes.extend_from_slice(&bytes[at..][..size]);
        Ok(())
    }

    fn malformed(&self, token: Token<'_>) -> Diagnostic {
        let message = format!("{} is not a valid {}", token.shown(), self.element.name());
        let error = Diagnostic::error(token.span, message).code(Code(1005));
        error.help(format!(
            "write an element that {} can hold",
            self.element.name()
        ))
    }
}

/// Parses `BLOBFILE(path = string(".."), offset = uint64(64))`, or the primer's `(@path="..", offset=64)`.
fn blob(reader: &mut Reader<'_>) -> Parsed<Value> {
    let start = reader.bump().span;
    reader.mark(b'(')?;
    if reader.at(b'@') && reader.spelling == Spelling::Compiler {
        let error = Diagnostic::error(reader.peek().span, "`@path` is the primer's spelling");
        let help = "write `path = string(\"..\")`, or read it with `--from mil-primer`";
        return Err(Box::new(error.help(help)));
    }
    reader.eat(b'@');
    reader.keyword("path")?;
    reader.mark(b'=')?;
    let path = match reader.peek().kind {
        Kind::Text => reader.bump().text.to_owned(),
        _ => match typed(reader)?.value {
            Value::Text(path) => path,
            _ => return reader.expected("a path before it"),
        },
    };
    reader.mark(b',')?;
    reader.keyword("offset")?;
    reader.mark(b'=')?;
    let offset = match reader.peek().kind {
        Kind::Number => reader.bump().text.parse::<i64>().ok(),
        _ => match typed(reader)?.value {
            Value::Elements { bytes, .. } => {
                let bytes: Result<[u8; 8], _> = bytes.try_into();
                bytes
                    .ok()
                    .and_then(|bytes| i64::try_from(u64::from_ne_bytes(bytes)).ok())
            }
            _ => None,
        },
    };
    let end = reader.mark(b')')?;
    match offset {
        Some(offset @ 0..) => Ok(Value::Blob { path, offset }),
        _ => {
            let span = mind_diag::Span::new(start.start, end.end);
            let error = Diagnostic::error(span, "the offset is not a `uint64`").code(Code(1005));
            Err(Box::new(error.help("as in `offset = uint64(64)`")))
        }
    }
}
