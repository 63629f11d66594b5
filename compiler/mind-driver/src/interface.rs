//! Reports the parts of a module's interface that a format cannot represent.

use mind_diag::{Diagnostic, Severity, Span};
use mind_ir::Graph;
use mind_ir::interface::{Feature, Interface};

use crate::formats::{Carried, FormatInfo};

/// Returns the note about the parts of the interface that `row` does not write; `None` if it writes all of them.
///
/// Generated code and drawings do not represent modules, so they get no note.
pub fn left_out(row: &FormatInfo, g: &Graph) -> Option<Diagnostic> {
    let carried = row.carries?;
    let parts: Vec<String> = PARTS
        .iter()
        .filter(|(_, needed, _)| carried < *needed)
        .filter_map(|(what, _, names)| listed(what, &names(&g.interface)))
        .collect();
    if parts.is_empty() {
        return None;
    }
    let message = format!("{} cannot represent {}", row.word, parts.join(", "));
    let note = Diagnostic::new(Severity::Note, Span::FILE, message);
    Some(note.help("`--to core` and `--to mlpackage` keep them"))
}

/// A part of an interface: its name, the level that a format needs for it, and the entries that a module has.
type InterfacePart = (&'static str, Carried, fn(&Interface) -> Vec<&str>);

const PARTS: &[InterfacePart] = &[
    ("names of outputs", Carried::Names, |own| {
        let names = own.outputs.iter();
        names.filter_map(|output| output.name.as_deref()).collect()
    }),
    ("metadata", Carried::Described, |own| {
        own.metadata.keys().map(|key| key.text()).collect()
    }),
    ("descriptions", Carried::Described, |own| {
        features(own, |feature| !feature.description.is_empty())
    }),
    ("images", Carried::All, |own| {
        features(own, |feature| feature.image.is_some())
    }),
    ("class labels", Carried::All, |own| {
        let classifier = own.classifier.iter();
        classifier.map(|classifier| &classifier.label[..]).collect()
    }),
];

/// Returns the names of the inputs and outputs whose features `is_meant` selects.
fn features(own: &Interface, is_meant: fn(&Feature) -> bool) -> Vec<&str> {
    let inputs = own
        .inputs
        .iter()
        .map(|(name, feature)| (&name[..], feature));
    let outputs = own.outputs.iter().map(|output| {
        let name = output.name.as_deref();
        (name.unwrap_or("an output"), &output.feature)
    });
    let meant = inputs
        .chain(outputs)
        .filter(|(_, feature)| is_meant(feature));
    meant.map(|(name, _)| name).collect()
}

/// Returns a part with the names of its lost entries; `None` if nothing is lost.
fn listed(what: &str, names: &[&str]) -> Option<String> {
    const SHOWN: usize = 4;
    let shown = names.iter().take(SHOWN);
    let shown: Vec<String> = shown
        .map(|name| format!("`{}`", name.escape_debug()))
        .collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!names.is_empty()).then(|| format!("{what} ({}{more})", shown.join(", ")))
}

#[cfg(test)]
mod tests {
    use mind_ir::interface::{Color, MetadataKey};

    use super::*;

    #[test]
    fn each_format_names_what_it_leaves_out() {
        let mut g = Graph::new();
        let own = &mut g.interface;
        own.name_outputs(["a", "b", "c", "d", "e"]);
        own.metadata.insert(MetadataKey::Author, "me".to_owned());
        own.outputs[0].feature.image = Some(Color::Rgb);
        let message = |word| {
            let row = FormatInfo::named(word).expect("a format");
            left_out(row, &g).map(|note| note.message)
        };
        assert_eq!(
            message("mic2").as_deref(),
            Some(
                "mic2 cannot represent names of outputs (`a`, `b`, `c`, `d` and 1 more), metadata (`author`), \
                 images (`a`)"
            )
        );
        assert_eq!(message("core"), None);
        assert_eq!(
            left_out(FormatInfo::named("mic1").expect("a row"), &Graph::new()).map(|_| ()),
            None
        );
    }
}
