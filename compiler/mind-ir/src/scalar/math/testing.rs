//! What the tests of the functions share.

/// An input, the correctly rounded result, and the distance from there to the result of the
/// function: bit patterns and ulps away from zero.
pub(super) type Row<Bits, Distance> = (Bits, Bits, Distance);

/// Checks exact bits; the distances say how far they may be from correctly rounded ones.
pub(super) fn check_f32(function: fn(f32) -> f32, rows: &[Row<u32, i32>]) {
    for &(input, rounded, distance) in rows {
        assert!(distance.abs() <= 2, "{input:#010x} is {distance} ulp off");
        let (x, expected) = (f32::from_bits(input), rounded.wrapping_add_signed(distance));
        let found = function(x).to_bits();
        assert_eq!(
            found, expected,
            "f({x:e}) is {found:#010x}, expected {expected:#010x}"
        );
    }
}

/// As [`check_f32`].
pub(super) fn check_f64(function: fn(f64) -> f64, rows: &[Row<u64, i64>]) {
    for &(input, rounded, distance) in rows {
        assert!(distance.abs() <= 2, "{input:#018x} is {distance} ulp off");
        let (x, expected) = (f64::from_bits(input), rounded.wrapping_add_signed(distance));
        let found = function(x).to_bits();
        assert_eq!(
            found, expected,
            "f({x:e}) is {found:#018x}, expected {expected:#018x}"
        );
    }
}

/// Checks inputs and results, distinguishing the zeros and taking any NaN for any other.
pub(super) fn check_special(
    f32_function: fn(f32) -> f32,
    f64_function: fn(f64) -> f64,
    rows: &[(f64, f64)],
) {
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    for &(x, expected) in rows {
        let found = f64_function(x);
        assert!(
            same(found, expected),
            "f64: f({x:e}) is {found:e}, expected {expected:e}"
        );
        let (x, expected) = (x as f32, expected as f32);
        let found = f32_function(x);
        let (wide, expected) = (f64::from(found), f64::from(expected));
        assert!(
            same(wide, expected),
            "f32: f({x:e}) is {found:e}, expected {expected:e}"
        );
    }
}

/// Bit patterns spread over the whole range of f32, both signs, subnormals and NaN included, and
/// numbers where no function is saturated.
pub(super) fn sample_f32() -> impl Iterator<Item = f32> {
    let all = (0..=u32::MAX).step_by(262_147).map(f32::from_bits);
    all.chain((-16_384..16_384).map(|n| n as f32 * 0.001_234_5))
}

/// As [`sample_f32`].
pub(super) fn sample_f64() -> impl Iterator<Item = f64> {
    let all = (0..=u64::MAX)
        .step_by(1_125_899_906_842_679)
        .map(f64::from_bits);
    all.chain((-16_384..16_384).map(|n| f64::from(n) * 0.001_234_5))
}

/// Checks that a function is odd, bit for bit.
pub(super) fn check_odd(f32_function: fn(f32) -> f32, f64_function: fn(f64) -> f64) {
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    for x in sample_f32() {
        let (plus, minus) = (f32_function(x), f32_function(-x));
        assert!(same(plus.into(), (-minus).into()), "f({x:e})");
    }
    for x in sample_f64() {
        let (plus, minus) = (f64_function(x), f64_function(-x));
        assert!(same(plus, -minus), "f({x:e})");
    }
}

/// Checks that no result is above 1 in magnitude.
pub(super) fn check_bounded(f32_function: fn(f32) -> f32, f64_function: fn(f64) -> f64) {
    for x in sample_f32().filter(|x| !x.is_nan()) {
        let y = f32_function(x);
        assert!(y.abs() <= 1.0, "f({x:e}) is {y:e}");
    }
    for x in sample_f64().filter(|x| !x.is_nan()) {
        let y = f64_function(x);
        assert!(y.abs() <= 1.0, "f({x:e}) is {y:e}");
    }
}
