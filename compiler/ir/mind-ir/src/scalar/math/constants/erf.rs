//! Constants of `erf`.

/// Constants for one float type.
#[derive(Clone, Copy, Debug)]
pub struct Constants<T: 'static> {
    /// The boundary between the two approximations.
    pub middle: T,
    /// The result for larger numbers rounds to 1.
    pub highest: T,
    /// (erf(x) - x) / x as a polynomial in x^2, below `middle`.
    pub small: &'static [T],
    /// ln(1 - erf(x)), from `middle` to `highest`.
    pub tail: &'static [T],
    /// `round` of `exp` plus the bit that becomes the sign of the power of two.
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
