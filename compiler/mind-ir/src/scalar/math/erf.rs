//! `erf`.

use super::exp::{expm1_reduced, power_of_two};
use super::steps::{Lane, Steps, horner, join_sign, split_sign};

/// Constants of [`erf`].
#[derive(Clone, Copy, Debug)]
pub struct Constants<T: 'static> {
    /// Where the two approximations meet.
    pub middle: T,
    /// Above this the result rounds to 1.
    pub highest: T,
    /// (erf(x) - x) / x as a polynomial in x^2, below `middle`.
    pub small: &'static [T],
    /// ln(1 - erf(x)), from `middle` to `highest`.
    pub tail: &'static [T],
    /// `round` of `exp`, plus the bit that becomes the sign of the power of two.
    pub round_negated: T,
}

/// (erf(x) - x) / x in powers of x^2 for |x| <= 0.90625, relative error of erf(x) below 2^-26.
pub const SMALL_F32: [f32; 6] = [
    0.12837915,     // 3e0375d3
    -0.37612504,    // bec09376
    0.11281922,     // 3de70dc3
    -0.026770493,   // bcdb4dcb
    0.0049989596,   // 3ba3ce50
    -0.00060208066, // ba1dd4f3
];

/// ln(1 - erf(x)) for 0.90625 <= x <= 4, relative error of erf(x) below 2^-25.1.
pub const TAIL_F32: [f32; 6] = [
    -0.0018663454, // baf4a029
    -1.1202389,    // bf8f63fd
    -0.6506775,    // bf2692cd
    -0.091169216,  // bdbab6ed
    0.015601217,   // 3c7f9c3f
    -0.0012546994, // baa474ba
];

/// (erf(x) - x) / x in powers of x^2 for |x| <= 1, relative error of erf(x) below 2^-56.
pub const SMALL_F64: [f64; 12] = [
    0.12837916709551256,      // 3fc06eba8214db68
    -0.37612638903183343,     // bfd812746b03799d
    0.1128379167093695,       // 3fbce2f21a03f8b9
    -0.02686617064195914,     // bf9b82ce311a97d6
    0.005223977596735907,     // 3f7565bcceeda3a6
    -0.00085483254850012,     // bf4c02daeb704a7f
    0.00012055280496663067,   // 3f1f9a296b498be7
    -0.000014924465640682155, // beef4c82f05428ec
    1.6444150548573183e-6,    // 3ebb96b57944c401
    -1.6183990497277816e-7,   // be85b8c6dbdd5280
    1.3616692868767043e-8,    // 3e4d3ddb277039cd
    -7.607791203664637e-10,   // be0a23e248102d1e
];

/// ln(1 - erf(x)) for 1 <= x <= 6, relative error of erf(x) below 2^-56.9.
pub const TAIL_F64: [f64; 18] = [
    -5.028366345258394e-7,    // bea0df5573fc1f2b
    -1.1283740896108043,      // bff20dd1fd4883cd
    -0.6366436274517532,      // bfe45f6274e39639
    -0.10270344135827338,     // bfba4ac5d1d20839
    0.018990182493678818,     // 3f93722993058d69
    0.00041062270267204064,   // 3f3ae91b14377ab1
    -0.0019159378106669322,   // bf5f64068f3b228f
    0.0007706387518533679,    // 3f4940961e3d20bc
    -0.0001350476013875538,   // bf21b372100ec888
    -0.000020268000052725094, // bef540a65bacff78
    0.00002282301129541476,   // 3ef7ee8164cd80a6
    -8.66731515627613e-6,     // bee22d3ab9783736
    2.1357118493303537e-6,    // 3ec1ea68018684fc
    -3.7330871723483295e-7,   // be990d6519f54f14
    4.642359707407802e-8,     // 3e68ec691cf7d0ec
    -3.9343188276495895e-9,   // be30e5d44ce6076b
    2.0449931858746623e-10,   // 3dec1b2e1c276439
    -4.9286962804823855e-12,  // bd95ad37fb9cc6f8
];

/// The constants for f32.
pub const F32: Constants<f32> = Constants {
    middle: 0.90625,
    highest: 4.0,
    small: &SMALL_F32,
    tail: &TAIL_F32,
    round_negated: 12_582_912.0 + 127.0 + 256.0,
};

/// The constants for f64.
pub const F64: Constants<f64> = Constants {
    middle: 1.0,
    highest: 6.0,
    small: &SMALL_F64,
    tail: &TAIL_F64,
    round_negated: 6_755_399_441_055_744.0 + 1023.0 + 2048.0,
};

/// erf(x), the integral of 2/sqrt(pi) e^(-t^2) for t from 0 to x.
///
/// Below `middle` an odd polynomial, from there on 1 - e^t with a polynomial t.
#[inline]
pub fn erf<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::ERF;
    let (a, sign) = split_sign(b, x);
    let highest = b.value(c.highest);
    let a = b.min(highest, a);

    let a2 = b.mul(a, a);
    let small = horner(b, a2, c.small);
    let small = b.fma(small, a, a);

    let t = horner(b, a, c.tail);
    let (log2_e, round) = (b.value(B::Lane::EXP.log2_e), b.value(c.round_negated));
    let k = b.fma(t, log2_e, round);
    let n = b.sub(k, round);
    // One constant for ln(2) is enough: where n is large, e^t is small.
    let neg_ln2 = b.value(B::Lane::EXP.neg_ln2_hi);
    let r = b.fma(n, neg_ln2, t);
    let q = expm1_reduced(b, r);
    let neg_power = power_of_two(b, k);
    let one = b.value(B::Lane::ONE);
    let large = b.add(one, neg_power);
    let large = b.fma(q, neg_power, large);

    let middle = b.value(c.middle);
    let is_small = b.lt(a, middle);
    let result = b.select(is_small, small, large);
    join_sign(b, result, sign)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_odd, check_special};
    use super::super::{erf_f32, erf_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, 0.0),
            (-0.0, -0.0),
            (f64::INFINITY, 1.0),
            (f64::NEG_INFINITY, -1.0),
            (6.0, 1.0),
            (-6.0, -1.0),
            (f64::NAN, f64::NAN),
        ];
        check_special(erf_f32, erf_f64, &rows);
    }

    #[test]
    fn odd_and_bounded() {
        check_odd(erf_f32, erf_f64);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0001_16c2, 0x0001_3a8b, 0),
            (0x3727_c5ac, 0x373d_4f84, 0),
            (0x3dcc_cccd, 0x3de6_52f5, 0),
            (0x3e80_0000, 0x3e8d_7aa7, 0),
            (0x3f00_0000, 0x3f05_3f7b, 0),
            (0x3f40_0000, 0x3f36_0e4c, 0),
            (0x3f66_6666, 0x3f4c_022d, 0),
            (0x3f80_0000, 0x3f57_bb3d, 0),
            (0x3fc0_0000, 0x3f77_52ab, -1),
            (0x4000_0000, 0x3f7e_cd71, -1),
            (0x4040_0000, 0x3f7f_fe8d, 1),
            (0x3f68_f5c3, 0x3f4d_4832, 0),
            (0x4060_0000, 0x3f7f_fff4, 0),
            (0x4079_999a, 0x3f7f_ffff, 1),
            (0xbe99_999a, 0xbea8_41c5, 0),
            (0xbf73_3333, 0xbf52_25e6, 0),
            (0xc020_0000, 0xbf7f_e554, 1),
        ];
        check_f32(erf_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x0000_1268_8b70_e62b, 0x0000_14c5_8989_77c4, 0),
            (0x3ee4_f8b5_88e3_68f1, 0x3ee7_a9f0_84b5_e44c, 0),
            (0x3fb9_9999_9999_999a, 0x3fbc_ca5e_a24f_b334, 0),
            (0x3fd0_0000_0000_0000, 0x3fd1_af54_e232_d609, -1),
            (0x3fe0_0000_0000_0000, 0x3fe0_a7ef_5c18_edd2, 0),
            (0x3fe8_0000_0000_0000, 0x3fe6_c1c9_759d_0e5f, 0),
            (0x3fec_cccc_cccc_cccd, 0x3fe9_8045_a6c8_a2e6, 0),
            (0x3ff0_0000_0000_0000, 0x3fea_f767_a741_088b, 0),
            (0x3ff8_0000_0000_0000, 0x3fee_ea55_5713_7ae0, 0),
            (0x4000_0000_0000_0000, 0x3fef_d9ae_1427_95e3, 0),
            (0x4008_0000_0000_0000, 0x3fef_ffd1_ac41_35f9, 0),
            (0x4012_0000_0000_0000, 0x3fef_ffff_ffe4_fa30, 0),
            (0x3ff0_28f5_c28f_5c29, 0x3feb_1912_5366_b828, -1),
            (0x400c_0000_0000_0000, 0x3fef_fffe_710d_565e, 0),
            (0x4016_0000_0000_0000, 0x3fef_ffff_ffff_ffbe, 0),
            (0xbfd3_3333_3333_3333, 0xbfd5_0838_881d_ea0f, 0),
            (0xbfee_6666_6666_6666, 0xbfea_44bc_cc5a_6cb0, 0),
            (0xc004_0000_0000_0000, 0xbfef_fcaa_8f4c_9bea, 0),
        ];
        check_f64(erf_f64, &rows);
    }
}
