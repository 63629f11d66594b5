//! Batch normalisation for inference.

use mind_convert::{EmitCore, Refusal};
use mind_ir::scalar::ScalarFn;

use super::Row;
use super::shape::stretched;
use crate::import::node::Node;
use crate::text::Attr;

pub(super) const ROWS: &[Row] = &[Row::one("stablehlo.batch_norm_inference", |n| {
    n.count(5)?;
    let x = n.input(0)?;
    let rank = n.e.rank(x);
    let feature = n.axis(&["feature_index"], rank)?;
    let epsilon = n.float(&["epsilon"])?;
    let extents = n.e.extents_of(x, 0..rank)?;
    let mut lists = Vec::with_capacity(4);
    for at in 1..5 {
        let mut list = n.input(at)?;
        if at == 4 {
            list = n.e.apply_number(ScalarFn::Add, list, epsilon)?;
            list = n.e.apply(ScalarFn::Sqrt, &[list])?;
        }
        lists.push(stretched(&mut n.e, list, &[feature as i64], &extents)?);
    }
    let centred = n.e.apply(ScalarFn::Sub, &[x, lists[2]])?;
    let scaled = n.e.apply(ScalarFn::Mul, &[centred, lists[0]])?;
    let normal = n.e.apply(ScalarFn::Div, &[scaled, lists[3]])?;
    n.e.apply(ScalarFn::Add, &[normal, lists[1]])
})];

impl Node<'_, '_, '_> {
    /// Returns a float attribute.
    ///
    /// # Errors
    ///
    /// If it is missing or not a number.
    fn float(&self, names: &[&'static str]) -> Result<f64, Refusal> {
        match self.attr(names) {
            Some(Attr::Float(own)) => Ok(*own),
            Some(Attr::Int(own)) => Ok(*own as f64),
            Some(other) => Err(Refusal::value(names[0], other.describe(), "a number")),
            None => Err(Refusal::missing(names[0])),
        }
    }
}
