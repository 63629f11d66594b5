//! Folds a scale and shift after a layer normalisation into its `gamma` and `beta`.

use mind_ir::tensor::{Num, Tensor};
use mind_ir::{OpId, ValueId, with_float};
use mind_mil::ops::normalization::LAYER_NORM;

use crate::emit::Argument::Value;
use crate::emit::{Argument, Emit, Lowered};
use crate::matching::{argument, ints, source};

/// Folds `layer_norm(x) * gamma` or `layer_norm(x) + beta` if the constant spans exactly the normalised axes, which
/// must be the last ones, and the normalisation has no other use.
pub(crate) fn folded(e: &mut Emit<'_, '_>, op: OpId, name: &'static str) -> Option<Lowered> {
    let (x, y) = (argument(e, op, "x")?, argument(e, op, "y")?);
    let (norm, own) = [(x, y), (y, x)].into_iter().find_map(|(norm, own)| {
        let found = source(e, norm, "layer_norm")?;
        let alone = e.g().uses(norm).is_single() && e.elements(own).is_some();
        alone.then_some((found, own))
    })?;
    let input = argument(e, norm, "x")?;
    let shape = e.shape(input).ok()?;
    let rank = shape.len() as i64;
    let axes = ints(e, norm, "axes")?;
    let given = |name: &str| argument(e, norm, name);
    let first = shape.len().checked_sub(axes.len())?;
    let is_last = axes
        .iter()
        .map(|axis| axis.rem_euclid(rank))
        .eq(first as i64..rank);
    if !is_last || given(name).is_some() || given("beta").is_some() {
        return None;
    }
    let inner: Vec<usize> = shape[first..]
        .iter()
        .map(|&extent| extent as usize)
        .collect();
    let tensor = e.elements(own).filter(|tensor| {
        let count = inner.iter().product::<usize>();
        tensor.shape().ends_with(&inner) && tensor.count() == count && tensor.rank() <= shape.len()
    })?;
    let (gamma, axes, epsilon) = (given("gamma"), given("axes")?, given("epsilon")?);
    let own = e.constant(&tensor.with_shape(inner.clone()));
    let ones = |e: &mut Emit<'_, '_>| {
        let count = inner.iter().product();
        with_float!(e.dtype(input), T => {
            let ones = Tensor::of(inner.clone(), vec![<T as Num>::ONE; count]);
            e.constant(&ones)
        }, else unreachable!("a normalisation is of floats"))
    };
    let mut args: Vec<(&str, Argument<'_>)> = vec![("x", Value(input)), ("axes", Value(axes))];
    let values: [(&str, Option<ValueId>); 2] = match name {
        "gamma" => [("gamma", Some(own)), ("beta", None)],
        // coremltools reads the shape of `gamma` whenever `beta` is given, so `gamma` is written as well.
        _ => [
            ("gamma", gamma.or_else(|| Some(ones(e)))),
            ("beta", Some(own)),
        ],
    };
    args.extend(
        values
            .into_iter()
            .filter_map(|(name, value)| Some((name, Value(value?)))),
    );
    args.push(("epsilon", Value(epsilon)));
    Some(e.op(&LAYER_NORM, &args))
}
