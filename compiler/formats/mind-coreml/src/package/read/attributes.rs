//! Attributes of a program or function, which the graph keeps as text.

use std::collections::BTreeMap;

use mind_diag::Span;
use mind_ir::attr::Literal;
use mind_ir::types::Dim;
use mind_mil::Element;
use mind_text::Limits;

use super::error::{named, refused, shown};
use super::value::{numbers, strings, text, ty};
use crate::mil::Parsed;
use crate::mil::print::literal::write_elements;
use crate::mil::types::{Generation, Type, write_tensor};
use crate::package::proto::{
    DictionaryValue, ImmediateKind, TensorValue, Value, ValueKind, ValueType, ValueTypeKind,
};

/// Returns attributes in the canonical form of the text parser: `name = type(value)`, separated by commas.
///
/// # Errors
///
/// An illegal name, or a value of a type that text does not have.
pub(super) fn written(
    attributes: &BTreeMap<String, Value>,
    generation: Generation,
    span: Span,
) -> Parsed<String> {
    let mut out = String::new();
    for (at, (name, value)) in attributes.iter().enumerate() {
        let mut writer = Writer {
            out: &mut out,
            name,
            generation,
            span,
        };
        writer.out.push_str(if at > 0 { ", " } else { "" });
        writer.out.push_str(named("an attribute", name, span)?.text);
        writer.out.push_str(" = ");
        writer.ty(value.r#type.as_ref())?;
        writer.out.push('(');
        writer.value(value)?;
        writer.out.push(')');
    }
    Ok(out)
}

/// Writes one attribute.
struct Writer<'o> {
    out: &'o mut String,
    name: &'o str,
    generation: Generation,
    span: Span,
}

impl Writer<'_> {
    fn tensor(&self, own: Option<&ValueType>) -> Parsed<(Element, Vec<Dim>)> {
        match ty(own, self.name, &Limits::default(), self.span)? {
            Type::Tensor { element, shape } => Ok((element, shape.to_vec())),
            Type::State { .. } | Type::Foreign(_) => Err(self.wrong()),
        }
    }

    fn wrong(&self) -> Box<mind_diag::Diagnostic> {
        let name = shown(self.name);
        let message = format!("the attribute `{name}` holds a value that is not of its type");
        refused(
            self.span,
            4005,
            message,
            "it is a tensor or a dictionary of its element types",
        )
    }

    fn ty(&mut self, own: Option<&ValueType>) -> Parsed<()> {
        if let Some(ValueTypeKind::DictionaryType(own)) = own.and_then(|own| own.r#type.as_ref()) {
            self.out.push_str("dict<");
            self.ty(own.key_type.as_deref())?;
            self.out.push_str(", ");
            self.ty(own.value_type.as_deref())?;
            self.out.push('>');
            return Ok(());
        }
        let (element, shape) = self.tensor(own)?;
        write_tensor(self.out, element.name(), &shape, self.generation);
        Ok(())
    }

    /// Writes the value without its type, because a dictionary states the type once for all entries.
    fn value(&mut self, value: &Value) -> Parsed<()> {
        let Some(ValueKind::ImmediateValue(own)) = &value.value else {
            return Err(self.wrong());
        };
        match &own.value {
            Some(ImmediateKind::Tensor(tensor)) => self.elements(value, tensor),
            Some(ImmediateKind::Dictionary(pairs)) => self.dictionary(pairs),
            Some(ImmediateKind::List(_)) | None => Err(self.wrong()),
        }
    }

    fn dictionary(&mut self, pairs: &DictionaryValue) -> Parsed<()> {
        self.out.push('{');
        for (at, pair) in pairs.values.iter().enumerate() {
            let (Some(key), Some(value)) = (&pair.key, &pair.value) else {
                return Err(self.wrong());
            };
            self.out.push_str(if at > 0 { ", {" } else { "{" });
            self.value(key)?;
            self.out.push_str(", ");
            self.value(value)?;
            self.out.push('}');
        }
        self.out.push('}');
        Ok(())
    }

    fn elements(&mut self, value: &Value, tensor: &TensorValue) -> Parsed<()> {
        let (element, shape) = self.tensor(value.r#type.as_ref())?;
        if element == Element::String {
            let words = strings(tensor);
            let is_scalar = shape.is_empty();
            if is_scalar && words.len() != 1 {
                return Err(self.wrong());
            }
            self.out.push_str(if is_scalar { "" } else { "[" });
            for (at, word) in words.iter().enumerate() {
                let word = text(word, self.span)?;
                let comma = if at > 0 { ", " } else { "" };
                self.out.push_str(&format!("{comma}\"{word}\""));
            }
            self.out.push_str(if is_scalar { "" } else { "]" });
            return Ok(());
        }
        let (count, bytes) = numbers(tensor, element, &shape).ok_or_else(|| self.wrong())?;
        let literal = Literal {
            dtype: element.carrier(),
            count: Some(count),
            bytes: &bytes,
        };
        write_elements(self.out, &literal, &shape, false);
        Ok(())
    }
}
