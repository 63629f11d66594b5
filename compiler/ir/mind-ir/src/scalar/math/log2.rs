//! `log2`.

use super::log::{Split, split, tail, with_special};
use super::pair::{Pair, ordered_sum, product};
use super::steps::{Lane, Steps};

/// log2(x).
///
/// With x = 2^e (1 + f) as in `log`, the result is e + log2(e) (f + (ln(1 + f) - f)), where log2(e) is 1/ln(2) and the
/// leading product is rounded only in the last sum. Powers of two are exact.
#[inline]
pub fn log2<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let Split { e, f } = split(b, x);
    let (w, f2) = tail(b, f);
    let p = b.mul(f2, w);
    let (log2_e, log2_e_lo) = (
        b.value(B::Lane::EXP.log2_e),
        b.value(B::Lane::LOG.log2_e_lo),
    );
    let Pair { hi: t, lo: t_lo } = product(b, f, log2_e);
    let rest = b.fma(f, log2_e_lo, t_lo);
    let rest = b.fma(p, log2_e, rest);
    let Pair { hi, lo } = ordered_sum(b, e, t);
    let rest = b.add(rest, lo);
    let finite = b.add(hi, rest);
    with_special(b, x, finite)
}
