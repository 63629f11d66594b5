//! `select_and_scatter`, the gradient of pools.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::scatter::{ScatterNd, Update};
use mind_core::ops::window::ArgMaxWindow;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::Dim;

use super::Row;
use super::body::{Combiner, expressions};
use super::shape::stretched;
use super::window::entries;
use crate::import::emit::One;
use crate::import::node::Node;
use crate::import::value::Extent;

pub(super) const ROWS: &[Row] = &[Row::one("stablehlo.select_and_scatter", select_and_scatter)];

/// Adds each element of the source to the largest or smallest element in its window, the first if several are equal.
fn select_and_scatter(n: &mut Node<'_, '_, '_>) -> One {
    n.count(3)?;
    let (x, source) = (n.input(0)?, n.input(1)?);
    let (rank, of) = (n.e.rank(x), n.e.dtype(x));
    let window = entries(n, "window_dimensions", rank, 1)?;
    let strides = entries(n, "window_strides", rank, 1)?;
    let padding = entries(n, "padding", 2 * rank, 0)?;
    let selected = expressions(n, n.region(0)?).unwrap_or_default();
    // `a0 >= a1` has the canonical form `a1 <= a0`.
    let takes_largest = match selected.first().map(|own| &own[..]) {
        Some("le(a1,a0)" | "lt(a1,a0)") => true,
        Some("le(a0,a1)" | "lt(a0,a1)") => false,
        found => {
            let found = format!("`{}`", found.unwrap_or("something else"));
            let expected = "a comparison by `GE` or `LE`";
            return Err(Refusal::value(
                "what its first region returns".to_owned(),
                found,
                expected,
            ));
        }
    };
    if Combiner::of(n, n.region(1)?, of) != Some(Combiner::Sum) {
        return Err(Refusal::value(
            "what its second region returns".to_owned(),
            "another function",
            "a sum",
        ));
    }
    let Some(shape) = n.e.g().ty(x).static_shape() else {
        let refusal = Refusal::not_constant(n.operand(0), "has an open dimension");
        return Err(refusal.help("`--dim NAME=EXTENT` gives the extent"));
    };
    let count = shape.iter().try_fold(1i64, |n, own| n.checked_mul(*own));
    let count = count
        .ok_or_else(|| Refusal::too_large("the number of elements", "its product", "2^63 - 1"))?;
    let start = n.input(2)?;
    let e = &mut n.e;
    let low: Vec<i64> = padding.iter().copied().step_by(2).collect();
    let high: Vec<i64> = padding.iter().copied().skip(1).step_by(2).collect();
    let compared = match takes_largest {
        true => x,
        false => e.apply(ScalarFn::Neg, &[x])?,
    };
    let places = ArgMaxWindow::with(&window)
        .strides(&strides)
        .low(&low)
        .high(&high);
    let places = places.build(e, compared)?;
    let Some(chosen) = e.g().ty(places).static_shape() else {
        return Err(Refusal::not_constant(
            "the number of windows".to_owned(),
            "is open",
        ));
    };
    let chosen: i64 = chosen.iter().product();
    let places = e.reshape(places, &[Dim::Fixed(chosen), Dim::Fixed(1)])?;
    let source = e.reshape(source, &[Dim::Fixed(chosen)])?;
    let blank = stretched(e, start, &[], &[Extent::Known(count)])?;
    let added = ScatterNd::with()
        .kind(Update::Add)
        .build(e, blank, places, source)?;
    let shape: Vec<Dim> = shape.into_iter().map(Dim::Fixed).collect();
    e.reshape(added, &shape)
}
