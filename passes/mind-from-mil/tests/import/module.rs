//! Reading, importing and running programs.

use std::sync::LazyLock;

use mind_coreml::mil::{self, Spelling};
use mind_diag::{SourceFile, render_text};
use mind_interp::{Arrays, Extents, RunConfig, bind, inputs, run};
use mind_ir::Graph;
use mind_ir::opdef::Registry;
use mind_ir::tensor::Tensor;
use mind_ir::verify::{VerifyConfig, verify};
use mind_testgen::mil::Program;
use mind_text::limits::Limits;
use mind_text::{Format, Formats};

static FORMATS: LazyLock<Formats> = LazyLock::new(|| {
    Formats::new(&Registry::with([
        mind_ir::builtin::DIALECT,
        mind_core::DIALECT,
        mind_tensor::DIALECT,
        mind_mil::DIALECT,
    ]))
});

/// Returns the program of a text.
#[track_caller]
pub fn read(text: &str) -> Graph {
    let shown = |found| render_text(&found, &SourceFile::new("m", text), false);
    let parsed = mil::parse(text, 0, &Limits::default(), Spelling::Compiler);
    let mut g = parsed.unwrap_or_else(|found| panic!("{}", shown(found)));
    let found = verify(&mut g, &VerifyConfig::default());
    assert!(!found.has_errors(), "{}", shown(found));
    g
}

/// Returns the imported and verified module of a program, or the error messages.
#[track_caller]
pub fn imported(g: &Graph) -> Result<Graph, Vec<String>> {
    let mut own = g.clone();
    if let Err(found) = mind_from_mil::import(&mut own) {
        return Err(found.iter().map(|found| found.message.clone()).collect());
    }
    let found = verify(&mut own, &VerifyConfig::default());
    let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
    assert!(messages.is_empty(), "{messages:?}\n{}", text(&own));
    Ok(own)
}

/// Returns the Core text of a module.
pub fn text(g: &Graph) -> String {
    FORMATS
        .print(Format::Core, g)
        .unwrap_or_else(|found| panic!("{:?}", found.first_error().map(|own| &own.message)))
}

/// Returns the elements that the cases prescribe for the inputs of a module.
pub fn arrays(g: &Graph) -> Arrays {
    let array = |input: mind_interp::InputSpec<'_>| {
        let shape = input.ty.static_shape().expect("static shapes").into_iter();
        let shape = shape.map(|extent| extent as usize).collect();
        let tensor = Program::tensor(input.name, input.ty.dtype, shape);
        (input.name.to_owned(), tensor)
    };
    inputs(g).into_iter().map(array).collect()
}

/// Returns the results of a module, with its states given as inputs.
#[track_caller]
pub fn results(g: &Graph) -> Vec<Tensor> {
    let mut g = g.clone();
    mind_mil::state::thread(&mut g).unwrap_or_else(|found| panic!("{:?}", found.first_error()));
    let g = &g;
    let arrays = arrays(g);
    let bound = bind(g, &arrays, Extents::default()).unwrap_or_else(|errors| panic!("{errors:?}"));
    run(g, &bound, &RunConfig::default()).unwrap_or_else(|error| panic!("{error:?}\n{}", text(g)))
}
