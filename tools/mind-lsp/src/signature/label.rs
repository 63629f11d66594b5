//! Signature labels: an op on one line, with the ranges of its operands and attributes.

use std::ops::Range;

use mind_ir::opdef::OpDef;

/// A part of an op, by its index in the op's definition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SignaturePart {
    /// An operand; the variadic one follows the others.
    Operand(usize),
    Attr(usize),
    /// The declared type.
    Type,
}

/// The text, which is ASCII, and the ranges of its parts.
#[derive(Default)]
pub(super) struct Label {
    pub(super) text: String,
    pub(super) parts: Vec<(SignaturePart, Range<usize>)>,
}

impl Label {
    /// Appends text that is not a part.
    pub(super) fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends the text of a part.
    pub(super) fn part(&mut self, part: SignaturePart, text: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        self.parts.push((part, start..self.text.len()));
    }

    /// Appends the operands of `def`, the first one after `first` and the others after `between`.
    pub(super) fn operands(&mut self, def: &OpDef, first: &str, between: &str) {
        let names = def.all_operands();
        let names = names.map(|(operand, repeat)| format!("{}{}", operand.name, repeat.mark()));
        for (at, name) in names.enumerate() {
            self.text(if at == 0 { first } else { between });
            self.part(SignaturePart::Operand(at), &name);
        }
    }
}

/// Returns the operand for value number `at`, from 0.
pub(super) fn operand(def: &OpDef, at: usize) -> Option<SignaturePart> {
    def.operand(at)?;
    Some(SignaturePart::Operand(at.min(def.operands.len())))
}

/// Returns the documentation of a part of `def`.
pub(super) fn describe(def: &OpDef, part: SignaturePart) -> String {
    match part {
        SignaturePart::Operand(at) => {
            def.all_operands()
                .nth(at)
                .map_or(String::new(), |(operand, repeat)| {
                    let (name, class) = (operand.name, operand.class.text());
                    format!("operand `{name}`: {class}{}", repeat.text())
                })
        }
        SignaturePart::Attr(at) => {
            let attr = &def.attrs[at];
            let kind = attr.kind.text();
            match attr.default_text() {
                Some(default) => {
                    format!("attribute `{}`: {kind}, `{default}` if absent", attr.name)
                }
                None => format!("attribute `{}`: {kind}, required", attr.name),
            }
        }
        SignaturePart::Type => "the type, required".to_owned(),
    }
}
