//! An op and a pass outside of the compiler's tree: `cargo run -p mind-driver --example tutorial`.

use std::error::Error;

use mind_core::ops::elementwise::Mul;
use mind_diag::Diagnostics;
use mind_interp::{Extents, RunConfig, bind, compare, random_inputs, run};
use mind_ir::builder::Builder;
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::listener::NoopListener;
use mind_ir::opdef::{Dialect, Op, Registry};
use mind_ir::tensor::{Num, Tensor};
use mind_ir::verify::{InferResult, VerifyConfig, verify};
use mind_ir::{Graph, OpId, ops, with_float};
use mind_pass::{
    Changed, Manager, Options, Pass, PassCx, PassError, PassInfo, Pipeline, RewriteOptions,
    RunCache, Statistics, Step,
};
use mind_text::{Format, Formats, Limits};

ops! {
    /// The square of each element, rounded once.
    ///
    /// Shapes: that of `input`.
    /// Errors: none of its own.
    /// Source: this example.
    Square = "mine.square" {
        operands: (input: Float),
        traits: [Pure],
        names: { core: "Square" },
        infer: infer_square,
        eval: eval_square,
    }
}

fn infer_square(op: Square, g: &Graph) -> InferResult {
    Ok(g.ty(op.input(g)).to_owned().into())
}

fn eval_square(_: Square, _: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let input = operands[0];
    with_float!(input.dtype(), T => {
        let squares = input.elements::<T>().iter().map(|&x| Num::mul(x, x)).collect();
        Ok(Tensor::of::<T>(input.shape().to_vec(), squares))
    }, else Err(EvalError::NotEvaluable("mine.square")))
}

/// The dialect: a name and its ops.
const MINE: Dialect = Dialect {
    name: "mine",
    doc: "Ops of this example.",
    ops: &[Square::DEF],
};

/// `x * x` becomes a square.
struct Squares;

static SQUARES: PassInfo = PassInfo {
    name: "squares",
    alias: None,
    summary: "Makes x * x a square",
    example: "squares",
    options: &[],
    enters_regions: true,
    make: |_| Box::new(Squares),
};

impl Pass for Squares {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let is_square = |&op: &OpId| g.is::<Mul>(op) && g.operands(op)[0] == g.operands(op)[1];
        let found: Vec<OpId> = g.ops(g.body()).filter(is_square).collect();
        for &op in &found {
            let operand = g.operands(op)[0];
            // The op is defined only for floats.
            let Ok(square) = Builder::before(g, op).create(Square::DEF, &[operand], &[]) else {
                continue;
            };
            let (old, new) = (g.result(op), g.result(square));
            g.replace_all_uses(old, new);
            g.erase(op);
            cx.statistics.add("squares-made", 1);
        }
        Ok(Changed::when(!found.is_empty()))
    }
}

const MODULE: &str = "\
%0 = Input {name=x} : tensor<f32[4]>
%1 = Mul (%0, %0)
%2 = Exp (%1)
outputs: %2
";

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", report()?);
    Ok(())
}

/// Returns the module before and after the pass, and whether both compute the same bits.
///
/// # Errors
///
/// Returns the error of the first step that fails.
pub fn report() -> Result<String, Box<dyn Error>> {
    let registry = Registry::with([mind_ir::builtin::DIALECT, mind_core::DIALECT, MINE]);
    let formats = Formats::new(&registry);
    let before = module(&formats)?;
    let mut after = module(&formats)?;
    let statistics = squares(&registry, &mut after)?;
    let text = formats.print(Format::Core, &after).map_err(shown)?;

    let arrays =
        random_inputs(&before, 1, Extents::default()).map_err(|errors| format!("{errors:?}"))?;
    let results = |g: &Graph| -> Result<Vec<Tensor>, Box<dyn Error>> {
        let bound = bind(g, &arrays, Extents::default()).map_err(|errors| format!("{errors:?}"))?;
        Ok(run(g, &bound, &RunConfig::default()).map_err(|error| error.error.to_string())?)
    };
    let same = compare(&results(&before)?, &results(&after)?).is_ok();
    let made: u64 = statistics.iter().map(|(_, _, count)| count).sum();
    Ok(format!("{text}\n{made} square, same bits: {same}\n"))
}

/// Returns the module, verified.
fn module(formats: &Formats) -> Result<Graph, Box<dyn Error>> {
    let mut g = formats
        .parse(Format::Core, MODULE, 0, &Limits::default())
        .map_err(shown)?;
    let found = verify(&mut g, &VerifyConfig::default());
    if found.has_errors() {
        return Err(shown(found).into());
    }
    Ok(g)
}

/// Runs the pass, and verifies the module after it.
fn squares(registry: &Registry, g: &mut Graph) -> Result<Statistics, Box<dyn Error>> {
    let options = Options::new(&SQUARES, &[]);
    let pipeline = Pipeline {
        steps: vec![Step {
            pass: &SQUARES,
            options,
        }],
    };
    let manager = Manager {
        registry,
        verify_each: true,
        verify: VerifyConfig::default(),
        rewriting: &RewriteOptions::default(),
        shared: &RunCache::default(),
    };
    let mut statistics = Statistics::default();
    let ran = manager.run(&pipeline, g, &mut statistics, &mut NoopListener);
    ran.map_err(|failure| format!("{failure:?}"))?;
    Ok(statistics)
}

fn shown(found: Diagnostics) -> String {
    format!("{found:?}")
}
