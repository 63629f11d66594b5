//! Outcomes of single-op programs.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use mind_diag::Diagnostics;
use mind_driver::formats::{Format, LoadOptions};
use mind_driver::load::parse_and_verify;
use mind_driver::session::Session;
use mind_interp::{Arrays, Extents, InputSpec, RunConfig, bind, inputs, run};
use mind_ir::Graph;
use mind_ir::types::DType;
use mind_mil::check::Interface;
use mind_mil::ops::{ROWS, row};
use mind_mil::{MilOp, Opset};
use mind_testgen::cases::{Case, all, gathers, placed_windows, samples};
use mind_testgen::mil::{Program, programs};
use mind_to_mil::{Config, Layout};

/// The opsets in which cases are run.
pub const OPSETS: [Opset; 4] = [Opset::Ios15, Opset::Ios16, Opset::Ios17, Opset::Ios18];

/// The float types with which cases are run.
const FLOATS: [(&str, DType); 2] = [("fp16", DType::F16), ("fp32", DType::F32)];

/// Core modules that the lowering recognises as one op: a norm, and multi-head attention.
const RECOGNISED: [&str; 2] = [
    "%0 = Input {name=x} : tensor<f32[2, 8]>\n%1 = Mul (%0, %0)\n%2 = Mean (%1) {axes=[1], keepdims=true}\n\
     %3 = ConstF32 {value=0.00001}\n%4 = Add (%2, %3)\n%5 = Sqrt (%4)\n%6 = Div (%0, %5)\noutputs: %6\n",
    "%0 = Input {name=q} : tensor<f32[1, 64, 496, 64]>\n%1 = Input {name=k} : tensor<f32[1, 64, 496, 64]>\n\
     %2 = Input {name=v} : tensor<f32[1, 64, 496, 64]>\n%3 = Transpose (%1) {permutation=[0, 1, 3, 2]}\n\
     %4 = MatMul (%0, %3)\n%5 = ConstF32 {value=0.125}\n%6 = Mul (%4, %5)\n%7 = Softmax (%6)\n\
     %8 = MatMul (%7, %2)\noutputs: %8\n",
];

/// The maximal size of a computed constant in bytes.
const LIMIT: u64 = 1 << 20;

static SESSION: LazyLock<Session> = LazyLock::new(Session::default);

/// The outcome of importing an op.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Import {
    /// The op becomes ops of core.
    Emitted,
    /// The op becomes constants, because its operands are constants.
    Computed,
    /// The import rejects the op, for this reason.
    Refused(String),
}

/// The outcome of a program in one opset and with one float type.
pub struct Outcome {
    /// The program.
    pub program: Program,
    /// The opset.
    pub opset: Opset,
    /// The float type.
    pub float: &'static str,
    /// The outcome of importing its op.
    pub import: Import,
    /// The reason why evaluation failed.
    pub evaluation: Result<(), String>,
}

/// Returns the outcomes of every program in every opset and with every float type that support its form, and the ops
/// that the lowering emits for the imported programs and for the cases of core.
pub fn outcomes() -> (Vec<Outcome>, BTreeSet<&'static str>) {
    let (mut outcomes, mut emitted) = (Vec::new(), BTreeSet::new());
    for program in programs() {
        for opset in OPSETS {
            for (float, _) in FLOATS {
                let text = program.text_in(float, opset.tag());
                let Some(g) = read(&text, Format::Mil) else {
                    continue;
                };
                let (import, imported) = imported(&g, program.op);
                if let Some(imported) = imported {
                    lowered(&imported, &mut emitted);
                }
                outcomes.push(Outcome {
                    program,
                    opset,
                    float,
                    import,
                    evaluation: evaluated(&g),
                });
            }
        }
    }
    for (_, dtype) in FLOATS {
        let cases = [all(), gathers(), placed_windows(), samples()]
            .into_iter()
            .flatten();
        let recognised = RECOGNISED.iter().map(ToString::to_string);
        for text in cases.map(|case| module(&case, dtype)).chain(recognised) {
            if let Some(g) = read(&text, Format::Core) {
                lowered(&g, &mut emitted);
            }
        }
    }
    (outcomes, emitted)
}

fn read(text: &str, format: Format) -> Option<Graph> {
    let options = LoadOptions {
        from: Some(format.info()),
        ..LoadOptions::default()
    };
    let read = parse_and_verify(&SESSION.formats, text, 0, &options);
    read.ok().map(|(_, g)| g)
}

/// Returns the Core text of a case; the second input of a gather has indices.
fn module(case: &Case, dtype: DType) -> String {
    let indices = case.op.starts_with("Gather");
    let input = |(at, shape): (usize, &Vec<usize>)| {
        let dtype = if at == 1 && indices {
            DType::I32
        } else {
            dtype
        };
        format!("%{at} = Input {{name=x{at}}} : tensor<{dtype}{shape:?}>\n")
    };
    let inputs: String = case.shapes.iter().enumerate().map(input).collect();
    inputs + &case.end()
}

/// Returns the outcome of importing the ops called `name`, and the imported module if there is one.
fn imported(g: &Graph, name: &str) -> (Import, Option<Graph>) {
    let mut own = g.walk().filter(|&op| g.def(op).short_name() == name);
    let computed =
        own.all(|op| mind_mil::fold::folded(g, op, LIMIT).is_some_and(|own| own.is_ok()));
    let mut module = g.clone();
    match mind_from_mil::import(&mut module) {
        Ok(_) if computed => (Import::Computed, Some(module)),
        Ok(_) => (Import::Emitted, Some(module)),
        Err(found) => (Import::Refused(reason(&found, name)), None),
    }
}

/// Returns why the op called `name` was rejected, or else the first error.
fn reason(found: &Diagnostics, name: &str) -> String {
    let start = format!("`mil.{name}` is not imported");
    let own = found.iter().find(|own| own.message.starts_with(&start));
    let own = own.and_then(|own| own.message.split_once(": "));
    let first = || found.first_error().map_or("", |first| &first.message);
    own.map_or_else(first, |(_, reason)| reason).to_owned()
}

/// Runs a program with its states as inputs.
fn evaluated(g: &Graph) -> Result<(), String> {
    let mut g = g.clone();
    let message = |found: Diagnostics| found.first_error().map(|first| first.message.clone());
    mind_mil::state::thread(&mut g).map_err(|found| message(found).unwrap_or_default())?;
    let array = |input: InputSpec<'_>| {
        let shape = input.ty.static_shape()?.into_iter();
        let shape = shape.map(|extent| extent as usize).collect();
        let tensor = Program::tensor(input.name, input.ty.dtype, shape);
        Some((input.name.to_owned(), tensor))
    };
    let arrays: Option<Arrays> = inputs(&g).into_iter().map(array).collect();
    let arrays = arrays.unwrap_or_default();
    let bound = bind(&g, &arrays, Extents::default()).map_err(|errors| format!("{errors:?}"))?;
    let ran = run(&g, &bound, &RunConfig::default());
    ran.map(|_| ()).map_err(|error| error.error.to_string())
}

/// Adds the MIL ops that a module is lowered to, with every float type, layout and opset.
fn lowered(g: &Graph, emitted: &mut BTreeSet<&'static str>) {
    for opset in OPSETS {
        let layouts = [Layout::Keep, Layout::Ane].into_iter();
        let configs = layouts.flat_map(|layout| FLOATS.map(|(_, float)| (layout, float)));
        for (layout, float) in configs {
            let config = Config {
                float,
                interface: Interface::Any,
                opset,
                layout,
                ..Config::default()
            };
            let mut low = g.clone();
            if mind_to_mil::lower(&mut low, &config).is_ok() {
                let rows = low.walk().filter_map(|op| row(low.def(op)));
                emitted.extend(rows.map(|row| row.name));
            }
        }
    }
}

/// Returns the op versions that do not have a program.
pub fn untried(outcomes: &[Outcome]) -> Vec<(&'static MilOp, Opset)> {
    let rows = ROWS.iter().flat_map(|&row| {
        let ends = row.signatures.iter().skip(1).map(|&(since, _)| Some(since));
        let ranges = row.signatures.iter().zip(ends.chain([None]));
        ranges.map(move |(&(since, _), end)| (row, since, end))
    });
    let tried = |row: &MilOp, since: Opset, end: Option<Opset>| {
        outcomes.iter().any(|own| {
            let within = own.opset >= since && end.is_none_or(|end| own.opset < end);
            own.program.op == row.name && within
        })
    };
    let missing = rows.filter(|&(row, since, end)| !tried(row, since, end));
    missing.map(|(row, since, _)| (row, since)).collect()
}
