//! Casts and bitcasts.

use mind_core::ops::convert::{Bitcast, Cast};
use mind_ir::opdef::Op;
use mind_ir::tensor::Element;
use mind_ir::tensor::rust_types::{BF16 as bf16, F16 as f16};
use mind_ir::types::DType;

use crate::elements::{assert_same, of};
use crate::run::{OPEN, RUN};

fn cast<A: Element, B: Element>(x: &[A], expected: &[B]) {
    let found = RUN.get(Cast::DEF, &Cast::attrs(B::DTYPE), &[&of(&[x.len()], x)]);
    let name = format!("{} to {}", A::DTYPE, B::DTYPE);
    assert_same(&found, &of(&[expected.len()], expected), &name);
}

#[test]
fn floats_are_truncated_and_saturate_as_integers() {
    let x = [2.9, -2.9, -0.5, f64::NAN, 1e30, f64::NEG_INFINITY];
    cast(&x, &[2i8, -2, 0, 0, 127, -128]);
    cast(&x, &[2u16, 0, 0, 0, u16::MAX, 0]);
    cast(&x, &[2i64, -2, 0, 0, i64::MAX, i64::MIN]);
    cast(&x, &[2u64, 0, 0, 0, u64::MAX, 0]);
    cast(
        &[2f32.powi(31), -(2f32.powi(31)), 2_147_483_520.0],
        &[i32::MAX, i32::MIN, 2_147_483_520],
    );
    cast(&[2f32.powi(63), 2f32.powi(62)], &[i64::MAX, 1 << 62]);
    cast(&[f16::MAX, f16::INFINITY], &[65504i32, i32::MAX]);
}

#[test]
fn integers_are_rounded_once_as_floats() {
    cast(
        &[16_777_217i32, -16_777_219],
        &[16_777_216.0f32, -16_777_220.0],
    );
    cast(&[u64::MAX, 1 << 63], &[2f64.powi(64), 2f64.powi(63)]);
    // Double rounding through f64 or f32 would make both a tie, which goes to even.
    cast(
        &[(1i64 << 60) + (1 << 36) + 1],
        &[2f32.powi(60) + 2f32.powi(37)],
    );
    cast(
        &[(257i64 << 52) + 1],
        &[bf16::from_f32(258.0 * 2f32.powi(52))],
    );
    cast(
        &[2049i32, 65520, -65520],
        &[f16::from_f32(2048.0), f16::INFINITY, f16::NEG_INFINITY],
    );
    cast(&[u32::MAX], &[4_294_967_295.0f64]);
}

#[test]
fn integers_keep_their_low_bits() {
    cast(&[300i32, -1, 128], &[44i8, -1, -128]);
    cast(&[-1i8], &[u64::MAX]);
    cast(&[200u8], &[-56i8]);
    cast(&[u32::MAX], &[4_294_967_295i64]);
}

#[test]
fn floats_are_rounded_to_nearest_even() {
    cast(
        &[1.0 + f64::EPSILON, 1e300, f64::NAN],
        &[1.0f32, f32::INFINITY, f32::NAN],
    );
    cast(&[65520.0f32, -0.0], &[f16::INFINITY, f16::NEG_ZERO]);
    cast(&[f16::from_f32(1.5)], &[1.5f64]);
    // A tie except for the last bit of f64.
    cast(
        &[1.0 + 2f64.powi(-8) + 2f64.powi(-50)],
        &[bf16::from_f32(1.0078125)],
    );
}

#[test]
fn whatever_is_not_zero_is_true() {
    cast(
        &[0.0f32, -0.0, f32::NAN, 1e-45],
        &[false, false, true, true],
    );
    cast(&[0i8, -1], &[false, true]);
    cast(&[false, true], &[0.0f32, 1.0]);
    cast(&[false, true], &[0u64, 1]);
    cast(&[true], &[true]);
}

#[test]
fn bits_become_elements_of_other_widths() {
    fn bits<A: Element, B: Element>(from: (&[usize], &[A]), to: (&[usize], &[B])) {
        let found = RUN.get(
            Bitcast::DEF,
            &Bitcast::attrs(B::DTYPE),
            &[&of(from.0, from.1)],
        );
        let name = format!("{} to {}", A::DTYPE, B::DTYPE);
        assert_same(&found, &of(to.0, to.1), &name);
    }
    bits((&[2], &[1.0f32, -0.0]), (&[2], &[0x3f80_0000u32, 1 << 31]));
    bits(
        (&[2], &[0x3f80_0000i32, -1]),
        (&[2], &[1.0f32, f32::from_bits(u32::MAX)]),
    );
    bits(
        (&[2], &[0x0102_0304u32, 5]),
        (&[2, 4], &[4u8, 3, 2, 1, 5, 0, 0, 0]),
    );
    bits((&[1, 4], &[0u16, 0, 0, 0x3ff0]), (&[1], &[1.0f64]));
    bits((&[2], &[true, false]), (&[], &[1u16]));
    bits::<u8, u64>((&[0, 8], &[]), (&[0], &[]));
    let text = OPEN.mismatch(
        Bitcast::DEF,
        &Bitcast::attrs(DType::U32),
        &[&of(&[2, 3], &[0u8; 6])],
    );
    assert!(
        text.contains("the last extent of [2, 3] is not 4"),
        "{text}"
    );
}
