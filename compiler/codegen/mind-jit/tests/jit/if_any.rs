//! Bodies that run only if a lane needs them.

use mind_ir::types::DType;
use mind_vir::ir::{
    Addr, BinaryOp, Builder, Function, IndexOp, Lane, LoopKind, Predicate, Signature, Value,
};
use mind_vir::kernel::assemble;
use mind_vir::target::{Isa, TargetInfo};

use crate::harness::{self, Input};

/// Products that are live at the same time in the body, more than AVX2 has registers.
const PRODUCTS: usize = 20;

/// Sums a function of each element of a column, with `accumulators` vectors that live through the loop. Elements above
/// 1 in magnitude need the body, those above 2 also a nested one.
fn function(lane: Lane, accumulators: usize, target: &TargetInfo) -> Function {
    let lanes = target.lanes(lane.bits());
    let mut signature = Signature::new("rare", lanes);
    let (input, output, extent) = (signature.ptr(), signature.ptr(), signature.index());
    let mut b = signature.body();
    let (start, zero) = (b.index(0), b.constant(lane, 0));
    let inits = vec![zero; accumulators];
    let (rest, sums) = b.repeat(
        LoopKind::Whole,
        (start, extent),
        lanes.into(),
        &inits,
        |b, round| {
            let x = b.load(lane, Addr::element(input, round.index, lane), None);
            accumulated(b, lane, x, round.carried)
        },
    );
    let (_, sums) = b.repeat(
        LoopKind::Rest,
        (rest, extent),
        lanes.into(),
        &sums,
        |b, round| {
            let count = b.index_op(IndexOp::Sub, extent, round.index);
            let addr = Addr::element(input, round.index, lane);
            let x = b.load(lane, addr, Some(count));
            accumulated(b, lane, x, round.carried)
        },
    );
    for (place, sum) in (0..).zip(sums) {
        let ahead = place * (lanes * lane.bytes()) as i32;
        b.store(sum, Addr::at(output).plus(ahead), None);
    }
    b.finish()
}

fn number(b: &mut Builder, lane: Lane, x: f64) -> Value {
    match lane {
        Lane::F64 => b.f64(x),
        _ => b.f32(x as f32),
    }
}

fn accumulated(b: &mut Builder, lane: Lane, x: Value, sums: &[Value]) -> Vec<Value> {
    let square = b.binary(BinaryOp::Mul, x, x);
    let rare = rare(b, lane, x, square);
    let mut previous = rare[0];
    let sums = sums.iter().map(|&sum| {
        previous = b.binary(BinaryOp::Sub, sum, previous);
        previous = b.binary(BinaryOp::Add, previous, rare[1]);
        previous
    });
    sums.collect()
}

fn rare(b: &mut Builder, lane: Lane, x: Value, square: Value) -> Vec<Value> {
    let (one, four) = (number(b, lane, 1.0), number(b, lane, 4.0));
    let is_large = b.compare(Predicate::Lt, one, square);
    b.if_any(is_large, &[x, square], |b| {
        let products = (0..PRODUCTS).map(|at| {
            let factor = number(b, lane, 0.5 + at as f64);
            b.binary(BinaryOp::Mul, x, factor)
        });
        let products: Vec<Value> = products.collect();
        let is_larger = b.compare(Predicate::Lt, four, square);
        let inner = b.if_any(is_larger, &[one], |b| {
            let half = number(b, lane, -0.5);
            vec![b.fma(x, half, products[1])]
        });
        let mut sum = inner[0];
        for &product in products.iter().rev() {
            sum = b.binary(BinaryOp::Sub, product, sum);
        }
        vec![sum, inner[0]]
    })
}

fn bytes(lane: Lane, x: f64) -> Vec<u8> {
    match lane {
        Lane::F64 => x.to_le_bytes().to_vec(),
        _ => (x as f32).to_le_bytes().to_vec(),
    }
}

/// Columns in which no element, some or all elements need the body, and some or all need the nested one.
const COLUMNS: [[f64; 3]; 6] = [
    [0.25, -0.5, 1.0],
    [0.25, -1.5, 0.5],
    [1.25, -1.5, 1.75],
    [0.25, -3.5, 1.5],
    [2.5, -3.5, 3.0],
    [0.5, f64::NAN, f64::INFINITY],
];

fn inputs(lane: Lane, column: [f64; 3], count: usize, room: usize) -> Vec<Input> {
    let dtype = match lane {
        Lane::F64 => DType::F64,
        _ => DType::F32,
    };
    let elements = column.iter().cycle().take(count);
    vec![
        Input::Elements(dtype, elements.flat_map(|&x| bytes(lane, x)).collect()),
        Input::room(dtype, room),
        Input::Index(count as i64),
    ]
}

#[test]
fn bodies_run_where_a_lane_needs_them_and_change_no_other_lane() {
    for target in harness::targets() {
        for lane in [Lane::F32, Lane::F64] {
            for accumulators in [1, 9, 40] {
                let function = function(lane, accumulators, &target);
                let Some(compiled) = harness::compiled(&function, target.isa) else {
                    continue;
                };
                let lanes = function.lanes() as usize;
                for column in COLUMNS {
                    for count in [0, 1, lanes - 1, lanes, 3 * lanes + 1] {
                        let inputs = inputs(lane, column, count, accumulators * lanes);
                        harness::check(&function, &compiled, &inputs);
                    }
                }
            }
        }
    }
}

/// Returns a function for emitted C, with its calls.
pub fn case() -> (Function, Vec<Vec<Input>>) {
    let (lane, accumulators) = (Lane::F32, 3);
    let target = TargetInfo::of(Isa::Avx2);
    let function = function(lane, accumulators, &target);
    let lanes = function.lanes() as usize;
    let calls = COLUMNS.iter().map(|&column| {
        let count = 3 * lanes + 1;
        inputs(lane, column, count, accumulators * lanes)
    });
    (function, calls.collect())
}

#[test]
fn a_body_whose_results_are_not_read_is_left_out() {
    let function = |unread: bool| {
        let mut signature = Signature::new("unread", 4);
        let (input, output) = (signature.ptr(), signature.ptr());
        let mut b = signature.body();
        let x = b.load(Lane::F32, Addr::at(input), None);
        let read = rare(&mut b, Lane::F32, x, x)[0];
        if unread {
            rare(&mut b, Lane::F32, x, x);
        }
        b.store(read, Addr::at(output), None);
        b.finish()
    };
    for isa in [Isa::Avx2, Isa::Avx512] {
        let [one, both] = [false, true].map(|unread| {
            let code = assemble(&function(unread), isa);
            code.expect("it assembles").len()
        });
        assert_eq!(one, both, "{isa}");
    }
}
