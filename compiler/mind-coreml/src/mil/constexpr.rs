//! Compressed constants.

/// Whether the op is one whose arguments text may write as attributes.
pub(super) fn takes_attributes(name: &str) -> bool {
    name == "constexpr_affine_dequantize" || BEFORE_IOS18.contains(&name)
}

/// Whether a function of `opset` writes the arguments of the op as attributes: the definitions of before ios18 do.
pub(super) fn writes_attributes(name: &str, opset: &str) -> bool {
    let old = matches!(opset, "ios15" | "ios16" | "ios17");
    takes_attributes(name) && (old || !BEFORE_IOS18.contains(&name))
}

/// The element type of the result at `index` of the op, where its dtype does not say it: a sparse constant is given
/// as a mask and its elements.
pub(super) fn result_element(name: &str, index: usize) -> Option<&'static str> {
    let masked = matches!(
        name,
        "constexpr_lut_to_sparse" | "constexpr_sparse_blockwise_shift_scale"
    );
    (masked && index == 0).then_some("uint1")
}

/// Ops whose arguments were attributes until ios18 defined them anew.
const BEFORE_IOS18: [&str; 3] = [
    "constexpr_lut_to_dense",
    "constexpr_sparse_to_dense",
    "constexpr_cast",
];
