//! The data of a constant.

use mind_ir::types::{DType, Dim};
use smallvec::SmallVec;

use crate::core::cursor::{Cursor, excerpt};
use crate::core::error::{MAX_NESTING, Parsed, SyntaxError};
use crate::number::{NumberError, element_form, read_element};

/// Nesting of the lists of a constant's data.
#[derive(Debug)]
pub(super) struct Nesting {
    /// The length of the lists at each level, outermost first; empty for a single element.
    pub(super) extents: SmallVec<[usize; 4]>,
    /// Number of elements.
    pub(super) count: usize,
}

impl Nesting {
    /// Returns whether the nesting matches `shape`: exactly, or as a single list of all elements, whose length is
    /// checked elsewhere.
    pub(super) fn fits(&self, shape: &[Dim]) -> bool {
        let same = |(&extent, dim): (&usize, &Dim)| match *dim {
            Dim::Fixed(expected) => usize::try_from(expected) == Ok(extent),
            Dim::Symbol(_) | Dim::Dynamic => true,
        };
        match self.extents.len() {
            1 => true,
            rank => rank == shape.len() && self.extents.iter().zip(shape).all(same),
        }
    }

    /// Returns the extents as text, for example `[2, 1]`.
    pub(super) fn text(&self) -> String {
        format!("{:?}", self.extents.as_slice())
    }
}

/// Skips the next data, a single element or nested lists, and returns its offset.
///
/// # Errors
///
/// Errors for brackets that do not match on this line, or are nested too deeply.
pub(super) fn skip_data(cursor: &mut Cursor<'_>) -> Parsed<usize> {
    if cursor.peek() != b'[' {
        return skip_element(cursor);
    }
    let start = cursor.at();
    let mut depth = 0;
    loop {
        match cursor.peek() {
            b'[' if depth == MAX_NESTING => {
                let at = cursor.at();
                return Err(SyntaxError::Depth { what: "lists" }.at(at, at + 1));
            }
            b'[' => depth += 1,
            b']' => depth -= 1,
            b',' => {}
            _ => {
                if cursor.number().is_empty() {
                    return Err(cursor.unexpected("an element, `,` or `]`"));
                }
                continue;
            }
        }
        cursor.seek(cursor.at() + 1);
        if depth == 0 {
            return Ok(start);
        }
    }
}

/// Skips the next element and returns its offset.
pub(super) fn skip_element(cursor: &mut Cursor<'_>) -> Parsed<usize> {
    let element = cursor.number();
    if element.is_empty() {
        Err(cursor.unexpected("an element or `[`"))
    } else {
        Ok(cursor.at() - element.len())
    }
}

/// Reads elements of `dtype` at the cursor into `bytes`. The brackets have been checked by [`skip_data`].
///
/// # Errors
///
/// Returns E1005 or E4005 for an element, and E3010 for lists of unequal length or depth, whose message shows the shape
/// `declared`.
pub(super) fn read_data(
    cursor: &mut Cursor<'_>,
    dtype: DType,
    declared: &dyn Fn() -> String,
    bytes: &mut Vec<u8>,
) -> Parsed<Nesting> {
    let mut lengths: SmallVec<[Option<usize>; 4]> = SmallVec::new();
    let mut open: SmallVec<[usize; 8]> = SmallVec::new();
    let mut leaf: Option<usize> = None;
    let mut count = 0;
    let ragged = |start, end, problem: String| {
        Err(SyntaxError::Ragged {
            problem,
            declared: declared(),
        }
        .at(start, end))
    };
    loop {
        let next = cursor.peek();
        let at = cursor.at();
        match next {
            b'[' => {
                if leaf.is_some_and(|leaf| open.len() >= leaf) {
                    return ragged(at, at + 1, "a list among elements".to_owned());
                }
                cursor.eat(b'[');
                open.push(0);
                if lengths.len() < open.len() {
                    lengths.push(None);
                }
            }
            b']' if !open.is_empty() => {
                cursor.eat(b']');
                let length = open.pop().unwrap_or_default();
                let expected = *lengths[open.len()].get_or_insert(length);
                if expected != length {
                    let problem = format!("a list of {length} next to one of {expected}");
                    return ragged(at, at + 1, problem);
                }
                finish_item(cursor, &mut open)?;
            }
            _ => {
                let depth = open.len();
                if *leaf.get_or_insert(depth) != depth || depth < lengths.len() {
                    return ragged(at, at + 1, "an element among lists".to_owned());
                }
                element(cursor, dtype, bytes)?;
                count += 1;
                finish_item(cursor, &mut open)?;
            }
        }
        if open.is_empty() {
            let extents = lengths
                .into_iter()
                .map(|length| length.unwrap_or_default())
                .collect();
            return Ok(Nesting { extents, count });
        }
    }
}

/// Counts an item of the innermost open list and skips the comma after it.
fn finish_item(cursor: &mut Cursor<'_>, open: &mut [usize]) -> Parsed<()> {
    let Some(length) = open.last_mut() else {
        return Ok(());
    };
    *length += 1;
    if cursor.eat(b',') || cursor.peek() == b']' {
        Ok(())
    } else {
        Err(cursor.unexpected("`,` or `]`"))
    }
}

/// Reads one element of `dtype` and appends its bytes.
pub(super) fn element(cursor: &mut Cursor<'_>, dtype: DType, bytes: &mut Vec<u8>) -> Parsed<()> {
    let text = cursor.number();
    if text.is_empty() {
        return Err(cursor.unexpected(element_form(dtype)));
    }
    read_element(text, dtype, bytes).map_err(|error| {
        let (start, end, literal) = (cursor.at() - text.len(), cursor.at(), excerpt(text));
        match error {
            NumberError::Malformed => SyntaxError::Number {
                literal,
                expected: element_form(dtype),
            },
            NumberError::OutOfRange => SyntaxError::Element { literal, dtype },
        }
        .at(start, end)
    })
}
