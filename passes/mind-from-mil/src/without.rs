//! Ops that are not imported.

use mind_mil::MilOp;

/// The reasons why ops are not imported, and the ops.
const REASONS: &[(&str, &[&str])] = &[
    (
        "not all its operands are known",
        &[
            "constexpr_affine_dequantize",
            "constexpr_blockwise_shift_scale",
            "constexpr_cast",
            "constexpr_lut_to_dense",
            "constexpr_lut_to_sparse",
            "constexpr_sparse_blockwise_shift_scale",
            "constexpr_sparse_to_dense",
        ],
    ),
    (
        "its reference leaves open how weights of few bits are packed",
        &["conv_quantized"],
    ),
    (
        "its result is random",
        &[
            "random_bernoulli",
            "random_categorical",
            "random_normal",
            "random_uniform",
        ],
    ),
];

/// Returns why ops of this row are not imported; `None` if they are.
pub fn not_imported(row: &MilOp) -> Option<&'static str> {
    let mut reasons = REASONS.iter();
    let found = reasons.find(|(_, ops)| ops.contains(&row.name));
    found.map(|(reason, _)| *reason)
}
