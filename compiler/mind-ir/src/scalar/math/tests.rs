//! The bits and the steps of all functions.

use super::testing::{sample_f32, sample_f64};
use super::*;

/// FNV-1a over the bits of results, any NaN counting as the same.
fn digest(bits: impl Iterator<Item = u64>) -> u64 {
    bits.fold(0xcbf2_9ce4_8422_2325, |hash, bits| {
        (hash ^ bits).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn digest_f32(function: fn(f32) -> f32) -> u64 {
    let results = sample_f32().map(function);
    digest(results.map(|y| {
        if y.is_nan() {
            u64::MAX
        } else {
            u64::from(y.to_bits())
        }
    }))
}

fn digest_f64(function: fn(f64) -> f64) -> u64 {
    let results = sample_f64().map(function);
    digest(results.map(|y| if y.is_nan() { u64::MAX } else { y.to_bits() }))
}

/// What is fixed of a function.
struct Row {
    name: &'static str,
    f32: fn(f32) -> f32,
    f64: fn(f64) -> f64,
    count: [fn() -> Counts; 2],
    /// Of the results in f32 and in f64.
    digests: [u64; 2],
    /// The steps in f32 and in f64.
    steps: [Counts; 2],
}

macro_rules! functions {
    ($($module:ident::$function:ident($f32:ident, $f64:ident): $digests:expr, $steps:expr;)*) => {
        const FUNCTIONS: &[Row] = &[$(Row {
            name: stringify!($function),
            f32: $f32,
            f64: $f64,
            count: [|| count::<f32>($module::$function), || count::<f64>($module::$function)],
            digests: $digests,
            steps: $steps,
        },)*];
    };
}

functions! {
    exp::exp(exp_f32, exp_f64): [0xa35a_68a5_cc4c_83e0, 0xa0a8_ec17_c672_14da], [[12, 0, 2, 4], [17, 0, 2, 4]];
    log::log(log_f32, log_f64): [0xbc05_6d52_0088_b3a6, 0xbeb9_fc53_49cb_044b], [[13, 0, 9, 5], [25, 0, 9, 5]];
    tanh::tanh(tanh_f32, tanh_f64): [0x058a_7db3_7a12_6f9a, 0xe03b_6ebb_5cc6_aa64], [[19, 1, 3, 4], [30, 1, 3, 4]];
    erf::erf(erf_f32, erf_f64): [0x20a7_f5bc_6cca_bc9f, 0x0421_14b7_caee_9ed3], [[23, 0, 3, 4], [46, 0, 3, 4]];
    sigmoid::sigmoid(sigmoid_f32, sigmoid_f64): [0xd066_d08f_3cc4_8492, 0x9578_f01c_c99f_81c1], [[13, 1, 5, 5], [18, 1, 5, 5]];
    gelu::gelu(gelu_f32, gelu_f64): [0x0057_b971_d75f_0bd8, 0xcb7d_d02a_4bee_a667], [[44, 1, 2, 6], [63, 1, 2, 6]];
    exp2::exp2(exp2_f32, exp2_f64): [0x3c88_ec5b_bfe8_facc, 0xc3c2_59d3_02ba_b684], [[12, 0, 2, 4], [17, 0, 2, 4]];
    log2::log2(log2_f32, log2_f64): [0x35e7_a9eb_d0d4_43af, 0x443a_4665_3acd_8458], [[21, 0, 9, 5], [33, 0, 9, 5]];
    expm1::expm1(expm1_f32, expm1_f64): [0x147e_1369_646d_fb28, 0x87f7_c81e_7972_e581], [[19, 0, 4, 5], [24, 0, 4, 5]];
    log1p::log1p(log1p_f32, log1p_f64): [0xe419_d51d_129c_72c9, 0xc9b0_a6b0_2920_058a], [[24, 1, 8, 5], [36, 1, 8, 5]];
    sinh::sinh(sinh_f32, sinh_f64): [0xad0f_3705_5bcd_8b2f, 0xa31b_16dc_b814_72eb], [[40, 1, 3, 9], [46, 1, 3, 9]];
    cosh::cosh(cosh_f32, cosh_f64): [0x71ad_8adc_8ce0_e844, 0xed1b_e5c7_a74a_c536], [[36, 1, 1, 8], [41, 1, 1, 8]];
    asinh::asinh(asinh_f32, asinh_f64): [0x005f_3ae6_d984_0f2f, 0x2d66_8577_3a93_fcb0], [[39, 3, 9, 8], [53, 3, 9, 8]];
    acosh::acosh(acosh_f32, acosh_f64): [0xa51b_0946_456d_8954, 0x7118_7c73_d8d6_388e], [[32, 3, 9, 5], [44, 3, 9, 5]];
    atanh::atanh(atanh_f32, atanh_f64): [0x4fa9_9e4c_2e64_441a, 0x3bf7_d7ae_c813_35a7], [[32, 2, 6, 8], [46, 2, 6, 8]];
    asin::asin(asin_f32, asin_f64): [0x9acf_e38c_1884_4555, 0x23b2_a666_8a2a_e6ca], [[14, 1, 5, 3], [21, 1, 5, 3]];
    acos::acos(acos_f32, acos_f64): [0x1aee_79d9_2baa_eed1, 0x6e2b_f3d6_f667_ca0a], [[14, 1, 9, 2], [21, 1, 9, 2]];
    atan::atan(atan_f32, atan_f64): [0x0023_68d9_6491_e8ab, 0xe14f_10d1_aa37_d51e], [[18, 1, 11, 3], [25, 1, 11, 3]];
    sin::sin(sin_f32, sin_f64): [0x85e3_f3d9_7127_3446, 0x5844_f906_07d4_faf2], [[131, 0, 28, 6], [139, 0, 54, 6]];
    cos::cos(cos_f32, cos_f64): [0x8e49_4dc1_f8c8_371a, 0x4543_4fb7_25fd_7659], [[132, 0, 28, 5], [140, 0, 54, 5]];
    tan::tan(tan_f32, tan_f64): [0x6dae_46da_344c_d6eb, 0x82c8_776c_410d_a645], [[134, 2, 31, 3], [142, 2, 57, 3]];
}

/// Results are part of what a module means, so no build, target or rewrite may change a bit.
#[test]
fn bits_never_change() {
    for row in FUNCTIONS {
        let found = [digest_f32(row.f32), digest_f64(row.f64)];
        assert_eq!(found, row.digests, "{}: {found:#x?}", row.name);
    }
}

/// The cost of a vector kernel.
#[test]
fn step_counts() {
    for row in FUNCTIONS {
        let found = row.count.map(|count| count());
        assert_eq!(found, row.steps, "{}", row.name);
    }
}

/// Arithmetic, divisions with square roots, compares with selects, integer steps.
type Counts = [u32; 4];

/// Counts steps by kind, as a lowering would see them; constants are free.
#[derive(Default)]
struct Counter<T> {
    float: u32,
    divide: u32,
    select: u32,
    integer: u32,
    lane: std::marker::PhantomData<T>,
}

impl<T: Lane> Steps for Counter<T> {
    type Lane = T;
    type Value = ();
    type Int = ();
    type Mask = ();

    fn value(&mut self, _: T) {}
    fn int(&mut self, _: T::Bits) {}
    fn neg(&mut self, (): ()) {}
    fn bits(&mut self, (): ()) {}
    fn float(&mut self, (): ()) {}

    fn add(&mut self, (): (), (): ()) {
        self.float += 1;
    }
    fn sub(&mut self, (): (), (): ()) {
        self.float += 1;
    }
    fn mul(&mut self, (): (), (): ()) {
        self.float += 1;
    }
    fn fma(&mut self, (): (), (): (), (): ()) {
        self.float += 1;
    }
    fn round(&mut self, (): ()) {
        self.float += 1;
    }
    fn div(&mut self, (): (), (): ()) {
        self.divide += 1;
    }
    fn sqrt(&mut self, (): ()) {
        self.divide += 1;
    }
    fn lt(&mut self, (): (), (): ()) {
        self.select += 1;
    }
    fn eq(&mut self, (): (), (): ()) {
        self.select += 1;
    }
    fn select(&mut self, (): (), (): (), (): ()) {
        self.select += 1;
    }
    fn min(&mut self, (): (), (): ()) {
        self.select += 1;
    }
    fn max(&mut self, (): (), (): ()) {
        self.select += 1;
    }
    fn iadd(&mut self, (): (), (): ()) {
        self.integer += 1;
    }
    fn isub(&mut self, (): (), (): ()) {
        self.integer += 1;
    }
    fn and(&mut self, (): (), (): ()) {
        self.integer += 1;
    }
    fn or(&mut self, (): (), (): ()) {
        self.integer += 1;
    }
    fn shl(&mut self, (): (), _: u32) {
        self.integer += 1;
    }
    fn shr(&mut self, (): (), _: u32) {
        self.integer += 1;
    }
}

fn count<T: Lane>(function: fn(&mut Counter<T>, ())) -> Counts {
    let mut counter = Counter {
        float: 0,
        divide: 0,
        select: 0,
        integer: 0,
        lane: std::marker::PhantomData,
    };
    function(&mut counter, ());
    [
        counter.float,
        counter.divide,
        counter.select,
        counter.integer,
    ]
}

/// The digest of a function of two numbers; the second has the bits of the first, rotated.
fn digest_pairs_f32(function: fn(f32, f32) -> f32) -> u64 {
    let results = sample_f32().map(|x| function(x, f32::from_bits(x.to_bits().rotate_left(13))));
    digest(results.map(|y| {
        if y.is_nan() {
            u64::MAX
        } else {
            u64::from(y.to_bits())
        }
    }))
}

/// As [`digest_pairs_f32`].
fn digest_pairs_f64(function: fn(f64, f64) -> f64) -> u64 {
    let results = sample_f64().map(|x| function(x, f64::from_bits(x.to_bits().rotate_left(29))));
    digest(results.map(|y| if y.is_nan() { u64::MAX } else { y.to_bits() }))
}

#[test]
fn bits_of_functions_of_two_never_change() {
    let found = [
        [digest_pairs_f32(atan2_f32), digest_pairs_f64(atan2_f64)],
        [digest_pairs_f32(pow_f32), digest_pairs_f64(pow_f64)],
        [
            digest_pairs_f32(remainder_f32),
            digest_pairs_f64(remainder_f64),
        ],
        [digest_pairs_f32(mod_f32), digest_pairs_f64(mod_f64)],
    ];
    let expected = [
        [0x7a1f_bba4_ac74_f770, 0xf236_3ed9_a32b_9906],
        [0x62c2_ef01_b681_6731, 0x773a_0a4d_70ce_bf79],
        [0xf630_1e8f_6aa4_cc6e, 0x49a6_586c_5ac8_569b],
        [0x2145_f20e_320f_da41, 0x9dec_2297_d7ef_2af9],
    ];
    assert_eq!(found, expected, "{found:#x?}");
}
