//! Matrix products and other contractions.

use indexmap::IndexSet;
use mind_ir::types::{Dim, Shape};
use mind_ir::verify::{InferManyResult, VerifyError};

use super::rule::{agree, joined, rank, typed};
use crate::call::{Call, error, is_constant};

/// Multiplies `[.., M, K]` by `[.., K, N]`; either may be transposed. The batch dimensions are broadcast.
pub(crate) fn matmul(call: &Call<'_>) -> InferManyResult {
    rank(call, "x", 1..=usize::MAX)?;
    rank(call, "y", 1..=usize::MAX)?;
    let (x, y) = (call.ty("x"), call.ty("y"));
    one_float(call, ["x", "y"])?;
    let mut left: Shape = x.shape.iter().copied().collect();
    let mut right: Shape = y.shape.iter().copied().collect();
    let (row, column) = (left.len() == 1, right.len() == 1);
    if row {
        left.insert(0, Dim::Fixed(1));
    }
    if column {
        right.push(Dim::Fixed(1));
    }
    let (m, n) = (left.len(), right.len());
    if call.flag("transpose_x") && !row {
        left.swap(m - 1, m - 2);
    }
    if call.flag("transpose_y") && !column {
        right.swap(n - 1, n - 2);
    }
    agree(call, "the contracted extents", left[m - 1], right[n - 2])?;
    let mut shape = joined(call, &left[..m - 2], &right[..n - 2])?;
    if !row {
        shape.push(left[m - 2]);
    }
    if !column {
        shape.push(right[n - 1]);
    }
    typed(x.dtype, shape)
}

/// Checks that the factors have the same element type; a constant may be another float.
///
/// # Errors
///
/// Returns E4107 if they differ.
fn one_float(call: &Call<'_>, names: [&'static str; 2]) -> Result<(), Box<VerifyError>> {
    let [x, y] = names.map(|name| call.ty(name).dtype);
    let constant = names
        .into_iter()
        .filter_map(|name| call.value(name))
        .any(|value| is_constant(call.g, value));
    if x == y || constant && x.is_float() && y.is_float() {
        return Ok(());
    }
    let problem = format!(
        "`{}` and `{}` of `{}` have different element types: {x} and {y}",
        names[0], names[1], call.name
    );
    let help = "only a constant may be another float; a `cast` makes them alike";
    Err(error(4107, problem, Some(help.to_owned())))
}

/// Multiplies `[.., I]` by `weight` `[O, I]` and adds `bias` `[O]`.
pub(crate) fn linear(call: &Call<'_>) -> InferManyResult {
    rank(call, "x", 1..=usize::MAX)?;
    rank(call, "weight", 2..=2)?;
    let (x, weight) = (call.ty("x"), call.ty("weight"));
    one_float(call, ["x", "weight"])?;
    let mut shape: Shape = x.shape.iter().copied().collect();
    let last = shape.len() - 1;
    agree(
        call,
        "`weight` at dimension 1",
        shape[last],
        weight.shape[1],
    )?;
    shape[last] = weight.shape[0];
    if call.value("bias").is_some() {
        rank(call, "bias", 1..=1)?;
        agree(call, "`bias`", weight.shape[0], call.ty("bias").shape[0])?;
    }
    typed(x.dtype, shape)
}

/// Accepts two equations: `nchw,nwhu->nchu` and `abc,cbd->abd`, with any letters.
pub(crate) fn einsum(call: &Call<'_>) -> InferManyResult {
    let values = call.values("values");
    call.length("values", values.len(), 2)?;
    let (a, b) = (call.g.ty(values[0]), call.g.ty(values[1]));
    let equation: String = call.word("equation").split_whitespace().collect();
    let (named, rank) = match letters(&equation).as_str() {
        "abcd,adce->abce" => (true, 4),
        "abc,cbd->abd" => (true, 3),
        _ => (false, 0),
    };
    if !named || a.rank() != rank || b.rank() != rank {
        let found = format!("`{equation}` of ranks {} and {}", a.rank(), b.rank());
        return Err(call.refused("equation", &found, "`nchw,nwhu->nchu` or `abc,cbd->abd`"));
    }
    if a.dtype != b.dtype {
        let (op, lhs, rhs) = (call.name, a.dtype, b.dtype);
        return Err(Box::new(mind_ir::verify::VerifyError::DTypeClash {
            op,
            lhs,
            rhs,
        }));
    }
    let mut shape: Shape = a.shape.iter().copied().collect();
    match rank {
        4 => {
            agree(call, "the batch extents", a.shape[0], b.shape[0])?;
            agree(call, "the extents of `h`", a.shape[2], b.shape[2])?;
            agree(call, "the contracted extents", a.shape[3], b.shape[1])?;
            shape[3] = b.shape[3];
        }
        _ => {
            agree(call, "the extents of `b`", a.shape[1], b.shape[1])?;
            agree(call, "the contracted extents", a.shape[2], b.shape[0])?;
            shape[2] = b.shape[2];
        }
    }
    typed(a.dtype, shape)
}

/// Renames the letters of an equation to `a`, `b`, `c` in order of appearance.
fn letters(equation: &str) -> String {
    let mut seen = IndexSet::new();
    let renamed = equation.chars().take(64).map(|letter| {
        if !letter.is_ascii_alphabetic() {
            return letter;
        }
        let (at, _) = seen.insert_full(letter);
        char::from(b'a' + (at % 26) as u8)
    });
    renamed.collect()
}

/// Maps `[.., L, E]`, `[.., S, E]` and `[.., S, V]` to `[.., L, V]`; all leading dimensions are equal.
pub(crate) fn attention(call: &Call<'_>) -> InferManyResult {
    for name in ["query", "key", "value"] {
        rank(call, name, 3..=usize::MAX)?;
    }
    let [q, k, v] = ["query", "key", "value"].map(|name| call.ty(name));
    let rank_of = q.rank();
    rank(call, "key", rank_of..=rank_of)?;
    rank(call, "value", rank_of..=rank_of)?;
    for at in 0..rank_of - 2 {
        let name = format!("leading extents at dimension {at}");
        agree(call, &name, q.shape[at], k.shape[at])?;
        agree(call, &name, q.shape[at], v.shape[at])?;
    }
    agree(
        call,
        "`query` and `key` at the last dimension",
        q.shape[rank_of - 1],
        k.shape[rank_of - 1],
    )?;
    agree(
        call,
        "`key` and `value`, the source length",
        k.shape[rank_of - 2],
        v.shape[rank_of - 2],
    )?;
    if call.value("attn_mask").is_some() {
        rank(call, "attn_mask", 1..=rank_of)?;
        let mask = call.ty("attn_mask");
        let last = mask.shape[mask.rank() - 1];
        agree(
            call,
            "`attn_mask` at the last dimension",
            k.shape[rank_of - 2],
            last,
        )?;
        let mut scores: Shape = q.shape.iter().copied().collect();
        scores[rank_of - 1] = k.shape[rank_of - 2];
        joined(call, mask.shape, &scores)?;
    }
    let mut shape: Shape = q.shape.iter().copied().collect();
    shape[rank_of - 1] = v.shape[rank_of - 1];
    typed(q.dtype, shape)
}

#[cfg(test)]
mod tests {
    use super::letters;

    #[test]
    fn equations_are_the_same_in_any_letters() {
        assert_eq!(letters("nchw,nwhu->nchu"), "abcd,adce->abce");
        assert_eq!(letters("bkhc,bchq->bkhq"), "abcd,adce->abce");
        assert_ne!(letters("bchq,bkhc->bkhq"), "abcd,adce->abce");
    }
}
