//! Loops that carry values of every type, and stores that overlap loads.

use mind_ir::types::DType;
use mind_vir::ir::{
    Addr, BinaryOp, Builder, Function, IndexOp, Lane, LoopKind, Op, Predicate, Signature, Value,
};

use crate::harness::Input;

use super::{Case, check};

const LANES: usize = 4;

fn numbers(count: usize) -> Input {
    let bytes = (0..count).flat_map(|at| (1.0 + at as f32 * 0.37).to_le_bytes());
    Input::Elements(DType::F32, bytes.collect())
}

/// Returns a function of two buffers and an extent, with calls of it.
fn case(name: &str, body: impl FnOnce(&mut Builder, [Value; 3])) -> Case {
    let mut signature = Signature::new(name, LANES as u32);
    let params = [signature.ptr(), signature.ptr(), signature.index()];
    let mut b = signature.body();
    body(&mut b, params);
    let function: Function = b.finish();
    let inputs = [0, 1, 2, 5, 9].map(|rounds| vec![numbers(64), numbers(64), Input::Index(rounds)]);
    Case::new(function, inputs)
}

fn load(b: &mut Builder, base: Value, element: i32) -> Value {
    b.load(Lane::F32, Addr::at(base).plus(4 * element), None)
}

fn each(
    b: &mut Builder,
    upper: Value,
    inits: &[Value],
    body: impl FnOnce(&mut Builder, &[Value], Value) -> Vec<Value>,
) -> Vec<Value> {
    let start = b.index(0);
    let bounds = (start, upper);
    let (_, results) = b.repeat(LoopKind::Rest, bounds, 1, inits, |b, round| {
        body(b, round.carried, round.index)
    });
    results
}

/// Vectors that swap places, so that none may be overwritten before all are read.
fn swap() -> Case {
    case("swap", |b, [from, to, rounds]| {
        let inits = [load(b, from, 0), load(b, from, 4), load(b, from, 8)];
        let results = each(b, rounds, &inits, |b, carried, _| {
            let sum = b.binary(BinaryOp::Add, carried[0], carried[1]);
            vec![carried[1], carried[0], sum]
        });
        for (at, result) in (0..).zip(results) {
            b.store(result, Addr::at(to).plus(16 * at), None);
        }
    })
}

/// A vector that is still used after the operation that computes its next value, in other lanes and in a store.
fn kept() -> Case {
    case("kept", |b, [from, to, rounds]| {
        let inits = [load(b, from, 0), load(b, from, 4)];
        let results = each(b, rounds, &inits, |b, carried, _| {
            let next = b.binary(BinaryOp::Mul, carried[0], carried[1]);
            let down = b.op(Op::LanesDown(carried[0], 2));
            let other = b.binary(BinaryOp::Add, down, next);
            b.store(carried[1], Addr::at(to).plus(64), None);
            vec![next, other]
        });
        for (at, result) in (0..).zip(results) {
            b.store(result, Addr::at(to).plus(16 * at), None);
        }
    })
}

/// Indices and masks.
fn scalars() -> Case {
    case("scalars", |b, [from, to, rounds]| {
        let (one, zero) = (b.index(1), b.index(0));
        let x = load(b, from, 0);
        let middle = b.f32(1.5);
        let mask = b.compare(Predicate::Lt, x, middle);
        let results = each(b, rounds, &[one, zero, mask], |b, carried, index| {
            let sum = b.index_op(IndexOp::Add, carried[0], carried[1]);
            let y = b.load(Lane::F32, Addr::element(from, index, Lane::F32), None);
            let mask = b.compare(Predicate::Lt, y, middle);
            let both = b.mask_op(mind_vir::ir::MaskOp::Or, carried[2], mask);
            vec![carried[1], sum, both]
        });
        let (ones, zeros) = (b.f32(1.0), b.f32(0.0));
        let chosen = b.select(results[2], ones, zeros);
        let at = b.index_op(IndexOp::Min, results[1], one);
        b.store(chosen, Addr::element(to, at, Lane::F32), None);
        // The buffer has Fibonacci numbers of at most nine rounds.
        b.store_first(x, Addr::element(to, results[0], Lane::F32));
    })
}

/// Pointers into one buffer, and pointers that alternate between two buffers.
fn pointers() -> Case {
    case("pointers", |b, [from, to, rounds]| {
        let back = b.address(Addr::at(to).plus(128));
        let results = each(b, rounds, &[from, to, back], |b, carried, _| {
            let x = load(b, carried[0], 0);
            let y = load(b, carried[1], 1);
            let sum = b.binary(BinaryOp::Add, x, y);
            b.store(sum, Addr::at(carried[2]), None);
            let next = b.address(Addr::at(carried[2]).plus(8));
            let first = b.address(Addr::at(carried[0]).plus(4));
            vec![carried[1], first, next]
        });
        let x = load(b, results[0], 2);
        b.store(x, Addr::at(results[1]).plus(8), None);
        b.store_first(x, Addr::at(results[2]));
    })
}

/// An inner loop that continues with the carried values of the outer one.
fn nested() -> Case {
    case("nested", |b, [from, to, rounds]| {
        let inits = [load(b, from, 0), load(b, from, 4)];
        let results = each(b, rounds, &inits, |b, outer, index| {
            let (sum, other) = (outer[0], outer[1]);
            let inner = each(b, index, &[sum, other], |b, inner, at| {
                let x = b.load_splat(Lane::F32, Addr::element(from, at, Lane::F32));
                let sum = b.fma(x, inner[1], inner[0]);
                vec![sum, inner[1]]
            });
            let next = b.binary(BinaryOp::Sub, inner[0], outer[1]);
            vec![inner[1], next]
        });
        for (at, result) in (0..).zip(results) {
            b.store(result, Addr::at(to).plus(16 * at), None);
        }
    })
}

/// Stores that later loads read, and stores that overlap each other and earlier loads.
fn overlapping() -> Case {
    case("overlapping", |b, [from, to, rounds]| {
        each(b, rounds, &[], |b, _, _| {
            let x = load(b, to, 0);
            let y = load(b, to, 2);
            let sum = b.binary(BinaryOp::Add, x, y);
            b.store(sum, Addr::at(to).plus(4), None);
            b.store(y, Addr::at(to).plus(12), None);
            let splat = b.load_splat(Lane::F32, Addr::at(to).plus(4));
            let z = load(b, to, 1);
            let product = b.binary(BinaryOp::Mul, z, splat);
            b.store(product, Addr::at(from), None);
            Vec::new()
        });
    })
}

/// Steps that do not divide a range with a nonzero lower bound, and an empty range.
fn steps() -> Case {
    case("steps", |b, [from, to, rounds]| {
        let (three, x) = (b.index(3), load(b, from, 0));
        for kind in [LoopKind::Whole, LoopKind::Rest] {
            let (last, _) = b.repeat(kind, (three, rounds), 4, &[], |b, round| {
                b.store_first(x, Addr::element(to, round.index, Lane::F32));
                Vec::new()
            });
            b.store_first(x, Addr::element(to, last, Lane::F32).plus(64));
        }
    })
}

#[test]
fn what_loops_carry_and_what_stores_overwrite_is_the_same_in_c() {
    let cases = [
        swap(),
        kept(),
        scalars(),
        pointers(),
        nested(),
        overlapping(),
        steps(),
    ];
    check("loops", &cases, super::OPTIONS);
}
