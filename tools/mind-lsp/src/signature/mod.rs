//! Signature help: the syntax of the op at the cursor, and the part that is being written.

mod core;
mod label;
mod mic1;
mod mic2;

use lsp_types::{
    Documentation, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel, SignatureHelp,
    SignatureInformation,
};
use mind_driver::formats::Format;
use mind_ir::opdef::OpDef;

use crate::hover;
use crate::language::Language;
use crate::view::View;
use label::{Label, SignaturePart};

/// An op that is being written.
struct Call {
    def: &'static OpDef,
    label: Label,
    /// The part that is being written, if it is clear.
    active: Option<SignaturePart>,
}

/// Returns the signature of the op at `offset`, from its definition; `None` outside of ops, in comments, and in
/// languages other than mic@1, mic@2 and Core text.
pub(crate) fn help(view: View<'_>, offset: usize) -> Option<SignatureHelp> {
    let lines = &view.document.lines;
    let line = lines.line_range(view.text(), lines.line(offset));
    let before = view.word(&(line.start..offset.clamp(line.start, line.end)));
    if unquoted(before).any(|(_, letter)| letter == '#') {
        return None;
    }
    let call = match view.analysis.language {
        Language::Module(Format::Core) => core::call(&view.session.formats.text.core, before),
        Language::Module(Format::Mic1) => mic1::call(&view.session.formats.text.mic1, before),
        Language::Module(Format::Mic2) => mic2::call(&view.session.formats.text.mic2, before),
        Language::Module(Format::Mil | Format::MilPrimer) | Language::Rules => None,
    }?;
    let Call { def, label, active } = call;
    let active = label
        .parts
        .iter()
        .position(|(part, _)| Some(*part) == active);
    let parameters = label.parts.iter().map(|(part, range)| {
        let offsets = [range.start as u32, range.end as u32];
        ParameterInformation {
            label: ParameterLabel::LabelOffsets(offsets),
            documentation: Some(Documentation::String(label::describe(def, *part))),
        }
    });
    let signature = SignatureInformation {
        parameters: Some(parameters.collect()),
        // An index after the last parameter highlights none of them.
        active_parameter: Some(active.unwrap_or(label.parts.len()) as u32),
        documentation: Some(Documentation::MarkupContent(MarkupContent {
            kind: MarkupKind::Markdown,
            value: hover::documentation(def),
        })),
        label: label.text,
    };
    Some(SignatureHelp {
        active_parameter: signature.active_parameter,
        active_signature: Some(0),
        signatures: vec![signature],
    })
}

/// Returns the characters of `text` outside of strings, with their offsets.
fn unquoted(text: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut quoted, mut escaped) = (false, false);
    text.char_indices().filter(move |(_, letter)| {
        let inside = quoted;
        if *letter == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && *letter == '\\' && !escaped;
        !inside && !quoted
    })
}
