//! Helper functions of emitted C on difficult operands.

use mind_ir::tensor::Buffer;
use mind_ir::types::DType;
use mind_jit::lower;
use mind_vir::ir::{Builder, ConvertOp, Function, Lane, Signature, UnaryOp, Value};

use crate::harness::Input;
use crate::samples::Random;

use super::{Case, check};

/// `out[i] = body(in[i]...)`.
fn map(
    name: &str,
    ins: &[Lane],
    out: Lane,
    body: impl Fn(&mut Builder, &[Value]) -> Value,
) -> Function {
    let mut signature = Signature::new(name, 8);
    let bases: Vec<Value> = ins.iter().map(|_| signature.ptr()).collect();
    let (to, extent) = (signature.ptr(), signature.index());
    let mut b = signature.body();
    lower::for_each(&mut b, extent, 1, |b, at| {
        let xs = ins.iter().zip(&bases);
        let xs: Vec<Value> = xs
            .map(|(&lane, &base)| b.load(lane, at.addr(base, lane), at.count))
            .collect();
        let y = body(b, &xs);
        b.store(y, at.addr(to, out), at.count);
    });
    b.finish()
}

fn case(function: Function, operands: &[(DType, Vec<u64>)], result: DType) -> Case {
    let count = operands[0].1.len();
    let mut inputs: Vec<Input> = Vec::new();
    for (dtype, bits) in operands {
        assert_eq!(bits.len(), count, "as many of each");
        let bytes = bits
            .iter()
            .flat_map(|bits| bits.to_le_bytes()[..dtype.size()].to_vec());
        inputs.push(Input::elements(&Buffer::from_bytes(
            *dtype,
            &bytes.collect::<Vec<u8>>(),
        )));
    }
    inputs.extend([Input::room(result, count), Input::Index(count as i64)]);
    Case::new(function, [inputs])
}

/// Returns a random sign, exponent field and fraction of a format. Few different exponents and fractions with long runs
/// of equal bits are drawn, so that operands interact.
fn float(random: &mut Random, exponent_bits: u32, fraction_bits: u32, near: u64) -> u64 {
    let most = (1u64 << exponent_bits) - 1;
    let exponent = match random.below(8) {
        0 => 0,
        1 => most,
        2 => random.bits() & most,
        3 => 1,
        4 => most - 1,
        _ => (near + random.bits() % 5).min(most),
    };
    let ones = (1u64 << fraction_bits) - 1;
    let fraction = match random.below(6) {
        0 => 0,
        1 => ones,
        2 => 1 << random.below(fraction_bits as usize),
        3 => ones << random.below(fraction_bits as usize) & ones,
        4 => ones >> random.below(fraction_bits as usize),
        _ => random.bits() & ones,
    };
    let sign = random.bits() & 1;
    sign << (exponent_bits + fraction_bits) | exponent << fraction_bits | fraction
}

/// Returns factors and addends whose exact results are close to ties, cancel, overflow, or are subnormal.
fn fma_operands(exponent_bits: u32, fraction_bits: u32, count: usize) -> [Vec<u64>; 3] {
    let mut random = Random::new(u64::from(fraction_bits));
    let bias = (1u64 << (exponent_bits - 1)) - 1;
    let mut operands: [Vec<u64>; 3] = Default::default();
    for _ in 0..count {
        let ea = random.bits() % (2 * bias);
        let eb = random.bits() % (2 * bias);
        let distance = random.bits() % (4 * u64::from(fraction_bits));
        let product = (ea + eb).saturating_sub(bias).min(2 * bias);
        let ec = (product + 2 * u64::from(fraction_bits)).saturating_sub(distance);
        for (operand, near) in operands.iter_mut().zip([ea, eb, ec]) {
            operand.push(float(&mut random, exponent_bits, fraction_bits, near));
        }
    }
    operands
}

#[test]
fn fma_rounds_once_with_and_without_the_instruction() {
    let [a, b, c] = fma_operands(8, 23, 60_000);
    let f32s = map("fma", &[Lane::F32; 3], Lane::F32, |b, xs| {
        b.fma(xs[0], xs[1], xs[2])
    });
    let f32s = case(
        f32s,
        &[(DType::F32, a), (DType::F32, b), (DType::F32, c)],
        DType::F32,
    );
    let [a, b, c] = fma_operands(11, 52, 60_000);
    let f64s = map("fma", &[Lane::F64; 3], Lane::F64, |b, xs| {
        b.fma(xs[0], xs[1], xs[2])
    });
    let f64s = case(
        f64s,
        &[(DType::F64, a), (DType::F64, b), (DType::F64, c)],
        DType::F64,
    );
    check(
        "fma",
        &[f32s, f64s],
        &[
            &["-O0"],
            &["-O3"],
            &["-O3", "-march=native"],
            &["-O0", "-DMIND_ANY_CPU"],
            &["-O3", "-DMIND_ANY_CPU"],
        ],
    );
}

#[test]
fn products_and_sums_stay_two_roundings() {
    let body = |b: &mut Builder, xs: &[Value]| {
        let product = b.binary(mind_vir::ir::BinaryOp::Mul, xs[0], xs[1]);
        b.binary(mind_vir::ir::BinaryOp::Add, product, xs[2])
    };
    let [a, b, c] = fma_operands(8, 23, 20_000);
    let f32s = map("muladd", &[Lane::F32; 3], Lane::F32, body);
    let f32s = case(
        f32s,
        &[(DType::F32, a), (DType::F32, b), (DType::F32, c)],
        DType::F32,
    );
    let [a, b, c] = fma_operands(11, 52, 20_000);
    let f64s = map("muladd", &[Lane::F64; 3], Lane::F64, body);
    let f64s = case(
        f64s,
        &[(DType::F64, a), (DType::F64, b), (DType::F64, c)],
        DType::F64,
    );
    let native: &[&[&str]] = &[
        &["-O0", "-march=native"],
        &["-O2"],
        &["-O2", "-march=native"],
        &["-O3", "-march=native"],
    ];
    check("contraction", &[f32s, f64s], native);
}

#[test]
fn square_roots_are_correctly_rounded_with_and_without_the_instruction() {
    let mut random = Random::new(6);
    let root = |b: &mut Builder, xs: &[Value]| b.unary(UnaryOp::Sqrt, xs[0]);
    // Squares, their neighbours, and random numbers.
    let mut f32s: Vec<u64> = (0..30_000)
        .map(|_| float(&mut random, 8, 23, 127))
        .collect();
    let mut f64s: Vec<u64> = (0..30_000)
        .map(|_| float(&mut random, 11, 52, 1023))
        .collect();
    for _ in 0..10_000 {
        let narrow = f32::from_bits(random.bits() as u32 & 0x7fff_ffff);
        let bits = u64::from((narrow * narrow).to_bits());
        f32s.extend([bits, bits.saturating_sub(1), bits + 1]);
        let wide = f64::from(f32::from_bits(random.bits() as u32 & 0x7fff_ffff));
        let bits = (wide * wide).to_bits();
        f64s.extend([bits, bits.saturating_sub(1), bits + 1]);
    }
    let cases = [
        case(
            map("sqrt", &[Lane::F32], Lane::F32, root),
            &[(DType::F32, f32s)],
            DType::F32,
        ),
        case(
            map("sqrt", &[Lane::F64], Lane::F64, root),
            &[(DType::F64, f64s)],
            DType::F64,
        ),
    ];
    let options: &[&[&str]] = &[&["-O0"], &["-O3"], &["-O2", "-U__SSE2__", "-U__aarch64__"]];
    check("sqrt", &cases, options);
}

#[test]
fn roundings_are_exact_around_integers_and_halves() {
    let mut random = Random::new(7);
    let mut f32s: Vec<u64> = (0..20_000)
        .map(|_| float(&mut random, 8, 23, 127))
        .collect();
    let mut f64s: Vec<u64> = (0..20_000)
        .map(|_| float(&mut random, 11, 52, 1023))
        .collect();
    for half in (0..2000u32).chain((1..60).map(|n| 1 << (n / 2))) {
        let (narrow, wide) = (half as f32 / 2.0, f64::from(half) / 2.0);
        for x in [
            narrow,
            narrow.next_up(),
            narrow.next_down(),
            narrow * 8192.0,
        ] {
            f32s.extend([x, -x].map(|x| u64::from(x.to_bits())));
        }
        for x in [
            wide,
            wide.next_up(),
            wide.next_down(),
            wide * 4_398_046_511_104.0,
        ] {
            f64s.extend([x, -x].map(f64::to_bits));
        }
    }
    let ops = [
        ("floor", UnaryOp::Floor),
        ("ceil", UnaryOp::Ceil),
        ("trunc", UnaryOp::Trunc),
        ("round", UnaryOp::Round),
    ];
    let mut cases = Vec::new();
    for (name, op) in ops {
        let body = |b: &mut Builder, xs: &[Value]| b.unary(op, xs[0]);
        let narrow = map(name, &[Lane::F32], Lane::F32, body);
        cases.push(case(narrow, &[(DType::F32, f32s.clone())], DType::F32));
        let wide = map(name, &[Lane::F64], Lane::F64, body);
        cases.push(case(wide, &[(DType::F64, f64s.clone())], DType::F64));
    }
    check("roundings", &cases, &[&["-O0"], &["-O3"]]);
}

#[test]
fn every_f16_converts_and_so_do_the_numbers_around_and_between_them() {
    let all: Vec<u64> = (0..=u64::from(u16::MAX)).collect();
    let widen = map("widen", &[Lane::I16], Lane::F32, |b, xs| {
        b.convert(ConvertOp::HalfToF32, Lane::F32, xs[0])
    });
    let narrow = map("narrow", &[Lane::F32], Lane::I16, |b, xs| {
        b.convert(ConvertOp::F32ToHalf, Lane::I16, xs[0])
    });
    let mut singles = Vec::new();
    for half in 0..=u16::MAX {
        let this = half::f16::from_bits(half).to_f32();
        let next = half::f16::from_bits(half.wrapping_add(1)).to_f32();
        let middle = (this + (next - this) / 2.0).to_bits();
        for bits in [
            this.to_bits(),
            middle,
            middle.wrapping_sub(1),
            middle.wrapping_add(1),
        ] {
            // NaN payloads are not part of a float result, but the bits of an integer are.
            if !f32::from_bits(bits).is_nan() {
                singles.push(u64::from(bits));
            }
        }
    }
    let cases = [
        case(widen, &[(DType::U16, all)], DType::F32),
        case(narrow, &[(DType::F32, singles)], DType::F16),
    ];
    check("half", &cases, &[&["-O0"], &["-O3", "-march=native"]]);
}
