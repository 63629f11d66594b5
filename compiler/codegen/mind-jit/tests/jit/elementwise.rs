//! Every scalar function on every dtype that it supports.

use mind_core::ops::OPS;
use mind_ir::opdef::{OperandClass, Trait};
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Buffer;
use mind_ir::types::DType;
use mind_jit::lower;
use mind_vir::ir::{Function, Signature, Status};
use mind_vir::target::TargetInfo;

use crate::harness::{self, Input};
use crate::reference;
use crate::samples::{Random, divisors, elements};

/// `out[i] = function(in[i]...)`.
pub fn kernel(function: ScalarFn, dtype: DType, target: &TargetInfo, unroll: u32) -> Function {
    let lane = lower::compute_lane(dtype);
    let mut signature = Signature::new("apply", target.lanes(lane.bits()));
    let ins: Vec<_> = (0..function.arity()).map(|_| signature.ptr()).collect();
    let (out, extent) = (signature.ptr(), signature.index());
    let mut b = signature.body();
    let (types, result) = (operand_dtypes(function, dtype), function.result(dtype));
    lower::for_each(&mut b, extent, unroll, |b, at| {
        let place = |base, dtype| at.addr(base, lower::storage_lane(dtype));
        let xs: Vec<_> = (ins.iter().zip(&types))
            .map(|(&base, &dtype)| lower::load(b, dtype, place(base, dtype), at.count))
            .collect();
        let y = lower::apply(b, function, dtype, &xs, at.count);
        lower::store(b, result, y, place(out, result), at.count);
    });
    b.finish()
}

/// Returns the dtypes of the operands of `function` for `dtype`.
fn operand_dtypes(function: ScalarFn, dtype: DType) -> Vec<DType> {
    let first = match function {
        ScalarFn::Select => DType::Bool,
        _ => dtype,
    };
    let mut all = vec![dtype; function.arity()];
    all[0] = first;
    all
}

/// Returns every function with every dtype that it supports.
pub fn cases() -> Vec<(ScalarFn, DType)> {
    let functions = ScalarFn::ALL.iter();
    let cases = functions.flat_map(|&function| {
        let dtypes = DType::ALL.iter().copied();
        let dtypes = dtypes.filter(move |&dtype| function.domain().admits(dtype));
        dtypes.map(move |dtype| (function, dtype))
    });
    cases.collect()
}

#[test]
fn ops_have_the_domains_of_their_functions() {
    for op in OPS {
        let Some(function) = op.scalar else {
            let is_elementwise = op.traits.contains(&Trait::Elementwise);
            assert_eq!(
                is_elementwise,
                op.name == "core.cast",
                "{} names no function",
                op.name
            );
            continue;
        };
        assert_eq!(op.operands.len(), function.arity(), "{}", op.name);
        let is_choice = |at: usize| function == ScalarFn::Select && at == 0;
        for (at, operand) in op.operands.iter().enumerate() {
            let class = if is_choice(at) {
                OperandClass::Bool
            } else {
                function.domain()
            };
            assert_eq!(operand.class, class, "{}", op.name);
        }
    }
}

pub fn operands(
    function: ScalarFn,
    dtype: DType,
    count: usize,
    random: &mut Random,
) -> Vec<Buffer> {
    let dtypes = operand_dtypes(function, dtype);
    let operands = dtypes
        .into_iter()
        .map(|dtype| elements(dtype, count, random));
    let mut operands: Vec<Buffer> = operands.collect();
    let divides = [ScalarFn::Div, ScalarFn::Mod, ScalarFn::Remainder].contains(&function);
    if divides && dtype.is_int() {
        operands[1] = divisors(dtype, count);
    }
    if function == ScalarFn::Pow && dtype.is_int() {
        // 0 to a negative power is an error.
        operands[0] = divisors(dtype, count);
    }
    operands
}

#[test]
fn every_function_of_the_table_is_covered() {
    let functions: Vec<ScalarFn> = cases().into_iter().map(|(function, _)| function).collect();
    for function in ScalarFn::ALL {
        assert!(
            functions.contains(function),
            "no op of the table applies {function:?}"
        );
    }
    assert!(cases().len() > 100);
}

#[test]
fn kernels_give_the_bits_of_the_interpreter_at_every_length() {
    let mut random = Random::new(1);
    for target in harness::targets() {
        for (function, dtype) in cases() {
            let code = kernel(function, dtype, &target, 1);
            let Some(compiled) = harness::compiled(&code, target.isa) else {
                continue;
            };
            for count in 0..=2 * code.lanes() as usize + 1 {
                let xs = operands(function, dtype, count, &mut random);
                let mut inputs: Vec<Input> = xs.iter().map(Input::elements).collect();
                inputs.extend([
                    Input::room(function.result(dtype), count),
                    Input::Index(count as i64),
                ]);
                let (status, buffers) = harness::check(&code, &compiled, &inputs);
                assert_eq!(status, Status::OK);
                let expected =
                    reference::apply(function, &xs.iter().collect::<Vec<_>>()).expect("defined");
                let found = buffers.last().expect("the result");
                assert!(
                    expected.same_bits(found),
                    "{function:?} {dtype} on {}: expected {expected:?}\nfound {found:?}\nof {xs:?}",
                    target.isa
                );
            }
        }
    }
}

#[test]
fn unrolled_kernels_give_the_same_bits_on_many_elements() {
    let mut random = Random::new(2);
    for target in harness::targets() {
        for (function, dtype) in cases() {
            let code = kernel(function, dtype, &target, 4);
            let Some(compiled) = harness::compiled(&code, target.isa) else {
                continue;
            };
            let count = 1237;
            let xs = operands(function, dtype, count, &mut random);
            let mut inputs: Vec<Input> = xs.iter().map(Input::elements).collect();
            inputs.extend([
                Input::room(function.result(dtype), count),
                Input::Index(count as i64),
            ]);
            let found = harness::execute(&compiled, &inputs, mind_vir::guarded::Edge::End);
            let expected =
                reference::apply(function, &xs.iter().collect::<Vec<_>>()).expect("defined");
            let size = expected.dtype().size();
            let found = found.1.last().expect("the result");
            let bytes = (expected.to_bytes(), found.to_bytes());
            let differs = (0..count).find(|at| {
                let element = at * size..(at + 1) * size;
                bytes.0[element.clone()] != bytes.1[element]
            });
            assert!(
                expected.same_bits(found),
                "{function:?} {dtype} on {}, element {differs:?}: expected {:?}\nfound {:?}\nof {:?}",
                target.isa,
                differs.map(|at| &bytes.0[at * size..][..size]),
                differs.map(|at| &bytes.1[at * size..][..size]),
                differs.map(|at| {
                    let element = |x: &Buffer| x.to_bytes()[at * size..][..size].to_vec();
                    xs.iter().map(element).collect::<Vec<_>>()
                }),
            );
        }
    }
}

#[test]
fn quotients_that_do_not_exist_are_reported_and_trap_nowhere() {
    let smallest = i64::MIN.to_ne_bytes();
    for target in harness::targets() {
        for (dtype, lhs, rhs, expected) in [
            (
                DType::I64,
                smallest,
                (-1i64).to_ne_bytes(),
                Status::QUOTIENT_OVERFLOW,
            ),
            (
                DType::I64,
                smallest,
                0i64.to_ne_bytes(),
                Status::ZERO_DIVISOR,
            ),
            (
                DType::U64,
                smallest,
                0i64.to_ne_bytes(),
                Status::ZERO_DIVISOR,
            ),
            (DType::U64, smallest, (-1i64).to_ne_bytes(), Status::OK),
        ] {
            let code = kernel(ScalarFn::Div, dtype, &target, 1);
            let Some(compiled) = harness::compiled(&code, target.isa) else {
                continue;
            };
            for count in [1, 9] {
                let inputs = [
                    Input::Elements(dtype, lhs.repeat(count)),
                    Input::Elements(dtype, rhs.repeat(count)),
                    Input::room(dtype, count),
                    Input::Index(count as i64),
                ];
                let (status, _) = harness::check(&code, &compiled, &inputs);
                assert_eq!(status, expected, "{dtype} on {}", target.isa);
            }
        }
    }
}
