//! What the headers of weight files say of a model, which wins over its configuration.

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_weights::Role;

use super::config::{Said, rotary_dims};
use crate::checkpoint::{Index, Source};
use crate::codes;
use crate::config::{Parameters, Rope, RopeScaling};

/// The model as its weight files have it, and whether they keep q, k and v in one matrix.
///
/// Errors: tensors that no supported model has.
pub(super) fn parameters(
    said: &Said,
    sources: &[Source<'_>],
) -> Result<(Parameters, bool), Diagnostics> {
    let mut found = Diagnostics::new();
    let index = Index::new(sources, &mut found);
    if found.has_errors() {
        return Err(found);
    }
    let own = said.parameters;
    check_rotation(&own, sources)?;
    let (heads, fused) = (own.num_attention_heads, index.rows(Role::FusedQkv));
    let mut head_dim = own.head_dim;
    if !said.head_dim {
        let rows = index.rows(Role::Query).map(|rows| (rows, heads));
        let together = fused.map(|rows| {
            (
                rows,
                heads.saturating_add(own.num_kv_heads.saturating_mul(2)),
            )
        });
        if let Some(width) = rows.or(together).and_then(divided) {
            head_dim = width;
        }
    }
    let mut num_kv_heads = own.num_kv_heads;
    if !said.kv_heads {
        let rows = index.rows(Role::Key).map(|rows| (rows, head_dim));
        num_kv_heads = rows.and_then(divided).unwrap_or(num_kv_heads);
    }
    let rope = own.rope.map(|rope| Rope {
        rotary_dims: rotary_dims(head_dim, said.rotary_factor),
        ..rope
    });
    let parameters = Parameters {
        head_dim,
        num_kv_heads,
        biases: index.biases(),
        rope,
        tie_word_embeddings: said.tied.unwrap_or(!index.has(&[Role::LmHead])),
        ..own
    };
    Ok((parameters, fused.is_some()))
}

/// A quotient without remainder.
fn divided((rows, parts): (usize, usize)) -> Option<usize> {
    let quotient = rows.checked_div(parts)?;
    (quotient > 0 && quotient * parts == rows).then_some(quotient)
}

/// Errors: a file that stretches the rotation of a model whose configuration does not.
fn check_rotation(own: &Parameters, sources: &[Source<'_>]) -> Result<(), Diagnostics> {
    let scaling = own.rope.map(|rope| rope.scaling);
    let stretches = |source: &&Source<'_>| source.file.info("rope_freqs.weight").is_some();
    match sources.iter().find(stretches) {
        Some(source) if !matches!(scaling, Some(RopeScaling::Llama3 { .. })) => {
            let message = format!(
                "{}: `rope_freqs.weight` stretches the rotation, which the configuration does not say",
                source.name
            );
            Err(Diagnostic::error(Span::FILE, message)
                .code(codes::CONTRADICTION)
                .into())
        }
        _ => Ok(()),
    }
}
