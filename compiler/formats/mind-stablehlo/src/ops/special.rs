//! Special functions of CHLO, with the approximations of its legalisation to StableHLO.
//!
//! Source: `chlo_legalize_to_stablehlo` of the StableHLO repository; W. J. Cody, M. Giles and C. Lanczos for the
//! approximations.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::compare::Direction;
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::DType;

use super::Row;
use crate::import::emit::{Emit, One};
use crate::import::node::Node;

pub(super) const ROWS: &[Row] = &[
    Row::pointwise("chlo.square", |n| {
        let x = n.only()?;
        n.e.apply(ScalarFn::Mul, &[x, x])
    }),
    Row::pointwise("chlo.erfc", |n| in_single(n, erfc)),
    Row::pointwise("chlo.erf_inv", |n| in_single(n, erf_inv)),
    Row::pointwise("chlo.lgamma", |n| in_single(n, lgamma)),
    Row::pointwise("chlo.digamma", |n| in_single(n, digamma)),
    Row::pointwise("chlo.is_inf", |n| {
        let x = n.only()?;
        let size = n.e.apply(ScalarFn::Abs, &[x])?;
        let infinity = n.e.number(n.e.dtype(x), f64::INFINITY);
        n.e.compare(Direction::Eq, size, infinity)
    }),
    Row::pointwise("chlo.is_pos_inf", |n| equal_to(n, f64::INFINITY)),
    Row::pointwise("chlo.is_neg_inf", |n| equal_to(n, f64::NEG_INFINITY)),
    // A real number is its own conjugate.
    Row::pointwise("chlo.conj", |n| n.only()),
];

fn equal_to(n: &mut Node<'_, '_, '_>, number: f64) -> One {
    let x = n.only()?;
    let number = n.e.number(n.e.dtype(x), number);
    n.e.compare(Direction::Eq, x, number)
}

/// Applies an `f32` approximation; narrower floats are converted to `f32` first.
fn in_single(n: &mut Node<'_, '_, '_>, function: fn(&mut Emit<'_>, ValueId) -> One) -> One {
    n.ignore(&["result_accuracy"]);
    let x = n.only()?;
    let of = n.e.dtype(x);
    if !matches!(of, DType::F32 | DType::F16 | DType::BF16) {
        let refusal = Refusal::dtype(n.operand(0), of, "f32, f16 or bf16");
        return Err(refusal.help(
            "its approximation here is one of single precision: convert the operand to f32",
        ));
    }
    let wide = n.e.convert(x, DType::F32)?;
    let own = function(&mut n.e, wide)?;
    n.e.convert(own, of)
}

/// Returns a polynomial with coefficients from the highest power down.
fn polynomial(e: &mut Emit<'_>, x: ValueId, coefficients: &[f64]) -> One {
    let mut sum = e.number(DType::F32, coefficients[0]);
    for &coefficient in &coefficients[1..] {
        let product = e.apply(ScalarFn::Mul, &[sum, x])?;
        sum = e.apply_number(ScalarFn::Add, product, coefficient)?;
    }
    Ok(sum)
}

/// Returns `number - x`.
fn less(e: &mut Emit<'_>, number: f64, x: ValueId) -> One {
    let number = e.number(DType::F32, number);
    e.apply(ScalarFn::Sub, &[number, x])
}

/// Returns `number / x`.
fn over(e: &mut Emit<'_>, number: f64, x: ValueId) -> One {
    let number = e.number(DType::F32, number);
    e.apply(ScalarFn::Div, &[number, x])
}

/// Returns the comparison of `x` with a number.
fn test(e: &mut Emit<'_>, direction: Direction, x: ValueId, number: f64) -> One {
    let number = e.number(DType::F32, number);
    e.compare(direction, x, number)
}

/// Returns `1 - erf(x)` up to 1, and `exp(-x x) / x` times a polynomial of `1 / (x x)` beyond, because the difference
/// would lose the precision of small results.
fn erfc(e: &mut Emit<'_>, x: ValueId) -> One {
    const NEAR: &[f64] = &[
        2.326819970068386e-2,
        -1.387039388740657e-1,
        3.687424674597105e-1,
        -5.824733027278666e-1,
        6.210004621745983e-1,
        -4.944515323274145e-1,
        3.404879937665872e-1,
        -2.741127028184656e-1,
        5.638259427386472e-1,
    ];
    const FAR: &[f64] = &[
        -1.047766399936249e1,
        1.297719955372516e1,
        -7.495518717768503,
        2.921019019210786,
        -1.0152652792027,
        4.218463358204948e-1,
        -2.820767439740514e-1,
        5.641895067754075e-1,
    ];
    let size = e.apply(ScalarFn::Abs, &[x])?;
    let square = e.apply(ScalarFn::Mul, &[x, x])?;
    let minus = e.apply(ScalarFn::Neg, &[square])?;
    let power = e.apply(ScalarFn::Exp, &[minus])?;
    let inverse = over(e, 1.0, size)?;
    let y = e.apply(ScalarFn::Mul, &[inverse, inverse])?;
    let (near, far) = (polynomial(e, y, NEAR)?, polynomial(e, y, FAR)?);
    let is_near = test(e, Direction::Lt, size, 2.0)?;
    let factor = e.apply(ScalarFn::Select, &[is_near, near, far])?;
    let tail = e.apply(ScalarFn::Mul, &[power, inverse])?;
    let tail = e.apply(ScalarFn::Mul, &[tail, factor])?;
    let zero = e.number(DType::F32, 0.0);
    // Below this exponent the tail underflows to 0.
    let is_small = test(e, Direction::Lt, minus, -88.722_839_052_068_35)?;
    let tail = e.apply(ScalarFn::Select, &[is_small, zero, tail])?;
    let mirrored = less(e, 2.0, tail)?;
    let is_negative = test(e, Direction::Lt, x, 0.0)?;
    let outer = e.apply(ScalarFn::Select, &[is_negative, mirrored, tail])?;
    let erf = e.apply(ScalarFn::Erf, &[x])?;
    let inner = less(e, 1.0, erf)?;
    let is_outer = test(e, Direction::Gt, size, 1.0)?;
    e.apply(ScalarFn::Select, &[is_outer, outer, inner])
}

/// Returns `x` times a polynomial of `-log(1 - x x)`.
fn erf_inv(e: &mut Emit<'_>, x: ValueId) -> One {
    const NEAR: &[f64] = &[
        2.810_226_36e-8,
        3.432_739_39e-7,
        -3.523_387_7e-6,
        -4.391_506_54e-6,
        0.000_218_580_87,
        -0.001_253_725_03,
        -0.004_177_681_64,
        0.246_640_727,
        1.501_409_41,
    ];
    const FAR: &[f64] = &[
        -0.000_200_214_257,
        0.000_100_950_558,
        0.001_349_343_22,
        -0.003_673_428_44,
        0.005_739_507_73,
        -0.007_622_461_3,
        0.009_438_870_47,
        1.001_674_06,
        2.832_976_82,
    ];
    let minus = e.apply(ScalarFn::Neg, &[x])?;
    let square = e.apply(ScalarFn::Mul, &[x, minus])?;
    let log = e.apply(ScalarFn::Log1p, &[square])?;
    let w = e.apply(ScalarFn::Neg, &[log])?;
    let is_near = test(e, Direction::Lt, w, 5.0)?;
    let near = e.apply_number(ScalarFn::Sub, w, 2.5)?;
    let root = e.apply(ScalarFn::Sqrt, &[w])?;
    let far = e.apply_number(ScalarFn::Sub, root, 3.0)?;
    let (near, far) = (polynomial(e, near, NEAR)?, polynomial(e, far, FAR)?);
    let factor = e.apply(ScalarFn::Select, &[is_near, near, far])?;
    let own = e.apply(ScalarFn::Mul, &[factor, x])?;
    let size = e.apply(ScalarFn::Abs, &[x])?;
    let is_end = test(e, Direction::Eq, size, 1.0)?;
    let end = e.apply_number(ScalarFn::Mul, x, f64::INFINITY)?;
    e.apply(ScalarFn::Select, &[is_end, end, own])
}

/// The coefficients of Lanczos' approximation of the gamma function for g = 7.
const LANCZOS: [f64; 8] = [
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];
const BASE: f64 = 0.999_999_999_999_809_9;
const GAMMA_AND_HALF: f64 = 7.5;

/// Terms shared by lgamma and digamma.
struct Lanczos {
    needs_reflection: ValueId,
    /// `x - 1`, or `-x` if the reflection formula applies.
    z: ValueId,
    /// `z + 7.5`, and its logarithm.
    t: ValueId,
    log_t: ValueId,
}

impl Lanczos {
    fn of(e: &mut Emit<'_>, x: ValueId) -> Result<Lanczos, Refusal> {
        let needs_reflection = test(e, Direction::Lt, x, 0.5)?;
        let minus = e.apply(ScalarFn::Neg, &[x])?;
        let before = e.apply_number(ScalarFn::Sub, x, 1.0)?;
        let z = e.apply(ScalarFn::Select, &[needs_reflection, minus, before])?;
        let t = e.apply_number(ScalarFn::Add, z, GAMMA_AND_HALF)?;
        let part = e.apply_number(ScalarFn::Div, z, GAMMA_AND_HALF)?;
        let log = e.apply(ScalarFn::Log1p, &[part])?;
        let log_t = e.apply_number(ScalarFn::Add, log, GAMMA_AND_HALF.ln())?;
        Ok(Lanczos {
            needs_reflection,
            z,
            t,
            log_t,
        })
    }
}

fn lgamma(e: &mut Emit<'_>, x: ValueId) -> One {
    let own = Lanczos::of(e, x)?;
    let mut sum = e.number(DType::F32, BASE);
    for (at, &coefficient) in LANCZOS.iter().enumerate() {
        let place = e.apply_number(ScalarFn::Add, own.z, (at + 1) as f64)?;
        let part = over(e, coefficient, place)?;
        sum = e.apply(ScalarFn::Add, &[sum, part])?;
    }
    let ratio = e.apply(ScalarFn::Div, &[own.t, own.log_t])?;
    let half = e.apply_number(ScalarFn::Add, own.z, 0.5)?;
    let power = e.apply(ScalarFn::Sub, &[half, ratio])?;
    let power = e.apply(ScalarFn::Mul, &[power, own.log_t])?;
    let log = e.apply(ScalarFn::Log, &[sum])?;
    let whole = e.apply_number(
        ScalarFn::Add,
        power,
        (2.0 * std::f64::consts::PI).sqrt().ln(),
    )?;
    let log_y = e.apply(ScalarFn::Add, &[whole, log])?;
    // `log(pi / |sin(pi x)|) - log_y`, with the distance of x to the nearest integer.
    let size = e.apply(ScalarFn::Abs, &[x])?;
    let floor = e.apply(ScalarFn::Floor, &[size])?;
    let part = e.apply(ScalarFn::Sub, &[size, floor])?;
    let rest = less(e, 1.0, part)?;
    let is_beyond = test(e, Direction::Gt, part, 0.5)?;
    let part = e.apply(ScalarFn::Select, &[is_beyond, rest, part])?;
    let angle = e.apply_number(ScalarFn::Mul, part, std::f64::consts::PI)?;
    let sine = e.apply(ScalarFn::Sin, &[angle])?;
    let log_sine = e.apply(ScalarFn::Log, &[sine])?;
    let reflected = less(e, std::f64::consts::PI.ln(), log_sine)?;
    let reflected = e.apply(ScalarFn::Sub, &[reflected, log_y])?;
    let minus = e.apply(ScalarFn::Neg, &[log_sine])?;
    let size_of = e.apply(ScalarFn::Abs, &[log_sine])?;
    let is_pole = test(e, Direction::Eq, size_of, f64::INFINITY)?;
    let reflected = e.apply(ScalarFn::Select, &[is_pole, minus, reflected])?;
    let own = e.apply(ScalarFn::Select, &[own.needs_reflection, reflected, log_y])?;
    let infinity = e.number(DType::F32, f64::INFINITY);
    let is_infinite = test(e, Direction::Eq, size, f64::INFINITY)?;
    e.apply(ScalarFn::Select, &[is_infinite, infinity, own])
}

fn digamma(e: &mut Emit<'_>, x: ValueId) -> One {
    let own = Lanczos::of(e, x)?;
    let mut above = e.number(DType::F32, 0.0);
    let mut below = e.number(DType::F32, BASE);
    for (at, &coefficient) in LANCZOS.iter().enumerate() {
        let place = e.apply_number(ScalarFn::Add, own.z, (at + 1) as f64)?;
        let part = over(e, coefficient, place)?;
        let slope = e.apply(ScalarFn::Div, &[part, place])?;
        above = e.apply(ScalarFn::Sub, &[above, slope])?;
        below = e.apply(ScalarFn::Add, &[below, part])?;
    }
    let ratio = e.apply(ScalarFn::Div, &[above, below])?;
    let far = over(e, 7.0, own.t)?;
    let sum = e.apply(ScalarFn::Add, &[own.log_t, ratio])?;
    let value = e.apply(ScalarFn::Sub, &[sum, far])?;
    // `pi / tan(pi x)`, with the signed distance of x to the nearest integer.
    let moved = e.apply_number(ScalarFn::Add, x, 0.5)?;
    let nearest = e.apply(ScalarFn::Floor, &[moved])?;
    let part = e.apply(ScalarFn::Sub, &[x, nearest])?;
    let angle = e.apply_number(ScalarFn::Mul, part, std::f64::consts::PI)?;
    let tangent = e.apply(ScalarFn::Tan, &[angle])?;
    let cotangent = over(e, std::f64::consts::PI, tangent)?;
    let reflected = e.apply(ScalarFn::Sub, &[value, cotangent])?;
    let own = e.apply(ScalarFn::Select, &[own.needs_reflection, reflected, value])?;
    let nan = e.number(DType::F32, f64::NAN);
    let floor = e.apply(ScalarFn::Floor, &[x])?;
    let is_whole = e.compare(Direction::Eq, x, floor)?;
    let is_low = test(e, Direction::Le, x, 0.0)?;
    let is_pole = e.apply(ScalarFn::And, &[is_whole, is_low])?;
    e.apply(ScalarFn::Select, &[is_pole, nan, own])
}
