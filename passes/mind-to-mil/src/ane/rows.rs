//! The table of constraints.

/// Whether an op runs on the engine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// It runs on the engine.
    Yes,
    /// Reports from devices contradict each other or are missing.
    Unknown,
    /// It runs, but slowly, only on some chips, or with results that may differ.
    Risk,
    /// It does not run on the engine.
    No,
}

impl Verdict {
    /// All verdicts, best first.
    pub const ALL: [Verdict; 4] = [Verdict::Yes, Verdict::Unknown, Verdict::Risk, Verdict::No];

    /// Returns the name of the verdict in the report.
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Yes => "yes",
            Verdict::Unknown => "unknown",
            Verdict::Risk => "risk",
            Verdict::No => "no",
        }
    }
}

/// The limit of a constraint.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Limit {
    /// The op occurs in one of the tables of reports.
    Reported,
    /// The op is not one of these.
    NotOneOf(&'static [&'static str]),
    /// Argument `arg` of op `op` is given explicitly.
    Written {
        /// The name of the op.
        op: &'static str,
        /// The name of the argument.
        arg: &'static str,
    },
    /// An op with named results has a `name` attribute.
    Annotated,
    /// None of its tensors has this element type, apart from constant parameters, casts at the edges of the program,
    /// and indices that are further results.
    NoElement(&'static str),
    /// Maximum rank.
    Rank(usize),
    /// Maximum extent.
    Extent(i64),
    /// All extents are static.
    Static,
    /// Maximum width of a convolution kernel, or height of a kernel of width 1.
    Kernel {
        /// Maximum extent of the last dimension, and of the others of a kernel wider than 1.
        width: i64,
        /// Maximum height of a kernel whose last dimension is 1.
        column: i64,
    },
    /// Products with constant matrices are 1x1 convolutions.
    Pointwise,
    /// Maximum kernel size of a max pool.
    Pool(i64),
    /// Maximum contracted extent of a product.
    Contracted(i64),
    /// The indices of a gather are constants.
    FixedIndices,
    /// The weight of a convolution is constant, or the batch size is 1.
    FixedWeight,
    /// A reduction is not multiplied by zero.
    NoReductionTimesZero,
    /// The last extent of a tensor with several elements is above 1.
    LastAxis,
    /// The epsilon is at least the given number, which f16 can represent.
    Epsilon(f64),
    /// Upper bound on the sums of products with a constant weight, for inputs with a known bound or up to 1.
    PartialSum(f64),
    /// Constants are finite.
    Finite,
    /// Minimum length of runs of ops on the engine between ops elsewhere.
    Island(usize),
}

/// A constraint of the engine.
#[derive(Debug)]
pub struct Constraint {
    /// The name of the constraint in the report.
    pub reason: &'static str,
    /// The limit.
    pub limit: Limit,
    /// The verdict for an op that violates it.
    pub verdict: Verdict,
    /// The rewrite that makes the op eligible.
    pub rewrite: &'static str,
    /// The source of the constraint.
    pub source: &'static str,
}

const fn row(
    reason: &'static str,
    limit: Limit,
    verdict: Verdict,
    rewrite: &'static str,
    source: &'static str,
) -> Constraint {
    Constraint {
        reason,
        limit,
        verdict,
        rewrite,
        source,
    }
}

const DEVICES: &str = "reports from devices, 2025; not reproducible off-device";
const PRIMER: &str = "MIL primer, validation gotchas";
const CORE_ML: &str = "Core ML, MIL ops";

/// Ops that run elsewhere.
const UNSUPPORTED: &[&str] = &[
    "tan",
    "asin",
    "acos",
    "atanh",
    "sinh",
    "cosh",
    "mod",
    "reduce_prod",
    "reduce_argmax",
    "reduce_argmin",
    "slice_update",
    "cumsum",
    "argsort",
    "fill",
    "range_1d",
    "shape",
    "one_hot",
    "band_part",
    "non_zero",
    "non_maximum_suppression",
    "random_bernoulli",
    "random_categorical",
    "random_normal",
    "random_uniform",
    "scatter",
    "scatter_along_axis",
    "scatter_nd",
    "lstm",
    "gru",
    "rnn",
    "cond",
    "while_loop",
];

/// Ops that run on the engine according to reports. An op that is not in any of the tables is unknown.
#[rustfmt::skip]
const SUPPORTED: &[&str] = &[
    // Activations and functions of one operand.
    "relu", "relu6", "sigmoid", "tanh", "softplus", "softsign", "silu", "erf", "exp", "sqrt", "ceil", "floor", "round",
    "sin", "cos", "atan", "abs", "sign", "square", "exp2", "rsqrt", "log", "inverse", "gelu", "leaky_relu", "elu",
    "thresholded_relu", "prelu", "clip", "sigmoid_hard", "scaled_tanh", "clamped_relu", "linear_activation",
    // Arithmetic, comparisons and choices.
    "add", "sub", "mul", "real_div", "maximum", "minimum", "pow", "floor_div", "equal", "not_equal", "less",
    "less_equal", "greater", "greater_equal", "select",
    // Reductions and normalisations.
    "softmax", "reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_l1_norm", "reduce_l2_norm",
    "reduce_sum_square", "reduce_log_sum", "reduce_log_sum_exp", "layer_norm", "batch_norm", "instance_norm", "l2_norm",

    // Products and windows.
    "matmul", "linear", "conv", "conv_transpose", "einsum", "max_pool", "avg_pool",
    // Movement.
    "reshape", "transpose", "squeeze", "expand_dims", "concat", "stack", "split", "slice_by_index", "slice_by_size",
    "pad", "tile", "reverse", "depth_to_space", "space_to_depth", "pixel_shuffle", "pixel_unshuffle", "identity",
    "quantize", "dequantize",
];

/// Ops with other reports: those that run elsewhere, those that only some chips support, and those with contradictory
/// reports.
const OTHERWISE: [&[&str]; 3] = [UNSUPPORTED, FLOORED, DISPUTED];

/// Returns whether one of the tables contains an op of this name.
pub(super) fn is_reported(op: &str) -> bool {
    SUPPORTED.contains(&op) || OTHERWISE.iter().any(|ops| ops.contains(&op))
}

/// Ops that only some chips support.
const FLOORED: &[&str] = &[
    "sin",
    "cos",
    "topk",
    "resize",
    "resize_bilinear",
    "resize_nearest_neighbor",
    "upsample_bilinear",
    "upsample_nearest_neighbor",
];

/// Ops with contradictory reports.
const DISPUTED: &[&str] = &[
    "gather",
    "gather_along_axis",
    "gather_nd",
    "fill_like",
    "cast",
    "logical_and",
    "logical_or",
    "logical_xor",
    "logical_not",
    "read_state",
    "write_state",
    "scaled_dot_product_attention",
];

/// Consecutive ops on the engine that are too few, because each entry and exit costs about 0.125 ms.
pub const SMALL_ISLAND: Constraint = row(
    "small-island",
    Limit::Island(3),
    Verdict::Risk,
    "change the ops around it, or keep it off the engine: it must save 0.25 ms",
    DEVICES,
);

/// The constraints of single ops; those that exclude an op come first.
pub const CONSTRAINTS: &[Constraint] = &[
    row(
        "op-unsupported",
        Limit::NotOneOf(UNSUPPORTED),
        Verdict::No,
        "fold it when compiling, or run it on the host",
        DEVICES,
    ),
    row(
        "dtype-int32",
        Limit::NoElement("int32"),
        Verdict::No,
        "keep indices in uint16, or out of the graph",
        DEVICES,
    ),
    row(
        "dtype-fp32",
        Limit::NoElement("fp32"),
        Verdict::No,
        "lower with precision=fp16",
        DEVICES,
    ),
    row(
        "dynamic-shape",
        Limit::Static,
        Verdict::No,
        "write the extents, or enumerate up to 128 shapes",
        DEVICES,
    ),
    row(
        "rank",
        Limit::Rank(5),
        Verdict::No,
        "join dimensions that always move together",
        PRIMER,
    ),
    row(
        "axis-length",
        Limit::Extent(65536),
        Verdict::No,
        "split the axis",
        PRIMER,
    ),
    row(
        "reduce-times-zero",
        Limit::NoReductionTimesZero,
        Verdict::No,
        "make the zero as t - t",
        PRIMER,
    ),
    row(
        "kernel-width",
        Limit::Kernel {
            width: 15,
            column: 31,
        },
        Verdict::No,
        "split the kernel into several convolutions",
        DEVICES,
    ),
    row(
        "pool-width",
        Limit::Pool(8),
        Verdict::No,
        "pool twice with smaller windows",
        DEVICES,
    ),
    row(
        "matmul-k",
        Limit::Contracted(32768),
        Verdict::No,
        "split the contracted dimension and add the parts",
        DEVICES,
    ),
    row(
        "runtime-index",
        Limit::FixedIndices,
        Verdict::No,
        "gather on the host, or slice and concat at constant places",
        DEVICES,
    ),
    row(
        "runtime-weight",
        Limit::FixedWeight,
        Verdict::No,
        "make the weight a constant, or the batch 1",
        DEVICES,
    ),
    row(
        "nan-inf",
        Limit::Finite,
        Verdict::Risk,
        "write -1e4 for minus infinity in a mask, and leave out a bound that is none",
        DEVICES,
    ),
    row(
        "log-epsilon",
        Limit::Written {
            op: "log",
            arg: "epsilon",
        },
        Verdict::Risk,
        "write `epsilon`, as fp16(0x0p+0): compilers that read text require it",
        PRIMER,
    ),
    row(
        "gelu-mode",
        Limit::Written {
            op: "gelu",
            arg: "mode",
        },
        Verdict::Risk,
        "write `mode`, as string(\"EXACT\"): compilers that read text require it",
        PRIMER,
    ),
    row(
        "op-name",
        Limit::Annotated,
        Verdict::Risk,
        "annotate the op, as [name = string(\"y\")]: compilers that read text require it",
        PRIMER,
    ),
    row(
        "fp16-overflow",
        Limit::PartialSum(65504.0),
        Verdict::Risk,
        "scale the weight down by a power of two and the result up",
        "IEEE 754 binary16",
    ),
    row(
        "accumulator-range",
        Limit::PartialSum(32768.0),
        Verdict::Risk,
        "scale the weight down by a power of two and the result up",
        DEVICES,
    ),
    row(
        "tiny-epsilon",
        Limit::Epsilon(3e-8),
        Verdict::Risk,
        "write an epsilon of 6e-8 or more; smaller ones are 0 as halves",
        "IEEE 754 binary16",
    ),
    row(
        "kernel-width",
        Limit::Kernel {
            width: 13,
            column: 31,
        },
        Verdict::Risk,
        "M1 ends at a width of 13; split the kernel",
        DEVICES,
    ),
    row(
        "layout",
        Limit::Pointwise,
        Verdict::Risk,
        "lower with layout=ane: a 1x1 convolution over [B, C, 1, S]",
        DEVICES,
    ),
    row(
        "last-axis-one",
        Limit::LastAxis,
        Verdict::Risk,
        "put the long axis last: [B, C, 1, S]; the last axis is padded to 64 bytes",
        DEVICES,
    ),
    row(
        "chip-floor",
        Limit::NotOneOf(FLOORED),
        Verdict::Risk,
        "A14 has it, or A15 for sin and cos",
        DEVICES,
    ),
    row(
        "chip-floor",
        Limit::Extent(16384),
        Verdict::Risk,
        "before A16 extents end at 16384; split the axis",
        DEVICES,
    ),
    row(
        "reports-disagree",
        Limit::NotOneOf(DISPUTED),
        Verdict::Unknown,
        "measure it on the device",
        CORE_ML,
    ),
    row(
        "unreported",
        Limit::Reported,
        Verdict::Unknown,
        "measure it on the device",
        "no report names the op",
    ),
];
