//! Every op, through core and through the tensor dialect, checked against the interpreter.

use std::collections::{BTreeMap, BTreeSet};

use mind_interp::{Extents, random_inputs};
use mind_ir::types::DType;
use mind_mil::Opset;
use mind_mil::check::Interface;
use mind_testgen::cases::{
    Case, all, choices, gathers, placed_windows, samples, scatters, systems,
};
use mind_to_mil::{Config, Layout};

use crate::module::{halved, lowered, narrowed, near, read, results, text};

/// Relative and absolute tolerance of f16 programs, because inputs, constants and every op round to 11 bits.
const HALVES: f64 = 3e-2;
/// Tolerance of f32 programs, because sums are taken in another order.
const SINGLES: f64 = 1e-5;

/// Ops whose only result is an integer, which programs cannot return. The lit files run them.
const INTEGERS: [&str; 3] = ["Dim", "ArgMax", "ArgMin"];

/// Ops that need a constant scale, which the generated cases do not have. The lit files run them.
const SCALED: [&str; 2] = ["Quantize", "Dequantize"];

/// Ops with regions, several results or only integers. The tests of control flow run them.
const SEVERAL: [&str; 5] = ["If", "While", "Sort", "TopK", "NonZero"];

/// Ops whose extents are given by an operand or depend on the elements, e.g. `NonMaxSuppression`. Their own tests run
/// them.
const RUNTIME: [&str; 4] = [
    "DynamicReshape",
    "DynamicBroadcastTo",
    "DynamicIota",
    "NonMaxSuppression",
];

fn module(case: &Case, dtype: DType, indices: DType) -> String {
    let mut text = String::new();
    for (at, shape) in case.shapes.iter().enumerate() {
        let dtype = if at == 1 { indices } else { dtype };
        let dims: Vec<String> = shape.iter().map(ToString::to_string).collect();
        let dims = dims.join(", ");
        // Programs can neither take nor return truth values.
        text += &match dtype {
            DType::Bool => format!(
                "%2{at} = Input {{name=x{at}}} : tensor<f32[{dims}]>\n%3{at} = Relu (%2{at})\n\
                 %{at} = Cast (%3{at}) {{dtype=bool}}\n"
            ),
            dtype => format!("%{at} = Input {{name=x{at}}} : tensor<{dtype}[{dims}]>\n"),
        };
    }
    let gives_truth = dtype == DType::Bool || case.op.starts_with("Compare");
    text += &format!("{}%9 = {}\n", case.before, case.op);
    match gives_truth {
        true => text + "%19 = Cast (%9) {dtype=f32}\noutputs: %19\n",
        false => text + "outputs: %9\n",
    }
}

fn configs() -> [(Config, f64); 3] {
    let singles = Config {
        float: DType::F32,
        interface: Interface::Any,
        layout: Layout::Keep,
        ..Config::default()
    };
    let convolved = Config {
        layout: Layout::Ane,
        opset: Opset::Ios17,
        ..Config::default()
    };
    [
        (Config::default(), HALVES),
        (convolved, HALVES),
        (singles, SINGLES),
    ]
}

#[test]
fn every_op_computes_what_it_did() {
    let mut ran: BTreeMap<String, usize> = BTreeMap::new();
    let mut refused: BTreeSet<String> = BTreeSet::new();
    let mut check = |case: &Case, dtype: DType, indices: DType| {
        let module = module(case, dtype, indices);
        let Ok(g) = read(&module) else {
            return;
        };
        let name = case
            .op
            .split([' ', '('])
            .next()
            .unwrap_or_default()
            .to_owned();
        let arrays = random_inputs(&g, 1, Extents::default()).expect("small arrays");
        let arrays = halved(arrays);
        let expected = results(&g, &arrays);
        for (config, error) in configs() {
            let low = match lowered(&g, &config) {
                Ok(low) => low,
                Err(why) => {
                    refused.insert(format!("{name}: {}", why.join("; ")));
                    continue;
                }
            };
            let found = results(&low, &narrowed(&low, &arrays));
            let (Some(expected), Some(found)) = (&expected, found) else {
                continue;
            };
            for (expected, found) in expected.iter().zip(&found) {
                near(expected, found, error)
                    .unwrap_or_else(|why| panic!("{why}\n{module}\n{}", text(&low)));
            }
            *ran.entry(name.clone()).or_default() += 1;
        }
    };
    for dtype in [DType::F32, DType::F16, DType::I32, DType::Bool] {
        // Halves lose more than the bound from row to row of a large system.
        let small = systems().into_iter().filter(|case| case.shapes[0][1] < 9);
        let plain = all().into_iter().chain(samples()).chain(small);
        plain.for_each(|case| check(&case, dtype, dtype));
        for case in [gathers(), placed_windows(), scatters()]
            .into_iter()
            .flatten()
        {
            check(&case, dtype, DType::I32);
        }
        for case in choices() {
            check(&case, dtype, DType::Bool);
        }
    }
    for op in mind_core::ops::OPS {
        let Some(name) = op.names.core else { continue };
        let constant = name.starts_with("Const")
            || matches!(name, "Input" | "Fused")
            || INTEGERS.contains(&name)
            || SCALED.contains(&name)
            || SEVERAL.contains(&name)
            || RUNTIME.contains(&name);
        assert!(
            constant || !mind_to_mil::lowers(op) || ran.contains_key(name),
            "{name} never ran: {refused:#?}"
        );
    }
}

#[test]
fn the_tensor_dialect_computes_the_same() {
    let mut ran = 0;
    for case in all() {
        let module = module(&case, DType::F32, DType::F32);
        let Ok(mut g) = read(&module) else {
            continue;
        };
        let arrays = random_inputs(&g, 1, Extents::default()).expect("small arrays");
        let arrays = halved(arrays);
        let Some(expected) = results(&g, &arrays) else {
            continue;
        };
        mind_to_tensor::lower(&mut g, &Default::default())
            .unwrap_or_else(|why| panic!("{}", why.message));
        let Ok(low) = lowered(&g, &Config::default()) else {
            continue;
        };
        let found = results(&low, &narrowed(&low, &arrays)).expect("a program that runs");
        for (expected, found) in expected.iter().zip(&found) {
            near(expected, found, HALVES)
                .unwrap_or_else(|why| panic!("{why}\n{module}\n{}", text(&low)));
        }
        ran += 1;
    }
    assert!(ran > 40, "only {ran} cases ran");
}
