//! A program that builds, optimises and runs a module: `cargo run -p mind --example from-rust`.

use std::error::Error;
use std::fmt::Write;

use mind::ops::contract::MatMul;
use mind::ops::elementwise::{Add, Relu};
use mind::{Config, Level, Module, Optimizer, Tensor, View, ViewMut};

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", report()?);
    Ok(())
}

/// Runs each step of the program and returns the text that it prints.
///
/// # Errors
///
/// Returns the error of the first step that fails.
pub fn report() -> Result<String, Box<dyn Error>> {
    let mut shown = String::new();
    let mut module = layer()?;
    writeln!(shown, "{module}\n")?;

    if let Err(error) = wrong() {
        writeln!(shown, "{error}\n")?;
    }

    let report = module.optimize(Level::O2)?;
    for pass in report.passes().iter().filter(|pass| pass.changed) {
        writeln!(shown, "{} changed the module:", pass.name)?;
    }
    writeln!(shown, "{module}\n")?;

    let mut distance = Module::parse(DISTANCE)?;
    let optimizer = Optimizer::new("fold")?.rules("mine.rules", RULES)?;
    optimizer.run(&mut distance)?;
    writeln!(shown, "{distance}\n")?;

    let executable = module.compile(&Config::default())?;
    for port in executable.inputs().iter().chain(executable.outputs()) {
        writeln!(shown, "{}: {}", port.name, port.ty)?;
    }
    let w = Tensor::of(vec![2, 2], vec![1.0f32, -1.0, 1.0, 1.0]);
    let b = Tensor::of(vec![2], vec![0.5f32, 0.0]);
    let model = executable.bind([("w", &w), ("b", &b)])?;
    for rows in [vec![1.0f32, 2.0], vec![1.0, 2.0, 3.0, -4.0]] {
        let x = Tensor::of(vec![rows.len() / 2, 2], rows);
        let outputs = model.run([("x", &x)])?;
        writeln!(shown, "{:?}", outputs[0].elements::<f32>())?;
        let expected = module.interpret([("x", &x), ("w", &w), ("b", &b)])?;
        assert!(outputs[0].same_bits(&expected[0]));
    }

    let mut y = [0f32; 4];
    let x = View::new(&[2, 2], &[1.0f32, 2.0, 3.0, -4.0]);
    model.run_into(&[x], &mut [ViewMut::new(&mut y)])?;
    writeln!(shown, "{y:?}")?;
    Ok(shown)
}

/// One layer, `relu(x w + b)`, for any number of rows.
fn layer() -> Result<Module, mind::Error> {
    let mut module = Module::new();
    let x = module.input("x", "f32[B, 2]")?;
    let w = module.param("w", "f32[2, 2]")?;
    let b = module.param("b", "f32[2]")?;
    let product = MatMul::build(&mut module, x, w)?;
    let sum = Add::build(&mut module, product, b)?;
    let y = Relu::build(&mut module, sum)?;
    module.output(y);
    module.verify()?;
    Ok(module)
}

const DISTANCE: &str = "\
%0 = Input {name=x} : tensor<f32[4]>
%1 = Neg (%0)
%2 = Maximum (%0, %1)
outputs: %2";

const RULES: &str = "
rule maximum-neg
  class exact
  core.maximum(?x, core.neg(?x)) => core.abs(?x)
";

/// A module with a mistake.
fn wrong() -> Result<Module, mind::Error> {
    Module::parse("mic@2\nT0 f32 4\nT1 f32 3\na x T0\na y T1\n+ 0 1\nO 2")
}
