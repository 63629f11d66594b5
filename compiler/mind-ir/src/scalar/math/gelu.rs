//! `gelu`.

use super::exp::{PowerOfTwo, expm1_reduced, nearest_power};
use super::steps::{Lane, Steps, horner, split_sign};

/// Constants of [`gelu`].
#[derive(Clone, Copy, Debug)]
pub struct Constants<T: 'static> {
    /// Above this the tail rounds to 0.
    pub highest: T,
    /// k.
    pub k: T,
    /// (a + k) R(a) as a polynomial in t.
    pub poly: &'static [T],
}

/// k = 3.375
pub const POLY_F32: [f32; 10] = [
    0.7410803, -0.55299217, 0.29537562, -0.098385155, 0.008722031, 0.007828622, -0.0022591925, -0.00085764716, 0.00031637878, 0.0001414578,
];
/// k = 5
pub const POLY_F64: [f64; 23] = [
     0.769193049750063      ,
     -0.6653825028900556    ,
     0.4953056159699705     ,
     -0.31353315667141246   ,
     0.16502036617072674    ,
     -0.06911863870295482   ,
     0.020795066792599775   ,
     -0.002993376819044417  ,
     -0.0007978693234897192 ,
     0.000544899457656474   ,
     -5.937614874963383e-05 ,
     -4.976476297543508e-05 ,
     1.6682545251736313e-05 ,
     3.9870745966212005e-06 ,
     -2.7714794885561366e-06,
     -3.4917152079436e-07   ,
     4.3422248245990314e-07 ,
     5.816488846580369e-08  ,
     -6.371500299955701e-08 ,
     -2.0703765204619356e-08,
     3.945778228599959e-09  ,
     5.2858816776047744e-09 ,
     1.5311530584151304e-09 ,
];

/// The constants for f32.
pub const F32: Constants<f32> = Constants { highest: 14.5, k: 3.375, poly: &POLY_F32 };
/// The constants for f64.
pub const F64: Constants<f64> = Constants { highest: 38.7, k: 5.0, poly: &POLY_F64 };

/// x (1 + erf(x / sqrt(2))) / 2.
#[inline]
pub fn gelu<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::GELU;
    let (a, _) = split_sign(b, x);
    let highest = b.value(c.highest);
    let a = b.min(highest, a);

    // v = a / (a + k) as a sum of two numbers.
    let (one, k) = (b.value(B::Lane::ONE), b.value(c.k));
    let d = b.add(a, k);
    let i = b.div(one, d);
    let v = b.mul(a, i);
    let neg_v = b.neg(v);
    let rest = b.fma(neg_v, d, a);
    let z = b.sub(d, k);
    let e = b.sub(a, z);
    let rest = b.fma(neg_v, e, rest);
    let v_lo = b.mul(rest, i);

    let (two, neg_one) = (b.value(B::Lane::TWO), b.value(B::Lane::NEG_ONE));
    let t = b.fma(v, two, neg_one);
    let t = b.fma(v_lo, two, t);
    let f = horner(b, t, c.poly);
    let y = b.mul(v, f);
    let neg_y = b.neg(y);
    let y_lo = b.fma(v, f, neg_y);
    let y_lo = b.fma(v_lo, f, y_lo);

    let neg_half = b.value(B::Lane::NEG_HALF);
    let g = b.mul(a, neg_half);
    let h = b.mul(g, a);
    let neg_h = b.neg(h);
    let l = b.fma(g, a, neg_h);
    let PowerOfTwo { n, first, second } = nearest_power(b, h);
    let (hi, lo) = (b.value(B::Lane::EXP.neg_ln2_hi), b.value(B::Lane::EXP.neg_ln2_lo));
    let r = b.fma(n, hi, h);
    let l = b.fma(n, lo, l);
    let r = b.add(r, l);
    let q = expm1_reduced(b, r);

    let s = b.fma(y, q, y_lo);
    let s = b.add(y, s);
    let s = b.mul(s, first);
    let tail = b.mul(s, second);
    let neg_zero = b.value(B::Lane::NEG_ZERO);
    let x = b.max(neg_zero, x);
    b.sub(x, tail)
}
