//! Tests of the bits and the steps of all functions.

use super::FUNCTIONS;
use super::testing::{Counts, Function, sample_f32, sample_f64};

/// Every function with digests of its results in f32 and in f64, and its step counts.
#[rustfmt::skip]
const FIXED: &[(&str, [u64; 2], [Counts; 2])] = &[
    ("exp", [0xa35a_68a5_cc4c_83e0, 0xa0a8_ec17_c672_14da], [[12, 0, 2, 4, 0], [17, 0, 2, 4, 0]]),
    ("log", [0xbc05_6d52_0088_b3a6, 0xbeb9_fc53_49cb_044b], [[13, 0, 9, 5, 0], [25, 0, 9, 5, 0]]),
    ("tanh", [0x058a_7db3_7a12_6f9a, 0xe03b_6ebb_5cc6_aa64], [[19, 1, 3, 4, 0], [30, 1, 3, 4, 0]]),
    ("erf", [0x20a7_f5bc_6cca_bc9f, 0x0421_14b7_caee_9ed3], [[23, 0, 3, 4, 0], [46, 0, 3, 4, 0]]),
    ("sigmoid", [0xd066_d08f_3cc4_8492, 0x9578_f01c_c99f_81c1], [[13, 1, 5, 5, 0], [18, 1, 5, 5, 0]]),
    ("gelu", [0x0057_b971_d75f_0bd8, 0xcb7d_d02a_4bee_a667], [[44, 1, 2, 6, 0], [63, 1, 2, 6, 0]]),
    ("exp2", [0x3c88_ec5b_bfe8_facc, 0xc3c2_59d3_02ba_b684], [[12, 0, 2, 4, 0], [17, 0, 2, 4, 0]]),
    ("log2", [0x35e7_a9eb_d0d4_43af, 0x443a_4665_3acd_8458], [[21, 0, 9, 5, 0], [33, 0, 9, 5, 0]]),
    ("expm1", [0x147e_1369_646d_fb28, 0x87f7_c81e_7972_e581], [[19, 0, 4, 5, 0], [24, 0, 4, 5, 0]]),
    ("log1p", [0xe419_d51d_129c_72c9, 0xc9b0_a6b0_2920_058a], [[24, 1, 8, 5, 0], [36, 1, 8, 5, 0]]),
    ("sinh", [0xad0f_3705_5bcd_8b2f, 0xa31b_16dc_b814_72eb], [[40, 1, 3, 9, 0], [46, 1, 3, 9, 0]]),
    ("cosh", [0x71ad_8adc_8ce0_e844, 0xed1b_e5c7_a74a_c536], [[36, 1, 1, 8, 0], [41, 1, 1, 8, 0]]),
    ("asinh", [0x005f_3ae6_d984_0f2f, 0x2d66_8577_3a93_fcb0], [[39, 3, 9, 8, 0], [53, 3, 9, 8, 0]]),
    ("acosh", [0xa51b_0946_456d_8954, 0x7118_7c73_d8d6_388e], [[32, 3, 9, 5, 0], [44, 3, 9, 5, 0]]),
    ("atanh", [0x4fa9_9e4c_2e64_441a, 0x3bf7_d7ae_c813_35a7], [[32, 2, 6, 8, 0], [46, 2, 6, 8, 0]]),
    ("sin", [0x42d5_41b6_da9b_ea1a, 0x41f9_fbb1_c104_99ea], [[41, 0, 4, 6, 128], [47, 0, 4, 6, 156]]),
    ("cos", [0x58b8_f5ea_b1f6_690b, 0xecd6_4ddd_8b7b_ac73], [[42, 0, 4, 5, 128], [48, 0, 4, 5, 156]]),
    ("tan", [0x72bf_2012_93ad_be00, 0xf838_cffa_5732_95e0], [[44, 2, 7, 3, 128], [50, 2, 7, 3, 156]]),
    ("asin", [0x9acf_e38c_1884_4555, 0x23b2_a666_8a2a_e6ca], [[14, 1, 5, 3, 0], [21, 1, 5, 3, 0]]),
    ("acos", [0x1aee_79d9_2baa_eed1, 0x6e2b_f3d6_f667_ca0a], [[14, 1, 9, 2, 0], [21, 1, 9, 2, 0]]),
    ("atan", [0x0023_68d9_6491_e8ab, 0xe14f_10d1_aa37_d51e], [[18, 1, 11, 3, 0], [25, 1, 11, 3, 0]]),
    ("atan2", [0x7a1f_bba4_ac74_f770, 0xf236_3ed9_a32b_9906], [[22, 1, 36, 6, 0], [29, 1, 36, 6, 0]]),
    ("remainder", [0xf630_1e8f_6aa4_cc6e, 0x49a6_586c_5ac8_569b], [[4, 1, 6, 5, 108], [4, 1, 6, 5, 381]]),
    ("modulo", [0x2145_f20e_320f_da41, 0x9dec_2297_d7ef_2af9], [[5, 1, 14, 8, 108], [5, 1, 14, 8, 381]]),
    ("pow", [0x62c2_ef01_b681_6731, 0x773a_0a4d_70ce_bf79], [[75, 1, 19, 11, 42], [84, 1, 19, 11, 42]]),
];

/// Results are part of the semantics of a module, so a build, target or rewrite must not change a bit.
#[test]
fn bits_never_change() {
    for (function, &(name, digests, _)) in FUNCTIONS.iter().zip(FIXED) {
        assert_eq!(function.name, name);
        let found = [digest_f32(function), digest_f64(function)];
        assert_eq!(found, digests, "{name}: {found:#x?}");
    }
}

/// The cost of a vector kernel, and the cost of the steps that vectors rarely need.
#[test]
fn step_counts() {
    let found = FUNCTIONS
        .iter()
        .map(|function| (function.name, function.steps.map(|count| count())));
    let expected = FIXED.iter().map(|&(name, _, steps)| (name, steps));
    assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

/// FNV-1a over the bits of results.
fn digest(bits: impl Iterator<Item = u64>) -> u64 {
    bits.fold(0xcbf2_9ce4_8422_2325, |hash, bits| {
        (hash ^ bits).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Returns the digest of the results of a function. All NaNs count as the same. A second operand is the first with
/// rotated bits.
fn digest_f32(function: &Function) -> u64 {
    let results = sample_f32().map(|x| {
        let y = f32::from_bits(x.to_bits().rotate_left(13));
        (function.f32)(&[x, y][..function.arity])
    });
    let bits = |result: f32| {
        if result.is_nan() {
            u64::MAX
        } else {
            result.to_bits().into()
        }
    };
    digest(results.map(bits))
}

/// Returns the digest in f64, as [`digest_f32`] does in f32.
fn digest_f64(function: &Function) -> u64 {
    let results = sample_f64().map(|x| {
        let y = f64::from_bits(x.to_bits().rotate_left(29));
        (function.f64)(&[x, y][..function.arity])
    });
    let bits = |result: f64| {
        if result.is_nan() {
            u64::MAX
        } else {
            result.to_bits()
        }
    };
    digest(results.map(bits))
}

/// The cases of each function, in both formats.
///
/// A line is `f32` or `f64`, the bits of the operands, the bits of the correctly rounded result, and the distance in
/// ulps of the function's result from it, away from zero; or `both`, and the operands and the result as numbers.
#[test]
fn known_results() {
    for function in FUNCTIONS {
        let name = function.name;
        for format in ["f32", "f64"] {
            let mut lines = function.cases.lines();
            assert!(
                lines.any(|line| line.starts_with(format)),
                "{name} has no case in {format}"
            );
        }
        for line in function.cases.lines().filter(|line| !line.is_empty()) {
            let case = format!("{name}: {line}");
            let (format, words) = line.split_once(' ').expect(&case);
            let words: Vec<&str> = words.split(' ').collect();
            match format {
                "both" => check_numbers(function, &words, &case),
                "f32" => check_bits(&words, &case, |operands| {
                    let operands: Vec<f32> = operands
                        .iter()
                        .map(|&bits| f32::from_bits(bits as u32))
                        .collect();
                    (function.f32)(&operands).to_bits().into()
                }),
                "f64" => check_bits(&words, &case, |operands| {
                    let operands: Vec<f64> =
                        operands.iter().map(|&bits| f64::from_bits(bits)).collect();
                    (function.f64)(&operands).to_bits()
                }),
                _ => panic!("{case}"),
            }
        }
    }
}

/// Checks exact bits. The distance is the difference from the correctly rounded bits.
fn check_bits(words: &[&str], case: &str, function: impl Fn(&[u64]) -> u64) {
    let (words, &[rounded, distance]) = words.split_last_chunk().expect(case);
    let bits = |word: &str| {
        let digits = word.strip_prefix("0x").expect(case);
        u64::from_str_radix(digits, 16).expect(case)
    };
    let distance: i64 = distance.parse().expect(case);
    assert!(distance.abs() <= 2, "{case}");
    let operands: Vec<u64> = words.iter().map(|word| bits(word)).collect();
    let (found, expected) = (
        function(&operands),
        bits(rounded).wrapping_add_signed(distance),
    );
    assert_eq!(found, expected, "{case}: found {found:#x}");
}

/// Checks a result in both formats. Zeros of different signs differ, and all NaNs are equal.
fn check_numbers(function: &Function, words: &[&str], case: &str) {
    let numbers: Vec<f64> = words.iter().map(|word| word.parse().expect(case)).collect();
    let (expected, operands) = numbers.split_last().expect(case);
    let found = (function.f64)(operands);
    assert!(same(found, *expected), "{case}: found {found:e} in f64");
    let operands: Vec<f32> = operands.iter().map(|&x| x as f32).collect();
    let found = (function.f32)(&operands);
    assert!(
        same(found.into(), (*expected as f32).into()),
        "{case}: found {found:e} in f32"
    );
}

/// Returns whether two results have equal bits or are both NaN.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// Returns the functions with these names.
fn named(names: &[&str]) -> impl Iterator<Item = &'static Function> {
    let function = |name: &&str| FUNCTIONS.iter().find(|function| function.name == *name);
    names.iter().map(move |name| function(name).expect(name))
}

/// Odd functions are odd bit for bit.
#[test]
fn odd_functions() {
    for function in named(&[
        "asin", "asinh", "atan", "atanh", "erf", "sin", "sinh", "tan", "tanh",
    ]) {
        let name = function.name;
        for x in sample_f32() {
            let (plus, minus) = ((function.f32)(&[x]), (function.f32)(&[-x]));
            assert!(same(plus.into(), (-minus).into()), "{name}({x:e})");
        }
        for x in sample_f64() {
            let (plus, minus) = ((function.f64)(&[x]), (function.f64)(&[-x]));
            assert!(same(plus, -minus), "{name}({x:e})");
        }
    }
}

/// No result is above 1 in magnitude.
#[test]
fn bounded_functions() {
    for function in named(&["erf", "tanh"]) {
        let name = function.name;
        for x in sample_f32().filter(|x| !x.is_nan()) {
            let y = (function.f32)(&[x]);
            assert!(y.abs() <= 1.0, "{name}({x:e}) is {y:e}");
        }
        for x in sample_f64().filter(|x| !x.is_nan()) {
            let y = (function.f64)(&[x]);
            assert!(y.abs() <= 1.0, "{name}({x:e}) is {y:e}");
        }
    }
}
