//! Constants of `log`.

/// Constants for one float type.
#[derive(Clone, Copy, Debug)]
pub struct Constants<T: 'static, Bits> {
    /// The smallest normal number.
    pub normal: T,
    /// 2^MANTISSA, which scales subnormal numbers to normal ones.
    pub scale: T,
    /// The bit pattern of the smallest significand, 2/3.
    pub lowest: Bits,
    /// The bit pattern of 1 minus `lowest`.
    pub offset: Bits,
    /// The mask of the stored mantissa bits.
    pub mantissa: Bits,
    /// The bit pattern of 2^MANTISSA.
    pub integer: Bits,
    /// 2^MANTISSA + bias.
    pub bias: T,
    /// 2^MANTISSA + bias + MANTISSA.
    pub scaled_bias: T,
    /// ln(2).
    pub ln2: T,
    /// ln(2) rounded to so few bits that its product with any exponent is exact.
    pub ln2_hi: T,
    /// ln(2) minus `ln2_hi`.
    pub ln2_lo: T,
    /// log2(e) minus its rounded value.
    pub log2_e_lo: T,
    /// (ln(1 + f) - f) / f^2 for |f| <= 1/3.
    pub poly: &'static [T],
}

/// (ln(1 + f) - f) / f^2 for |f| <= 0.33335, relative error of ln(1 + f) below 2^-24.8.
pub const POLY_F32: [f32; 8] = [
    -0.49999937, // beffffeb
    0.33333197,  // 3eaaaa7d
    -0.25007823, // be800a41
    0.20011172,  // 3e4cea16
    -0.16415896, // be281949
    0.13995746,  // 3e0f5102
    -0.15388924, // be1d9524
    0.14026724,  // 3e0fa237
];

/// (ln(1 + f) - f) / f^2 for |f| <= 0.33335, relative error of ln(1 + f) below 2^-55.9.
pub const POLY_F64: [f64; 20] = [
    -0.49999999999999956, // bfdffffffffffff8
    0.3333333333333313,   // 3fd5555555555531
    -0.2500000000002948,  // bfd00000000014bf
    0.20000000000083978,  // 3fc99999999a0fca
    -0.16666666660886775, // bfc5555555358edc
    0.1428571427343768,   // 3fc249249205a6c9
    -0.12500000514969023, // bfc000000b0f1278
    0.11111112007962401,  // 3fbc71c742f6c312
    -0.09999974919840426, // bfb99995646a5448
    0.09090871324146191,  // 3fb745cb1e4b2432
    -0.0833406372503775,  // bfb555cfdf6b0d3d
    0.07693290872190509,  // 3fb3b1e006f25d42
    -0.0712961394157327,  // bfb24076bb1f230c
    0.06650369906883459,  // 3fb10662ec904cb1
    -0.06400025228186904, // bfb062520e7c8332
    0.06053807402006768,  // 3faefed8b028750a
    -0.04534508959913214, // bfa73778b9b994a8
    0.04167262300801595,  // 3fa5561d31ea7a79
    -0.08695618230821063, // bfb642c2a732e325
    0.08513638090498303,  // 3fb5cb7f73afcba3
];

/// The constants for f32.
pub const F32: Constants<f32, u32> = Constants {
    normal: f32::MIN_POSITIVE,
    scale: 8_388_608.0,
    lowest: 0x3f2a_aaab,
    offset: 0x3f80_0000 - 0x3f2a_aaab,
    mantissa: 0x007f_ffff,
    integer: 0x4b00_0000,
    bias: 8_388_608.0 + 127.0,
    scaled_bias: 8_388_608.0 + 127.0 + 23.0,
    ln2: std::f32::consts::LN_2,
    ln2_hi: 0.693_145_75,
    ln2_lo: 1.428_606_8e-6,
    log2_e_lo: 1.925_963e-8,
    poly: &POLY_F32,
};

/// The constants for f64.
pub const F64: Constants<f64, u64> = Constants {
    normal: f64::MIN_POSITIVE,
    scale: 4_503_599_627_370_496.0,
    lowest: 0x3fe5_5555_5555_5555,
    offset: 0x3ff0_0000_0000_0000 - 0x3fe5_5555_5555_5555,
    mantissa: 0x000f_ffff_ffff_ffff,
    integer: 0x4330_0000_0000_0000,
    bias: 4_503_599_627_370_496.0 + 1023.0,
    scaled_bias: 4_503_599_627_370_496.0 + 1023.0 + 52.0,
    ln2: std::f64::consts::LN_2,
    ln2_hi: 0.693_147_180_559_890_3,
    ln2_lo: 5.497_923_018_708_371e-14,
    log2_e_lo: 2.035_527_374_093_103_3e-17,
    poly: &POLY_F64,
};
