//! Reading, importing and running programs.

use std::sync::LazyLock;

use mind_diag::{SourceFile, render_text};
use mind_generate::mil::Program;
use mind_interp::{Arrays, Extents, RunConfig, bind, inputs, run};
use mind_ir::Graph;
use mind_ir::opdef::Registry;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::verify::{VerifyConfig, verify};
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

/// The program of a text.
#[track_caller]
pub fn read(text: &str) -> Graph {
    let shown = |found| render_text(&found, &SourceFile::new("m", text), false);
    let parsed = FORMATS.parse(Format::Mil, text, 0, &Limits::default());
    let mut g = parsed.unwrap_or_else(|found| panic!("{}", shown(found)));
    let found = verify(&mut g, &VerifyConfig::default());
    assert!(!found.has_errors(), "{}", shown(found));
    g
}

/// The program imported, or the messages of why not. The module verifies.
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

/// Core text of a module.
pub fn text(g: &Graph) -> String {
    FORMATS
        .print(Format::Core, g)
        .unwrap_or_else(|found| panic!("{:?}", found.first_error().map(|own| &own.message)))
}

/// The elements that cases prescribe, for the inputs of a module.
pub fn arrays(g: &Graph) -> Arrays {
    let array = |input: mind_interp::InputSpec<'_>| {
        let shape: Vec<usize> = input
            .ty
            .static_shape()
            .expect("static shapes")
            .iter()
            .map(|&dim| dim as usize)
            .collect();
        let numbers = (0..shape.iter().product()).map(|at| Program::element(input.name, at));
        let tensor = match input.ty.dtype {
            DType::F16 => Tensor::of(shape, numbers.map(half::f16::from_f64).collect()),
            DType::F32 => Tensor::of(shape, numbers.map(|x| x as f32).collect()),
            DType::U16 => Tensor::of(shape, numbers.map(|x| x as u16).collect()),
            _ => Tensor::of(shape, numbers.map(|x| x as i32).collect()),
        };
        (input.name.to_owned(), tensor)
    };
    inputs(g).into_iter().map(array).collect()
}

/// What a module computes.
#[track_caller]
pub fn results(g: &Graph) -> Vec<Tensor> {
    let arrays = arrays(g);
    let bound = bind(g, &arrays, Extents::default()).unwrap_or_else(|errors| panic!("{errors:?}"));
    run(g, &bound, &RunConfig::default()).unwrap_or_else(|error| panic!("{error:?}\n{}", text(g)))
}
