//! Parses types.

use mind_diag::Diagnostic;
use mind_ir::opdef::nearest;
use mind_ir::types::{Dim, Shape};

use super::reader::Reader;
use crate::mil::lex::Kind;
use crate::mil::syntax::Name;
use crate::mil::types::Type;
use crate::mil::{MAX_NESTING, Parsed};
use mind_mil::Element;
use mind_text::foreign;

/// Keywords of the types that values of the graph cannot have.
const FOREIGN: [&str; 4] = ["list", "tuple", "dict", "tensor_buffer"];

/// Returns whether the next token begins a type.
pub(super) fn at_type(reader: &Reader<'_>) -> bool {
    let next = reader.peek();
    next.kind == Kind::Word
        && (matches!(next.text, "tensor" | "state")
            || FOREIGN.contains(&next.text)
            || Element::parse(next.text).is_some())
}

/// Parses a type.
pub(super) fn ty(reader: &mut Reader<'_>) -> Parsed<Type> {
    let name = reader.word("a type")?;
    match name.text {
        "tensor" => tensor(reader),
        "state" => {
            reader.mark(b'<')?;
            let inner = ty_inside(reader)?;
            reader.mark(b'>')?;
            Ok(inner)
        }
        word => match (
            Element::parse(word),
            FOREIGN.iter().find(|own| **own == word),
        ) {
            (Some(element), _) => {
                reader.note_dtype(name);
                Ok(Type::Tensor {
                    element,
                    shape: Shape::new(),
                })
            }
            (None, Some(foreign)) => {
                skip_angles(reader)?;
                Ok(Type::Foreign(foreign))
            }
            (None, None) => Err(Box::new(not_type(name))),
        },
    }
}

/// Returns the error for a word that is not a type.
#[cold]
pub(super) fn not_type(name: Name<'_>) -> Diagnostic {
    let message = format!("`{}` is not a type", name.text);
    with_element(Diagnostic::error(name.span, message), name.text)
}

/// Adds help to the error for a `word` that is not an element type, with the likely intended one.
#[cold]
fn with_element(error: Diagnostic, word: &str) -> Diagnostic {
    let meant = foreign::dtype(word).map(|dtype| Element::of(dtype).name());
    match meant.or_else(|| nearest(word, Element::ALL.iter().map(|element| element.name()))) {
        Some(name) => error.did_you_mean(name),
        None => error.help(
            "types are `fp16`, `int32` and the like, `tensor<fp16, [1, 4]>`, `state<tensor<fp16, [1]>>`",
        ),
    }
}

/// Parses the tensor type inside a state.
fn ty_inside(reader: &mut Reader<'_>) -> Parsed<Type> {
    reader.keyword("tensor")?;
    match tensor(reader)? {
        Type::Tensor { element, shape } => Ok(Type::State { element, shape }),
        other => Ok(other),
    }
}

/// Parses `<T, [dims]>`.
fn tensor(reader: &mut Reader<'_>) -> Parsed<Type> {
    reader.mark(b'<')?;
    let name = reader.word("an element type")?;
    let Some(element) = Element::parse(name.text) else {
        let message = format!("`{}` is not an element type", name.text);
        let error = Diagnostic::error(name.span, message);
        return Err(Box::new(with_element(error, name.text)));
    };
    reader.note_dtype(name);
    reader.mark(b',')?;
    let shape = dims(reader)?;
    reader.mark(b'>')?;
    Ok(Type::Tensor { element, shape })
}

fn dims(reader: &mut Reader<'_>) -> Parsed<Shape> {
    let open = reader.mark(b'[')?;
    let mut shape = Shape::new();
    while !reader.at(b']') {
        if !shape.is_empty() {
            reader.mark(b',')?;
        }
        if reader.eat(b'?') {
            shape.push(Dim::Dynamic);
        } else {
            let token = reader.peek();
            match token.text.parse::<i64>() {
                Ok(extent) if token.kind == Kind::Number => shape.push(Dim::Fixed(extent)),
                _ => return reader.expected("an extent or `?`"),
            }
            reader.bump();
        }
        if shape.len() > reader.limits.dims.min(MAX_NESTING) {
            let message = format!("a tensor has more than {MAX_NESTING} dimensions");
            return Err(Box::new(Diagnostic::error(open, message)));
        }
    }
    reader.bump();
    Ok(shape)
}

/// Skips a balanced pair of `<` and `>`.
fn skip_angles(reader: &mut Reader<'_>) -> Parsed<()> {
    reader.mark(b'<')?;
    let mut depth = 1usize;
    while depth > 0 {
        match reader.peek().kind {
            Kind::Mark(b'<') => depth += 1,
            Kind::Mark(b'>') => depth -= 1,
            Kind::End | Kind::Mark(b';') => return reader.expected("`>`"),
            _ => {}
        }
        reader.check_depth(depth, "types")?;
        reader.bump();
    }
    Ok(())
}
