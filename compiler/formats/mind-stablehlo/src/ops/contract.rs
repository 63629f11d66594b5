//! Contractions.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::convolution::SumType;
use mind_core::ops::dot_general::DotGeneral;
use mind_ir::types::DType;

use super::Row;
use crate::import::emit::One;
use crate::import::node::{Node, axis, list};
use crate::text::Attr;

pub(super) const ROWS: &[Row] = &[
    Row::one("stablehlo.dot_general", dot_general),
    Row::one("stablehlo.dot", |n| {
        hints(n)?;
        n.count(2)?;
        let (lhs, rhs) = (n.input(0)?, n.input(1)?);
        let ranks = [n.e.rank(lhs), n.e.rank(rhs)];
        if !ranks.iter().all(|rank| (1..=2).contains(rank)) {
            let at = ranks
                .iter()
                .position(|rank| !(1..=2).contains(rank))
                .unwrap_or(0);
            let ty = n.e.g().type_text([lhs, rhs][at]);
            return Err(Refusal::rank(n.operand(at), ty, "1 or 2"));
        }
        let inner = [ranks[0] as i64 - 1];
        let dtype = sum_type(n)?;
        let dot = DotGeneral::with().lhs_contract(&inner).rhs_contract(&[0]);
        Ok(dot.dtype(dtype).build(&mut n.e, lhs, rhs)?)
    }),
];

/// Accepts hints about the precision of products, because products are at least as precise here.
pub(super) fn hints(n: &Node<'_, '_, '_>) -> Result<(), Refusal> {
    n.ignore(&["precision", "precision_config"]);
    match n.attr(&["algorithm"]) {
        None => Ok(()),
        Some(_) => Err(Refusal::unknown("algorithm")),
    }
}

/// Returns the dtype of sums: that of the result.
pub(super) fn sum_type(n: &mut Node<'_, '_, '_>) -> Result<SumType, Refusal> {
    let of = n.result_dtype()?;
    let x = n.input(0)?;
    if n.e.dtype(x) == of {
        return Ok(SumType::Same);
    }
    match of {
        DType::F32 => Ok(SumType::F32),
        DType::F64 => Ok(SumType::F64),
        DType::I32 => Ok(SumType::I32),
        DType::I64 => Ok(SumType::I64),
        other => Err(Refusal::dtype(
            "its result".to_owned(),
            other,
            format_args!("{}, f32, f64, i32 or i64", n.e.dtype(x)),
        )),
    }
}

/// Returns two lists of dimensions, `[..] x [..]`.
fn pair(
    n: &Node<'_, '_, '_>,
    name: &'static str,
    ranks: [usize; 2],
) -> Result<[Vec<i64>; 2], Refusal> {
    let wrong = |found: &Attr<'_>| {
        Refusal::value(
            name,
            found.describe(),
            "two lists of dimensions, `[..] x [..]`",
        )
    };
    let lists = match n.attr(&[name]) {
        None => [Vec::new(), Vec::new()],
        Some(Attr::Pair(both)) => {
            let (lhs, rhs) = &**both;
            let [lhs, rhs] = [lhs, rhs].map(|own| list(own).ok_or_else(|| wrong(own)));
            [lhs?, rhs?]
        }
        Some(other) => return Err(wrong(other)),
    };
    for (list, rank) in lists.iter().zip(ranks) {
        for &own in list {
            axis(own, rank)?;
        }
    }
    Ok(lists)
}

fn dot_general(n: &mut Node<'_, '_, '_>) -> One {
    hints(n)?;
    n.count(2)?;
    let (lhs, rhs) = (n.input(0)?, n.input(1)?);
    let ranks = [n.e.rank(lhs), n.e.rank(rhs)];
    let (batch, inner) = if n.attr(&["dot_dimension_numbers"]).is_some() {
        let fields = n.fields(&["dot_dimension_numbers"])?;
        fields.check(&[
            "lhs_batching_dimensions",
            "rhs_batching_dimensions",
            "lhs_contracting_dimensions",
            "rhs_contracting_dimensions",
        ])?;
        let batch = [
            fields.ints("lhs_batching_dimensions")?,
            fields.ints("rhs_batching_dimensions")?,
        ];
        let inner = [
            fields.ints("lhs_contracting_dimensions")?,
            fields.ints("rhs_contracting_dimensions")?,
        ];
        (batch, inner)
    } else {
        let batch = pair(n, "batching_dims", ranks)?;
        (batch, pair(n, "contracting_dims", ranks)?)
    };
    let dtype = sum_type(n)?;
    let dot = DotGeneral::with()
        .lhs_batch(&batch[0])
        .rhs_batch(&batch[1])
        .lhs_contract(&inner[0])
        .rhs_contract(&inner[1]);
    Ok(dot.dtype(dtype).build(&mut n.e, lhs, rhs)?)
}
