//! Reasons for ops that are not imported.

use mind_convert::Refusal;

use super::control::known_call;
use crate::import::inputs::is_assertion;
use crate::text::Op;

/// Ops without a row, with the reason.
const REASONS: &[(&[&str], &str)] = &[
    (
        &[
            "stablehlo.all_gather",
            "stablehlo.all_reduce",
            "stablehlo.all_to_all",
            "stablehlo.collective_broadcast",
            "stablehlo.collective_permute",
            "stablehlo.cross-replica-sum",
            "stablehlo.recv",
            "stablehlo.reduce_scatter",
            "stablehlo.send",
        ],
        "it exchanges data between devices",
    ),
    (
        &[
            "stablehlo.after_all",
            "stablehlo.async_done",
            "stablehlo.async_start",
            "stablehlo.create_token",
            "stablehlo.infeed",
            "stablehlo.outfeed",
        ],
        "it orders side effects, which modules of core do not have",
    ),
    (
        &["stablehlo.rng", "stablehlo.rng_bit_generator"],
        "its random numbers are those of another program",
    ),
    (
        &[
            "stablehlo.complex",
            "stablehlo.fft",
            "stablehlo.imag",
            "stablehlo.real",
        ],
        "complex numbers are not supported",
    ),
    (
        &["stablehlo.uniform_dequantize", "stablehlo.uniform_quantize"],
        "quantised types are not supported",
    ),
    (
        &["stablehlo.get_tuple_element", "stablehlo.tuple"],
        "tuples are not supported",
    ),
    (
        &["stablehlo.batch_norm_grad", "stablehlo.batch_norm_training"],
        "it is for training",
    ),
    (
        &["chlo.bessel_i1e", "chlo.polygamma", "chlo.zeta"],
        "the special function has no form in core",
    ),
    (
        &["sdy.all_gather", "sdy.manual_computation", "sdy.reshard"],
        "it computes with the parts of tensors that devices have",
    ),
];

/// Returns the refusal of an operation that its op's row cannot import, regardless of the operands.
pub(crate) fn refusal(op: &Op<'_>) -> Option<Refusal> {
    if op.name != "stablehlo.custom_call" || is_assertion(op) {
        return None;
    }
    let mut attrs = op.attrs.iter();
    let name = attrs.find(|(name, _)| matches!(*name, "callee" | "call_target_name"));
    let name = name.and_then(|(_, value)| value.text()).unwrap_or("");
    known_call(name).is_none().then(|| {
        Refusal::unsupported(
            format!("`@{name}` is code outside of the text"),
            "lower the function for another platform, or write it with ops of StableHLO",
        )
    })
}

/// Returns the refusal of an op without a row.
pub(crate) fn missing(op: &Op<'_>) -> Refusal {
    Refusal::unsupported(
        reason(op),
        "docs/formats/stablehlo.md lists the ops that are read",
    )
}

/// Returns the reason for a missing row.
fn reason(op: &Op<'_>) -> String {
    let mut rows = REASONS.iter();
    if let Some((_, reason)) = rows.find(|(names, _)| names.contains(&op.name)) {
        return (*reason).to_owned();
    }
    match op.name.split_once('.') {
        Some(("stablehlo" | "chlo" | "func", _)) | None => "the op is not supported".to_owned(),
        Some((dialect, _)) => format!("ops of dialect `{dialect}` are not supported"),
    }
}
