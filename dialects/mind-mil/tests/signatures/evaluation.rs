//! Every row is evaluated, or says why not.

use mind_mil::ops::ROWS;

/// Ops that the interpreter does not run, by reason.
const EXCUSED: &[(&str, &[&str])] = &[
    (
        "not written; a run names the op",
        &[
            "batch_to_space",
            "conv_transpose",
            "l2_pool",
            "local_response_norm",
            "non_maximum_suppression",
            "non_zero",
            "reverse_sequence",
            "scatter",
            "scatter_along_axis",
            "scatter_nd",
            "sliding_windows",
            "space_to_batch",
        ],
    ),
    (
        "numbers on a scale are not run",
        &["conv_quantized", "quantize"],
    ),
    ("a run keeps no state", &["read_state", "write_state"]),
    (
        "its result is random",
        &[
            "random_bernoulli",
            "random_categorical",
            "random_normal",
            "random_uniform",
        ],
    ),
    (
        "images are not resampled",
        &[
            "affine",
            "crop",
            "crop_resize",
            "resample",
            "resize",
            "resize_bilinear",
            "resize_nearest_neighbor",
            "upsample_bilinear",
            "upsample_nearest_neighbor",
        ],
    ),
    (
        "compressed constants are not expanded",
        &[
            "constexpr_cast",
            "constexpr_lut_to_sparse",
            "constexpr_sparse_blockwise_shift_scale",
            "constexpr_sparse_to_dense",
        ],
    ),
    ("blocks read values from outside", &["cond", "while_loop"]),
    ("recurrent layers are not run", &["gru", "lstm", "rnn"]),
];

#[test]
fn every_op_is_evaluated_or_excused() {
    for row in ROWS {
        let excused = EXCUSED
            .iter()
            .any(|(reason, ops)| !reason.is_empty() && ops.contains(&row.name));
        assert_ne!(row.eval.is_some(), excused, "{}", row.name);
    }
}
