//! Drawings of modules that the README shows.

use mind::{Module, Written};

/// Returns the drawings of the README's residual block, before and after the README's command.
///
/// # Panics
///
/// If the example is missing, or cannot be optimised.
pub fn documents() -> Vec<(String, String)> {
    let example = crate::root().join("examples/residual.mic");
    let mut module = Module::from_file(example).expect("the example is a module");
    let read = drawing(&module);
    let passes = module.run_passes("canonicalize,fuse");
    passes.expect("the passes of the README run");
    vec![
        ("docs/drawings/residual.svg".to_owned(), read),
        (
            "docs/drawings/residual-fused.svg".to_owned(),
            drawing(&module),
        ),
    ]
}

fn drawing(module: &Module) -> String {
    match module.write("svg") {
        Ok(Written::Text(text)) => text,
        other => panic!("a drawing is a text: {other:?}"),
    }
}
