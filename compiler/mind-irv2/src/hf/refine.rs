//! Refines the description of a model by the headers of its weight files, which take precedence over its configuration.

use mind_diag::{Diagnostic, Diagnostics, Severity, Span};
use mind_weights::Container;

use super::config::{RawHfConfig, TIED, rotary_dims};
use super::gguf;
use crate::checkpoint::{Index, LM_HEAD, Source, factors};
use crate::codes;
use crate::config::{Biases, Parameters, Rope, RopeScaling};
use crate::family::{Families, Family};

/// Returns the model as its weight files have it, and whether they fuse q, k and v in one matrix.
///
/// # Errors
///
/// Errors if the family does not have a tensor, or headers contradict the configuration.
pub(super) fn parameters(
    raw: &mut RawHfConfig,
    sources: &[Source<'_>],
) -> Result<(Parameters, bool), Diagnostics> {
    let mut found = Diagnostics::new();
    let index = Index::new(raw.parameters.family, sources, &mut found);
    if found.has_errors() {
        return Err(found);
    }
    if let Some(found) = unread_head(&index) {
        raw.warnings.push(found);
    }
    let own = raw.parameters;
    let (heads, fused) = (own.num_attention_heads, index.rows("w_qkv"));
    let mut head_dim = own.head_dim;
    if !raw.head_dim {
        let rows = index.rows("wq").map(|rows| (rows, heads));
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
    if !raw.kv_heads {
        let rows = index.rows("wk").map(|rows| (rows, head_dim));
        num_kv_heads = rows.and_then(divided).unwrap_or(num_kv_heads);
    }
    let rope = match own.rope {
        Some(rope) => Some(rotation(raw, head_dim, rope, sources)?),
        None => None,
    };
    let parameters = Parameters {
        head_dim,
        num_kv_heads,
        biases: index.biases(),
        rope,
        tie_word_embeddings: tied(raw, &index),
        ..own
    };
    if !raw.is_header {
        check_headers(&parameters, sources, &mut raw.warnings)?;
        compare_biases(&own, &parameters.biases, &mut raw.warnings);
    }
    Ok((parameters, fused.is_some()))
}

/// Returns a warning about a task head, which the model does not compute.
fn unread_head(index: &Index<'_, '_>) -> Option<Diagnostic> {
    let (first, others) = index.task_heads.split_first()?;
    let message = match others.len() {
        0 => format!("the tensor {first:?} is not read: it is the head of another task"),
        more => format!(
            "the tensor {first:?} and {more} more are not read: they are the head of another task"
        ),
    };
    let found = Diagnostic::new(Severity::Warning, Span::FILE, message).code(codes::TENSOR_EXTRA);
    Some(found.help("vectors are those of the encoder; scores of the head, as of a reranker or a classifier, are not computed"))
}

/// Returns the quotient if there is no remainder.
fn divided((rows, parts): (usize, usize)) -> Option<usize> {
    let quotient = rows.checked_div(parts)?;
    (quotient > 0 && quotient * parts == rows).then_some(quotient)
}

/// Returns whether the output head is the embedding table. A separate head that differs from the table is used, as in
/// the reference.
fn tied(raw: &mut RawHfConfig, index: &Index<'_, '_>) -> bool {
    if raw.parameters.family.is_encoder() {
        return false;
    }
    let has_head = index.has(LM_HEAD);
    match raw.tied {
        Some(true) if has_head && !index.head_is_table() => {
            let span = raw.span_of(TIED).unwrap_or(Span::FILE);
            let message = format!(
                "`{TIED}` is true, but the checkpoint has a head that differs from its table of embeddings: the head is used"
            );
            let found = Diagnostic::new(Severity::Warning, span, message);
            let found = found.code(codes::CONTRADICTION);
            raw.warnings
                .push(found.help(format!("`\"{TIED}\": false` says so in the configuration")));
            false
        }
        Some(tied) => tied,
        None => !has_head,
    }
}

/// Returns the rotation, with the frequency divisors of a weight file if its header is the configuration.
///
/// # Errors
///
/// Errors if the divisors cannot be read.
fn rotation(
    raw: &RawHfConfig,
    head_dim: usize,
    rope: Rope,
    sources: &[Source<'_>],
) -> Result<Rope, Diagnostics> {
    // A header states the number of elements, which must not be rounded. If the head size changed, the share applies.
    let is_as_given = raw.is_header && head_dim == raw.parameters.head_dim;
    let rope = Rope {
        rotary_dims: if is_as_given {
            rope.rotary_dims
        } else {
            rotary_dims(head_dim, raw.rotary_factor)
        },
        ..rope
    };
    if !raw.is_header {
        return Ok(rope);
    }
    let factors = factors(sources)?.filter(|factors| !factors.are_ones());
    Ok(Rope { factors, ..rope })
}

/// Checks the headers of GGUF files against the configuration.
///
/// # Errors
///
/// Errors if a header is not supported, or describes another model.
fn check_headers(
    own: &Parameters,
    sources: &[Source<'_>],
    warnings: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    let headers = sources
        .iter()
        .filter(|source| source.file.container() == Container::Gguf);
    for source in headers {
        let header = gguf::read(source, Families::with(own.family))?;
        warnings.append(header.warnings);
        let other = header.parameters;
        let rope = |p: &Parameters| {
            p.rope
                .map_or((0.0, 0), |rope| (rope.theta, rope.rotary_dims))
        };
        let ((theta, dims), (other_theta, other_dims)) = (rope(own), rope(&other));
        let rows = [
            ("rms_norm_eps", own.rms_norm_eps, other.rms_norm_eps),
            ("rope_theta", theta, other_theta),
            ("rotary_dims", dims as f64, other_dims as f64),
            (
                "num_attention_heads",
                own.num_attention_heads as f64,
                other.num_attention_heads as f64,
            ),
            (
                "num_kv_heads",
                own.num_kv_heads as f64,
                other.num_kv_heads as f64,
            ),
            ("rope_scaling", linear_factor(own), linear_factor(&other)),
            (
                "attention_factor",
                attention_factor(own),
                attention_factor(&other),
            ),
        ];
        for (key, raw, found) in rows {
            if (raw - found).abs() > 1e-6 * found.abs() {
                let message = format!(
                    "`{key}` is {raw}, but the header of {} says {found}",
                    source.name
                );
                let error = Diagnostic::error(Span::FILE, message);
                return Err(error.code(codes::CONTRADICTION).into());
            }
        }
    }
    Ok(())
}

/// Returns the divisor of all frequencies.
fn linear_factor(own: &Parameters) -> f64 {
    match own.rope.map(|rope| rope.scaling) {
        Some(RopeScaling::Linear { factor }) => factor,
        Some(
            RopeScaling::None
            | RopeScaling::Llama3 { .. }
            | RopeScaling::Dynamic { .. }
            | RopeScaling::Yarn(_)
            | RopeScaling::LongRope { .. },
        )
        | None => 1.0,
    }
}

/// Returns the factor of cosines and sines.
fn attention_factor(own: &Parameters) -> f64 {
    own.rope.map_or(1.0, |rope| rope.scaling.attention_factor())
}

/// Warns of biases that only the checkpoint or only the configuration has.
fn compare_biases(own: &Parameters, found: &Biases, warnings: &mut Diagnostics) {
    let family: Family = own.family;
    let by_checkpoint = |name: &String| {
        let mut rules = family.rules().biases.iter().filter(|own| own.by_checkpoint);
        rules.any(|own| own.weights.contains(name))
    };
    let named = |biases: &Biases| -> Vec<&str> {
        let optional = family.optional().enumerate();
        let names = optional.filter(|(index, own)| biases.has(*index) && !by_checkpoint(&own.name));
        names.map(|(_, own)| own.name.as_str()).collect()
    };
    let names = |biases: &Biases| {
        let names = named(biases);
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        }
    };
    if named(&own.biases) != named(found) {
        let message = format!(
            "the biases of the checkpoint are added: {}; by the configuration of {} (`attention_bias`, `mlp_bias`) there would be: {}",
            names(found),
            own.family.name(),
            names(&own.biases)
        );
        let warning = Diagnostic::new(Severity::Warning, Span::FILE, message);
        warnings.push(warning.code(codes::CONTRADICTION));
    }
}
