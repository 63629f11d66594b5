//! mic@1 and mic@2 through the crate's public interface.

mod behaviours;
mod conversion;
mod errors_mic1;
mod errors_mic2;
mod forms;
mod generated;
mod hostile;
mod names;
mod published;

use std::sync::LazyLock;

use mind_diag::{Diagnostics, SourceFile, render_text};
use mind_ir::Graph;
use mind_ir::attr::Attr;
use mind_ir::opdef::Registry;
use mind_ir::types::Dim;
use mind_ir::verify::{VerifyConfig, verify};
use mind_text::{Format, Formats, Limits};

/// Returns the registry of all tests.
fn registry() -> Registry {
    Registry::with([mind_ir::builtin::DIALECT, mind_core::DIALECT])
}

static FORMATS: LazyLock<Formats> = LazyLock::new(|| Formats::new(&registry()));

/// Parses a valid text.
#[track_caller]
fn read(format: Format, text: &str) -> Graph {
    match FORMATS.parse(format, text, 0, &Limits::default()) {
        Ok(graph) => graph,
        Err(found) => panic!("{text}\n{:#?}", lines(text, &found)),
    }
}

/// Returns the errors of an invalid text as `line:column code message`.
#[track_caller]
fn errors(format: Format, text: &str) -> Vec<String> {
    match FORMATS.parse(format, text, 0, &Limits::default()) {
        Ok(_) => panic!("{text}\nhas no error"),
        Err(found) => lines(text, &found),
    }
}

/// Renders the errors of each invalid text as users see them.
#[track_caller]
fn rendered(format: Format, texts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let of = |text: &str| match FORMATS.parse(format, text, 0, &Limits::default()) {
        Ok(_) => panic!("{text}\nhas no error"),
        Err(found) => render_text(&found, &SourceFile::new("text", text), false),
    };
    let all: Vec<String> = texts.into_iter().map(|text| of(text.as_ref())).collect();
    all.join("\n")
}

fn lines(text: &str, found: &Diagnostics) -> Vec<String> {
    let file = SourceFile::new("text", text);
    let line = |error: &mind_diag::Diagnostic| {
        let (line, column) = file.position(error.span);
        let code = error.code.map_or(String::new(), |code| format!("{code} "));
        format!("{line}:{column} {code}{}", error.message)
    };
    found.iter().map(line).collect()
}

#[track_caller]
fn print(format: Format, g: &Graph) -> String {
    match FORMATS.print(format, g) {
        Ok(text) => text,
        Err(found) => panic!(
            "{:#?}",
            found.iter().map(|error| &error.message).collect::<Vec<_>>()
        ),
    }
}

/// Parses and verifies a valid text.
#[track_caller]
fn verified(format: Format, text: &str) -> Graph {
    let mut graph = read(format, text);
    let found = verify(&mut graph, &VerifyConfig::default());
    assert!(!found.has_errors(), "{text}\n{:#?}", lines(text, &found));
    graph
}

/// Returns the verifier's errors for a text that parses.
fn verify_errors(format: Format, text: &str) -> Vec<String> {
    let found = verify(&mut read(format, text), &VerifyConfig::default());
    lines(text, &found)
}

/// Prints all properties of a module, one line per op.
fn dump(g: &Graph) -> String {
    let shape = |shape: &[Dim]| mind_ir::types::shape_text(shape, g.symbols());
    let attr = |attr: &Attr<'_>| match attr {
        Attr::Str(name) => format!("{:?}", g.name(*name)),
        Attr::Dims(dims) => shape(dims),
        other => format!("{other:?}"),
    };
    let line = |op| {
        let labels = |values: &[mind_ir::ValueId]| -> Vec<u64> {
            values.iter().map(|&value| g.label(value)).collect()
        };
        let results: Vec<mind_ir::ValueId> = g.results(op).into_iter().collect();
        let types: Vec<String> = results
            .iter()
            .map(|&value| match g.declared(value) {
                Some(ty) => g.types().get(ty).text(g.symbols()),
                None => "?".to_owned(),
            })
            .collect();
        let attrs: Vec<String> = g.attrs(op).iter().map(attr).collect();
        let (results, operands) = (labels(&results), labels(g.operands(op)));
        format!(
            "{results:?} = {} {operands:?} {attrs:?} : {types:?}\n",
            g.def(op).name
        )
    };
    g.walk().map(line).collect()
}

/// Asserts that `text` is canonical: it prints unchanged.
#[track_caller]
fn canonical(format: Format, text: &str) {
    assert_eq!(print(format, &read(format, text)), text);
}

/// Asserts that `text` prints as `expected`, and that `expected` is canonical.
#[track_caller]
fn prints(format: Format, text: &str, expected: &str) {
    assert_eq!(print(format, &read(format, text)), expected);
    canonical(format, expected);
}
