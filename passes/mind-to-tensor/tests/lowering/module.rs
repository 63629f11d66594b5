//! Parses, lowers and runs modules.

use std::sync::LazyLock;

use mind_diag::{SourceFile, render_text};
use mind_interp::{Arrays, Extents, RunConfig, bind, compare, run};
use mind_ir::Graph;
use mind_ir::eval::EvalError;
use mind_ir::opdef::{Registry, Trait};
use mind_ir::tensor::Tensor;
use mind_ir::verify::{VerifyConfig, verify};
use mind_text::core::Syntax;
use mind_text::limits::Limits;
use mind_to_tensor::Options;

static SYNTAX: LazyLock<Syntax> = LazyLock::new(|| {
    Syntax::new(&Registry::with([
        mind_ir::builtin::DIALECT,
        mind_core::DIALECT,
        mind_tensor::DIALECT,
    ]))
});

/// Parses a module, or returns the error.
pub fn read(text: &str) -> Result<Graph, String> {
    let shown = |found| render_text(&found, &SourceFile::new("m", text), false);
    let mut g = SYNTAX.parse(text, 0, &Limits::default()).map_err(shown)?;
    let found = verify(&mut g, &VerifyConfig::default());
    if found.is_empty() {
        Ok(g)
    } else {
        Err(shown(found))
    }
}

/// Lowers a module. Checks that the result verifies, contains no core op that is lowered, and round-trips through its
/// text.
#[track_caller]
pub fn lowered(g: &Graph, text: &str) -> Graph {
    lowered_for(g, text, &Options::default())
}

/// Like [`lowered`], with `options`.
#[track_caller]
pub fn lowered_for(g: &Graph, text: &str, options: &Options) -> Graph {
    let mut low = g.clone();
    if let Err(why) = mind_to_tensor::lower(&mut low, options) {
        panic!("{}\n{text}", why.message);
    }
    let found = verify(&mut low, &VerifyConfig::default());
    let printed = SYNTAX
        .print(&low)
        .unwrap_or_else(|found| panic!("{found:?}"));
    let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
    assert!(messages.is_empty(), "{messages:?}\n{text}\n{printed}");
    assert_only_scalars_left(&low, &printed);
    let mut again = read(&printed).unwrap_or_else(|why| panic!("{why}\n{printed}"));
    assert_eq!(SYNTAX.print(&again).ok().as_ref(), Some(&printed));
    assert_eq!(
        mind_to_tensor::lower(&mut again, options).map_err(|why| why.message),
        Ok(0)
    );
    low
}

/// Checks that core ops remain only in bodies of maps, except for constants, inputs and ops that need known extents.
#[track_caller]
fn assert_only_scalars_left(g: &Graph, printed: &str) {
    for op in g.walk() {
        let def = g.def(op);
        if def.name.starts_with("tensor.") || def.has(Trait::Terminator) {
            continue;
        }
        let owner = g.parent(op).and_then(|block| g.block_owner(block));
        let scalar = owner.is_some_and(|owner| g.def(owner).name == "tensor.map");
        let open = !g
            .operands(op)
            .iter()
            .copied()
            .chain(g.results(op))
            .all(|value| g.ty(value).static_shape().is_some());
        let stays = def.has(Trait::Constant)
            || def.has(Trait::Interface)
            || open && mind_to_tensor::lowers_if_known(def);
        assert!(scalar || stays, "{} is left:\n{printed}", def.name);
    }
}

/// Runs a module and returns its outputs.
pub fn results(g: &Graph, arrays: &Arrays) -> Result<Vec<Tensor>, EvalError> {
    let bound = bind(g, arrays, Extents::default()).unwrap_or_else(|errors| panic!("{errors:?}"));
    run(g, &bound, &RunConfig::default()).map_err(|error| error.error)
}

/// Checks that a module and its lowering compute the same bits, or that both fail.
#[track_caller]
pub fn assert_same(g: &Graph, low: &Graph, arrays: &Arrays, text: &str) {
    match (results(g, arrays), results(low, arrays)) {
        (Ok(expected), Ok(found)) => {
            if let Err(differ) = compare(&expected, &found) {
                panic!(
                    "{differ}\n{text}\n{}",
                    SYNTAX.print(low).unwrap_or_default()
                );
            }
        }
        (Err(expected), Err(found)) => {
            let codes = [&expected, &found].map(EvalError::code);
            assert_eq!(codes[0], codes[1], "{expected} against {found}\n{text}");
        }
        (expected, found) => {
            let low = SYNTAX.print(low).unwrap_or_default();
            panic!(
                "{:?} against {:?}\n{text}\n{low}",
                expected.err(),
                found.err()
            );
        }
    }
}
