//! Programs of MIL that are imported and lowered again compute the same, with as many ops.

use mind_coreml::mil::{self, Spelling};
use mind_interp::{Arrays, Extents, InputSpec, RunConfig, bind, inputs, run};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::verify::{VerifyConfig, verify};
use mind_mil::Opset;
use mind_mil::call::floats;
use mind_mil::check::Interface;
use mind_mil::ops::row;
use mind_testgen::mil::{Program, programs};
use mind_text::limits::Limits;
use mind_to_mil::{Config, Layout};

/// How far the results of both programs may be apart, relatively and absolutely: in halves each op of a composition
/// rounds, in singles sums have another order.
const FLOATS: [(&str, f64); 2] = [("fp32", 1e-5), ("fp16", 4e-3)];

/// Ops whose programs are not imported, with the reason.
const NOT_IMPORTED: &[(&str, &str)] = &[
    ("affine", "not imported yet"),
    ("crop_resize", "not imported yet"),
    ("non_maximum_suppression", "not imported yet"),
    (
        "conv_quantized",
        "its reference leaves open how weights of few bits are packed",
    ),
    ("fill", "core has no op whose extents come at run time"),
    ("range_1d", "core has no op whose extents come at run time"),
    ("random_bernoulli", "its result is random"),
    ("random_categorical", "its result is random"),
    ("random_normal", "its result is random"),
    ("random_uniform", "its result is random"),
];

/// Ops whose programs are not lowered again, with the reason.
const NOT_LOWERED: &[(&str, &str)] = &[];

/// Ops whose programs become longer, with the reason.
const LONGER: &[(&str, &str)] = &[
    ("rnn", "it is unrolled"),
    ("gru", "it is unrolled"),
    ("lstm", "it is unrolled"),
];

/// What became of a program.
enum Fate {
    NotImported(String),
    NotLowered(String),
    /// How many ops it had and has, and why the results differ.
    Lowered {
        before: usize,
        after: usize,
        differs: Option<String>,
        text: String,
    },
}

fn excuse(list: &[(&str, &'static str)], op: &str) -> Option<&'static str> {
    let mut rows = list.iter();
    rows.find(|(own, _)| *own == op).map(|&(_, reason)| reason)
}

/// How many ops compute something.
fn size(g: &Graph) -> usize {
    g.walk().filter(|&op| row(g.def(op)).is_some()).count()
}

fn read(text: &str) -> Graph {
    let parsed = mil::parse(text, 0, &Limits::default(), Spelling::Compiler);
    let mut g = parsed.unwrap_or_else(|found| panic!("{:?}\n{text}", found.first_error()));
    let found = verify(&mut g, &VerifyConfig::default());
    assert!(!found.has_errors(), "{:?}\n{text}", found.first_error());
    g
}

/// What a program computes for the elements that cases prescribe, its states as inputs.
fn results(g: &Graph) -> Result<Vec<Tensor>, String> {
    let mut g = g.clone();
    mind_mil::state::thread(&mut g).map_err(|found| format!("{:?}", found.first_error()))?;
    let array = |input: InputSpec<'_>| {
        let shape = input.ty.static_shape().expect("static shapes").into_iter();
        let shape = shape.map(|extent| extent as usize).collect();
        let tensor = Program::tensor(input.name, input.ty.dtype, shape);
        (input.name.to_owned(), tensor)
    };
    let arrays: Arrays = inputs(&g).into_iter().map(array).collect();
    let bound = bind(&g, &arrays, Extents::default()).map_err(|errors| format!("{errors:?}"))?;
    run(&g, &bound, &RunConfig::default()).map_err(|error| error.error.to_string())
}

/// Where two results differ by more than `error`, or in the sign of a zero.
fn difference(expected: &Tensor, found: &Tensor, error: f64) -> Option<String> {
    let outer = |tensor: &Tensor| match tensor.shape() {
        // A program gives no scalar away.
        [] => vec![1],
        shape => shape.to_vec(),
    };
    if outer(expected) != outer(found) {
        return Some(format!("{:?} is no {:?}", found.shape(), expected.shape()));
    }
    if expected.dtype() != found.dtype() {
        return Some(format!("{} is no {}", found.dtype(), expected.dtype()));
    }
    let mut pairs = floats(expected).into_iter().zip(floats(found));
    let apart = |&(a, b): &(f64, f64)| {
        let equal = a == b && a.is_sign_negative() == b.is_sign_negative();
        let near = a != 0.0 && (a - b).abs() <= error * (1.0 + a.abs());
        !(equal || near || a.is_nan() && b.is_nan())
    };
    pairs.find(apart).map(|(a, b)| format!("{b:?} is no {a:?}"))
}

fn fate(program: &Program, (float, error): (&str, f64)) -> Fate {
    let source = read(&program.text(float));
    let mut g = source.clone();
    if let Err(found) = mind_from_mil::import(&mut g) {
        let first = found.first_error().map(|own| own.message.clone());
        return Fate::NotImported(first.unwrap_or_default());
    }
    let config = Config {
        // Halves stay halves, and singles stay singles.
        float: DType::F32,
        interface: Interface::Any,
        opset: Opset::parse(program.opset).expect("an opset"),
        layout: Layout::Keep,
        ..Config::default()
    };
    if let Err(found) = mind_to_mil::lower(&mut g, &config) {
        let first = found.first_error().map(|own| own.message.clone());
        return Fate::NotLowered(first.unwrap_or_default());
    }
    let text = mil::print(&g, Spelling::Compiler).expect("a program has a text");
    let lowered = read(&text);
    let pairs = results(&source).and_then(|expected| Ok((expected, results(&lowered)?)));
    let differs = match pairs {
        Err(why) => Some(why),
        Ok((expected, found)) => {
            let pairs = expected.iter().zip(&found);
            let mut apart = pairs.filter_map(|(a, b)| difference(a, b, error));
            apart.next()
        }
    };
    Fate::Lowered {
        before: size(&source),
        after: size(&lowered),
        differs,
        text,
    }
}

#[test]
fn programs_come_back_equivalent_and_no_longer() {
    let mut wrong = Vec::new();
    for program in programs() {
        for float in FLOATS {
            let (op, name) = (program.op, format!("{} {}", program.op, float.0));
            let [imported, lowered, longer] =
                [NOT_IMPORTED, NOT_LOWERED, LONGER].map(|list| excuse(list, op));
            match fate(&program, float) {
                Fate::NotImported(_) if imported.is_some() => {}
                Fate::NotImported(why) => wrong.push(format!("{name}: not imported: {why}")),
                Fate::NotLowered(_) if lowered.is_some() => {}
                Fate::NotLowered(why) => wrong.push(format!("{name}: not lowered: {why}")),
                Fate::Lowered {
                    before,
                    after,
                    differs,
                    text,
                } => {
                    wrong.extend(differs.map(|why| format!("{name}: {why}\n{text}")));
                    if after * 10 > before * 11 && longer.is_none() {
                        wrong.push(format!("{name}: {before} ops become {after}\n{text}"));
                    }
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} programs\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
