//! The elements of a constant, computed from its attributes.

use std::ops::Range;

use mind_ir::Ty;
use mind_ir::types::{DType, Dim, Shape, TypeView, shape_text};

use super::attrs::Attributes;
use super::literal::{element, read_data};
use super::source::Source;
use super::value::Written;
use crate::core::cursor::Cursor;
use crate::core::error::{Fault, Parsed, SyntaxError};
use crate::core::table::{AttrSyntax, OpSyntax};

/// A constant whose elements have been read.
pub(super) struct Constant {
    pub(super) dtype: DType,
    /// `None` for a splat.
    pub(super) count: Option<usize>,
    /// The type of the constant, if its shape is known.
    pub(super) declared: Option<Ty>,
}

impl Constant {
    /// Reads the elements of the op's constant into `bytes`; returns `None` for an op without a constant. `name` is the
    /// start and end of the op's name, `declared` the type after its colon.
    ///
    /// # Errors
    ///
    /// Errors if data and fill are both missing or both given, if the dtype is missing, or if dtype or shape differ from
    /// the declared type. Returns E3010 for data whose nesting does not match its shape.
    pub(super) fn read(
        src: &mut Source<'_>,
        op: &OpSyntax,
        attrs: &Attributes,
        name: &Range<usize>,
        declared: Option<Ty>,
        bytes: &mut Vec<u8>,
    ) -> Parsed<Option<Constant>> {
        let Some(key) = op.keys.iter().find(|key| key.form == AttrSyntax::Data) else {
            return Ok(None);
        };
        let (start, is_splat) = match (
            attrs.of_form(op, AttrSyntax::Data),
            attrs.of_form(op, AttrSyntax::Fill),
        ) {
            (Some((&Written::Data(start), _)), None) => (start, false),
            (None, Some((&Written::Data(start), _))) => (start, true),
            (Some(_), Some((_, at))) => {
                return Err(SyntaxError::DataAndFill { data: key.name }.at(at.start, at.end));
            }
            _ => {
                let missing = SyntaxError::MissingKey {
                    op: op.name,
                    key: key.name,
                    interface: false,
                };
                return Err(missing.at(name.start, name.end));
            }
        };
        let dtype = dtype(src, op, attrs, name, declared)?;
        let shape = shape(src, op, attrs, declared)?;
        let mut cursor = Cursor::new(src.cursor.text());
        cursor.seek(start);
        bytes.clear();
        let count = if is_splat {
            element(&mut cursor, dtype, bytes)?;
            None
        } else {
            Some(elements(&mut cursor, src, dtype, shape.as_deref(), bytes)?)
        };
        let intern = |shape: Shape| {
            src.graph.intern_type(TypeView {
                dtype,
                shape: &shape,
            })
        };
        Ok(Some(Constant {
            dtype,
            count,
            declared: declared.or_else(|| shape.map(intern)),
        }))
    }
}

fn dtype(
    src: &Source<'_>,
    op: &OpSyntax,
    attrs: &Attributes,
    name: &Range<usize>,
    declared: Option<Ty>,
) -> Parsed<DType> {
    let declared = declared.map(|ty| src.graph.types().get(ty).dtype);
    match (attrs.of_form(op, AttrSyntax::ElementType), declared) {
        (Some((&Written::DType(found), at)), Some(expected)) if expected != found => {
            Err(clash("dtype", at, expected.to_string(), found.to_string()))
        }
        (Some((&Written::DType(found), _)), _) => Ok(found),
        (_, Some(expected)) => Ok(expected),
        (_, None) => Err(SyntaxError::UntypedConstant.at(name.start, name.end)),
    }
}

fn shape(
    src: &Source<'_>,
    op: &OpSyntax,
    attrs: &Attributes,
    declared: Option<Ty>,
) -> Parsed<Option<Shape>> {
    let declared = declared.map(|ty| src.graph.types().get(ty).shape);
    let written = attrs.of_form(op, AttrSyntax::Extents);
    let written = written.map(|(written, at)| (attrs.extents(written), at));
    match (written, declared) {
        (Some((found, at)), Some(expected)) if expected != found => {
            let text = |shape| shape_text(shape, src.graph.symbols());
            Err(clash("shape", at, text(expected), text(found)))
        }
        (Some((found, _)), _) => Ok(Some(Shape::from_slice(found))),
        (None, expected) => Ok(expected.map(Shape::from_slice)),
    }
}

fn clash(key: &'static str, at: &Range<usize>, declared: String, found: String) -> Box<Fault> {
    SyntaxError::ConstantType {
        key,
        declared,
        found,
    }
    .at(at.start, at.end)
}

/// Reads the elements at `cursor` and compares their nesting with `shape`, if it is known.
fn elements(
    cursor: &mut Cursor<'_>,
    src: &Source<'_>,
    dtype: DType,
    shape: Option<&[Dim]>,
    bytes: &mut Vec<u8>,
) -> Parsed<usize> {
    let declared = || match shape {
        Some(shape) => shape_text(shape, src.graph.symbols()),
        None => "no shape".to_owned(),
    };
    let start = cursor.at();
    let nesting = read_data(cursor, dtype, &declared, bytes)?;
    if shape.is_some_and(|shape| !nesting.fits(shape)) {
        let (declared, found) = (declared(), nesting.text());
        return Err(SyntaxError::Nesting { declared, found }.at(start, cursor.at()));
    }
    Ok(nesting.count)
}
