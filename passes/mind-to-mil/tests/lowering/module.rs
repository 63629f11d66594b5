//! Reading, lowering and running modules.

use std::sync::LazyLock;

use mind_coreml::mil::{self, Spelling};
use mind_diag::{Diagnostics, SourceFile, render_text};
use mind_interp::{Arrays, Extents, RunConfig, bind, run};
use mind_ir::Graph;
use mind_ir::opdef::Registry;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::verify::{VerifyConfig, verify};
use mind_mil::call::floats;
use mind_mil::check::{Interface, check};
use mind_text::limits::Limits;
use mind_text::{Format, Formats};
use mind_to_mil::Config;

static FORMATS: LazyLock<Formats> = LazyLock::new(|| {
    Formats::new(&Registry::with([
        mind_ir::builtin::DIALECT,
        mind_core::DIALECT,
        mind_tensor::DIALECT,
        mind_mil::DIALECT,
    ]))
});

/// Returns the module of a Core text, or its diagnostics.
pub fn read(text: &str) -> Result<Graph, String> {
    verified(
        text,
        FORMATS.parse(Format::Core, text, 0, &Limits::default()),
    )
}

/// Returns the program of a MIL text, or its diagnostics.
pub fn read_mil(text: &str) -> Result<Graph, String> {
    verified(
        text,
        mil::parse(text, 0, &Limits::default(), Spelling::Compiler),
    )
}

fn verified(text: &str, parsed: Result<Graph, Diagnostics>) -> Result<Graph, String> {
    let shown = |found| render_text(&found, &SourceFile::new("m", text), false);
    let mut g = parsed.map_err(shown)?;
    let found = verify(&mut g, &VerifyConfig::default());
    if found.is_empty() {
        Ok(g)
    } else {
        Err(shown(found))
    }
}

/// Returns the lowered module, or the error messages. Checks that the program verifies, keeps the rules of programs,
/// and is unchanged after a round trip through text.
#[track_caller]
pub fn lowered(g: &Graph, config: &Config) -> Result<Graph, Vec<String>> {
    let mut low = g.clone();
    if let Err(found) = mind_to_mil::lower(&mut low, config) {
        return Err(found.iter().map(|found| found.message.clone()).collect());
    }
    let printed = text(&low);
    let found = verify(&mut low, &VerifyConfig::default());
    let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
    assert!(messages.is_empty(), "{messages:?}\n{printed}");
    let again = read_mil(&printed).unwrap_or_else(|why| panic!("{why}\n{printed}"));
    assert!(check(&again, Interface::Any).is_empty(), "{printed}");
    assert_eq!(text(&again), printed);
    Ok(again)
}

/// Returns the text of a program.
pub fn text(g: &Graph) -> String {
    let printed = mil::print(g, Spelling::Compiler);
    printed.unwrap_or_else(|found| panic!("{:?}", found.first_error().map(|found| &found.message)))
}

/// Returns the results of a module; `None` if its run fails.
pub fn results(g: &Graph, arrays: &Arrays) -> Option<Vec<Tensor>> {
    let bound = bind(g, arrays, Extents::default()).unwrap_or_else(|errors| panic!("{errors:?}"));
    run(g, &bound, &RunConfig::default()).ok()
}

/// Returns the arguments of a program, in its dtypes and shapes, for those of its module.
pub fn narrowed(program: &Graph, arrays: &Arrays) -> Arrays {
    let inputs = mind_interp::inputs(program);
    let narrow = |input: mind_interp::InputSpec<'_>| {
        let array = &arrays[input.name];
        let shape = if array.rank() == 0 {
            vec![1]
        } else {
            array.shape().to_vec()
        };
        (
            input.name.to_owned(),
            cast(array, input.ty.dtype).with_shape(shape),
        )
    };
    inputs.into_iter().map(narrow).collect()
}

/// Returns the arrays with f32 numbers rounded to f16, so that an f16 program reads the same numbers. Otherwise no
/// tolerance would hold near a pole.
pub fn halved(arrays: Arrays) -> Arrays {
    let halved = |(name, array): (String, Tensor)| match array.dtype() {
        DType::F32 => {
            let numbers = floats(&array).into_iter();
            let numbers = numbers.map(|x| half::f16::from_f64(x).to_f32()).collect();
            (name, Tensor::of(array.shape().to_vec(), numbers))
        }
        _ => (name, array),
    };
    arrays.into_iter().map(halved).collect()
}

fn cast(tensor: &Tensor, dtype: DType) -> Tensor {
    let shape = tensor.shape().to_vec();
    let numbers = floats(tensor);
    match dtype {
        DType::F16 => Tensor::of(
            shape,
            numbers.into_iter().map(half::f16::from_f64).collect(),
        ),
        DType::U16 => Tensor::of(shape, numbers.into_iter().map(|x| x as u16).collect()),
        DType::I32 => Tensor::of(shape, numbers.into_iter().map(|x| x as i32).collect()),
        _ => tensor.clone(),
    }
}

/// Checks that two results are equal up to `error`, relatively and absolutely. If one of them is not finite in f16, the
/// other may be anything.
pub fn near(expected: &Tensor, found: &Tensor, error: f64) -> Result<(), String> {
    let (a, b) = (floats(expected), floats(found));
    if a.len() != b.len() {
        return Err(format!("{} elements against {}", a.len(), b.len()));
    }
    for (at, (a, b)) in a.into_iter().zip(b).enumerate() {
        let fits = a.is_finite() && b.is_finite() && a.abs() < 6e4;
        if fits && (a - b).abs() > error * (1.0 + a.abs()) {
            return Err(format!("element {at} is {b}, not {a}"));
        }
    }
    Ok(())
}
