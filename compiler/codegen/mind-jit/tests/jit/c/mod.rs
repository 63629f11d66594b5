//! Emitted C, compiled with the installed C compilers, against the interpreter of vector IR.

mod hard;
mod loops;
mod modules;
mod toolchain;

use mind_ir::scalar::Reduction;
use mind_ir::types::DType;
use mind_vir::ir::Function;
use mind_vir::target::{Isa, TargetInfo};

use crate::byte_products;
use crate::elementwise;
use crate::harness::{self, Input, Outcome};
use crate::programs::{self, Recipe};
use crate::reductions;
use crate::samples::Random;
use mind_vir::guarded::Edge;

use toolchain::{Library, OPTIONS, compilers};

/// A function, with calls and their expected outcomes.
struct Case {
    function: Function,
    calls: Vec<(Vec<Input>, Outcome)>,
}

impl Case {
    fn new(function: Function, inputs: impl IntoIterator<Item = Vec<Input>>) -> Case {
        let calls = inputs.into_iter().map(|inputs| {
            let outcome = harness::interpret(&function, &inputs);
            (inputs, outcome)
        });
        let calls = calls.collect();
        Case { function, calls }
    }
}

/// Compiles all functions as one file with each compiler and checks every call.
fn check(name: &str, cases: &[Case], options: &[&[&str]]) {
    let functions: Vec<&Function> = cases.iter().map(|case| &case.function).collect();
    for compiler in compilers() {
        for options in options {
            let library = Library::compile(name, &functions, compiler, options);
            for (number, case) in cases.iter().enumerate() {
                for (inputs, expected) in &case.calls {
                    for edge in [Edge::Start, Edge::End] {
                        let found = library.execute(number, inputs, edge);
                        assert!(
                            harness::same(expected, &found),
                            "{compiler} {options:?}: expected {expected:?}\nfound {found:?}\n{}\nwith {inputs:?}\nin\n{}",
                            harness::repeated(&found, &library.execute(number, inputs, edge)),
                            case.function
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn random_programs_give_the_same_bits_in_c_and_stay_in_their_buffers() {
    let cases = (0..12).map(|seed| {
        let recipe = Recipe::new(seed);
        // Gathers have at most 16 lanes.
        let lanes = Random::new(seed).pick(&[1, 2, 4, 8, 8, 16]);
        let program = programs::program(recipe, lanes);
        let mut random = Random::new(seed);
        let counts = (0..=2 * lanes as usize + 1).chain([67]);
        let inputs: Vec<_> = counts
            .map(|count| programs::inputs(&recipe, &program.results, count, &mut random))
            .collect();
        Case::new(program.function, inputs)
    });
    let cases: Vec<Case> = cases.collect();
    check("programs", &cases, OPTIONS);
}

#[test]
fn values_that_few_lanes_need_give_the_same_bits_in_c() {
    let (function, calls) = crate::if_any::case();
    check("if_any", &[Case::new(function, calls)], OPTIONS);
}

#[test]
fn products_of_bytes_are_exact_in_c() {
    let mut random = Random::new(63);
    let cases = [[false, true], [true, false], [true, true], [false, false]].map(|signs| {
        let case = byte_products::Case {
            extents: [17, 5, 21],
            signs,
            gaps: [4, 3, 1],
        };
        Case::new(case.function(), [case.inputs(&mut random).to_vec()])
    });
    check("byte_products", &cases, OPTIONS);
}

#[test]
fn numbers_convert_to_the_same_bits_in_c() {
    let cases = crate::conversions::cases();
    let cases = cases
        .into_iter()
        .map(|(function, call)| Case::new(function, [call]));
    check(
        "conversions",
        &cases.collect::<Vec<Case>>(),
        &[&["-O3", "-march=native"]],
    );
}

#[test]
fn scalar_functions_and_reductions_give_the_same_bits_in_c() {
    let (target, mut random) = (TargetInfo::of(Isa::Avx2), Random::new(5));
    let mut cases = Vec::new();
    for (function, dtype) in elementwise::cases() {
        let count = 45;
        let xs = elementwise::operands(function, dtype, count, &mut random);
        let mut inputs: Vec<Input> = xs.iter().map(Input::elements).collect();
        inputs.extend([Input::room(dtype, count), Input::Index(count as i64)]);
        let function = elementwise::kernel(function, dtype, &target, 1);
        cases.push(Case::new(function, [inputs]));
    }
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64, DType::U8] {
        for reduction in [
            Reduction::Sum,
            Reduction::Max,
            Reduction::Min,
            Reduction::Prod,
        ] {
            let function = reductions::kernel(reduction, dtype, &target);
            let inputs = [0, 1, 63, 130].map(|count| {
                let input = crate::samples::elements(dtype, count, &mut random);
                let count = Input::Index(count as i64);
                vec![Input::elements(&input), Input::room(dtype, 1), count]
            });
            cases.push(Case::new(function, inputs));
        }
    }
    check("scalars", &cases, &[&["-O3", "-march=native"]]);
}
