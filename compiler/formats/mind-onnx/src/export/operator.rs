//! The ONNX operators in use: their first versions and supported dtypes.

use super::kernels;
use mind_ir::types::DType;
use mind_ir::types::DType::{BF16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};

/// An operator of ONNX's own domain, in the form that is exported.
#[derive(Debug)]
pub(super) struct Operator {
    pub name: &'static str,
    /// The first version with this form.
    since: i64,
    /// The supported operand dtypes from each version on, in ascending order. Empty if all are supported.
    dtypes: &'static [(i64, &'static [DType])],
}

const HALF_TO_DOUBLE: &[DType] = &[F16, F32, F64];
const FLOATS: &[DType] = &[F16, BF16, F32, F64];
const WIDE: &[DType] = &[F16, BF16, F32, F64, I32, I64, U32, U64];
const NUMBERS: &[DType] = &[F16, BF16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64];
const INTEGERS: &[DType] = &[I8, I16, I32, I64, U8, U16, U32, U64];
const BYTES: &[DType] = &[I8, U8];
const BOOL: &[DType] = &[DType::Bool];
const ALL_FLOATS: &[(i64, &[DType])] = &[(13, FLOATS)];
const LATE_BF16: &[(i64, &[DType])] = &[(7, HALF_TO_DOUBLE), (22, FLOATS)];
const ALL_NUMBERS: &[(i64, &[DType])] = &[(13, NUMBERS)];
const ARITHMETIC: &[(i64, &[DType])] = &[(13, WIDE), (14, NUMBERS)];
const EXTREME: &[DType] = &[F16, BF16, F32, F64, I8, I32, I64, U8, U32, U64];
const EXTREME_BOOL: &[DType] = &[F16, BF16, F32, F64, I8, I32, I64, U8, U32, U64, DType::Bool];
const SUMMED: &[DType] = &[F32, F64, I32, I64, U32, U64];
const SCALED: &[(i64, &[DType])] = &[(13, &[F32]), (19, &[F16, BF16, F32])];

macro_rules! operators {
    ($($name:ident = $text:literal, $since:literal, $dtypes:expr;)*) => {
        $(pub(super) static $name: &Operator = &Operator { name: $text, since: $since, dtypes: $dtypes };)*

        /// All operators.
        #[cfg(test)]
        static OPERATORS: &[&Operator] = &[$($name),*];
    };
}

operators! {
    ADD = "Add", 13, ARITHMETIC;
    SUB = "Sub", 13, ARITHMETIC;
    MUL = "Mul", 13, ARITHMETIC;
    DIV = "Div", 13, ARITHMETIC;
    MOD = "Mod", 13, ALL_NUMBERS;
    MAX = "Max", 13, ALL_NUMBERS;
    MIN = "Min", 13, ALL_NUMBERS;
    NEG = "Neg", 13, &[(13, &[F16, BF16, F32, F64, I8, I16, I32, I64])];
    ABS = "Abs", 13, ALL_NUMBERS;
    RELU = "Relu", 13, &[(13, FLOATS), (14, &[F16, BF16, F32, F64, I8, I16, I32, I64])];
    EXP = "Exp", 13, ALL_FLOATS;
    LOG = "Log", 13, ALL_FLOATS;
    SQRT = "Sqrt", 13, ALL_FLOATS;
    RECIPROCAL = "Reciprocal", 13, ALL_FLOATS;
    ERF = "Erf", 13, ALL_FLOATS;
    TANH = "Tanh", 13, ALL_FLOATS;
    SIGMOID = "Sigmoid", 13, ALL_FLOATS;
    GELU = "Gelu", 20, &[(20, FLOATS)];
    EQUAL = "Equal", 13, &[];
    LESS = "Less", 13, ALL_NUMBERS;
    LESS_OR_EQUAL = "LessOrEqual", 12, &[(12, &[F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64]), (16, NUMBERS)];
    GREATER = "Greater", 13, ALL_NUMBERS;
    GREATER_OR_EQUAL = "GreaterOrEqual", 12, &[(12, &[F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64]), (16, NUMBERS)];
    WHERE = "Where", 9, &[
        (9, &[F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, DType::Bool]),
        (16, DType::ALL),
    ];
    AND = "And", 7, &[(7, BOOL)];
    OR = "Or", 7, &[(7, BOOL)];
    XOR = "Xor", 7, &[(7, BOOL)];
    NOT = "Not", 1, &[(1, BOOL)];
    BITWISE_AND = "BitwiseAnd", 18, &[(18, INTEGERS)];
    BITWISE_OR = "BitwiseOr", 18, &[(18, INTEGERS)];
    BITWISE_XOR = "BitwiseXor", 18, &[(18, INTEGERS)];
    BITWISE_NOT = "BitwiseNot", 18, &[(18, INTEGERS)];
    BIT_SHIFT = "BitShift", 11, &[(11, &[U8, U16, U32, U64])];
    SIGN = "Sign", 13, ALL_NUMBERS;
    FLOOR = "Floor", 13, ALL_FLOATS;
    CEIL = "Ceil", 13, ALL_FLOATS;
    ROUND = "Round", 11, &[(11, HALF_TO_DOUBLE), (22, FLOATS)];
    POW = "Pow", 13, &[(13, &[F16, BF16, F32, F64, I32, I64])];
    SIN = "Sin", 7, LATE_BF16;
    COS = "Cos", 7, LATE_BF16;
    TAN = "Tan", 7, LATE_BF16;
    SINH = "Sinh", 9, LATE_BF16;
    COSH = "Cosh", 9, LATE_BF16;
    ASIN = "Asin", 7, LATE_BF16;
    ACOS = "Acos", 7, LATE_BF16;
    ATAN = "Atan", 7, LATE_BF16;
    ASINH = "Asinh", 9, LATE_BF16;
    ACOSH = "Acosh", 9, LATE_BF16;
    ATANH = "Atanh", 9, LATE_BF16;
    CAST = "Cast", 13, &[];
    BIT_CAST = "BitCast", 26, &[];
    QUANTIZE_LINEAR = "QuantizeLinear", 13, SCALED;
    DEQUANTIZE_LINEAR = "DequantizeLinear", 13, SCALED;
    REDUCE_SUM = "ReduceSum", 13, &[(13, WIDE)];
    REDUCE_MEAN = "ReduceMean", 13, &[(13, WIDE)];
    REDUCE_MAX = "ReduceMax", 13, &[(13, EXTREME), (20, EXTREME_BOOL)];
    REDUCE_MIN = "ReduceMin", 13, &[(13, EXTREME), (20, EXTREME_BOOL)];
    REDUCE_PROD = "ReduceProd", 13, &[(13, WIDE)];
    ARG_MAX = "ArgMax", 13, ALL_NUMBERS;
    ARG_MIN = "ArgMin", 13, ALL_NUMBERS;
    MAX_POOL = "MaxPool", 12, &[(12, &[F16, F32, F64, I8, U8]), (22, &[F16, BF16, F32, F64, I8, U8])];
    AVERAGE_POOL = "AveragePool", 11, &[(11, HALF_TO_DOUBLE), (22, FLOATS)];
    DILATED_AVERAGE_POOL = "AveragePool", 19, &[(19, HALF_TO_DOUBLE), (22, FLOATS)];
    CUM_SUM = "CumSum", 11, &[(11, SUMMED), (14, WIDE)];
    RESHAPE = "Reshape", 13, &[];
    EMPTY_RESHAPE = "Reshape", 14, &[];
    TRANSPOSE = "Transpose", 13, &[];
    UNSQUEEZE = "Unsqueeze", 13, &[];
    SQUEEZE = "Squeeze", 13, &[];
    SLICE = "Slice", 13, &[];
    PAD = "Pad", 13, &[];
    WRAP_PAD = "Pad", 19, &[];
    EXPAND = "Expand", 13, &[];
    SHAPE = "Shape", 13, &[];
    GATHER = "Gather", 13, &[];
    GATHER_ELEMENTS = "GatherElements", 13, &[];
    GATHER_ND = "GatherND", 13, &[];
    SCATTER_ELEMENTS = "ScatterElements", 13, &[];
    SCATTER_ND = "ScatterND", 13, &[];
    JOINING_SCATTER_ELEMENTS = "ScatterElements", 16, &[];
    JOINING_SCATTER_ND = "ScatterND", 16, &[];
    EXTREME_SCATTER_ELEMENTS = "ScatterElements", 18, &[];
    EXTREME_SCATTER_ND = "ScatterND", 18, &[];
    TOP_K = "TopK", 11, &[(11, &[F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64]), (24, NUMBERS)];
    NON_ZERO = "NonZero", 13, &[];
    UNIQUE = "Unique", 11, &[
        (11, &[F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, DType::Bool]),
    ];
    NON_MAX_SUPPRESSION = "NonMaxSuppression", 11, &[];
    CONCAT = "Concat", 13, &[];
    SPLIT = "Split", 13, &[];
    COUNTED_SPLIT = "Split", 18, &[];
    MAT_MUL = "MatMul", 13, &[(13, WIDE)];
    MAT_MUL_INTEGER = "MatMulInteger", 10, &[(10, BYTES)];
    CONV = "Conv", 11, &[(11, HALF_TO_DOUBLE), (22, FLOATS)];
    CONV_INTEGER = "ConvInteger", 10, &[(10, BYTES)];
    CONV_TRANSPOSE = "ConvTranspose", 11, &[(11, HALF_TO_DOUBLE), (22, FLOATS)];
    RESIZE = "Resize", 13, &[];
    RESIZE_ALONG = "Resize", 18, &[];
    SYMMETRIC_RESIZE = "Resize", 19, &[];
    GRID_SAMPLE = "GridSample", 16, &[(16, HALF_TO_DOUBLE), (22, FLOATS)];
    GRID_SAMPLE_ND = "GridSample", 20, &[(20, HALF_TO_DOUBLE), (22, FLOATS)];
    SOFTMAX = "Softmax", 13, ALL_FLOATS;
    IS_NAN = "IsNaN", 13, ALL_FLOATS;
    IDENTITY = "Identity", 13, &[];
    IF = "If", 13, &[];
    LOOP = "Loop", 13, &[];
    SCAN = "Scan", 11, &[];
}

impl Operator {
    /// Returns whether a version of the operator set has this form.
    pub fn is_in(&self, opset: i64) -> bool {
        opset >= self.since
    }

    /// Returns the first version with this form.
    pub const fn since(&self) -> i64 {
        self.since
    }

    /// Returns whether it accepts operands of `dtype` in a version that has it.
    pub fn takes(&self, dtype: DType, opset: i64) -> bool {
        let mut versions = self.dtypes.iter().rev();
        let own = versions.find(|(since, _)| *since <= opset);
        self.dtypes.is_empty() || own.is_some_and(|(_, dtypes)| dtypes.contains(&dtype))
    }

    /// Returns the supported dtypes in a version as text for a message.
    pub fn listed(&self, opset: i64) -> String {
        let taken = DType::ALL.iter().filter(|&&dtype| self.takes(dtype, opset));
        taken
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Returns whether ONNX Runtime has a kernel for operands of a supported `dtype`.
    pub fn runs(&self, dtype: DType, opset: i64) -> bool {
        self.takes(dtype, opset) && kernels::has(self.name, opset, dtype)
    }

    /// Returns the dtype in which operands of `dtype` are computed: `dtype` itself, or a wider one whose results
    /// convert to the same values in `dtype`, because the op rounds once or wraps. Dtypes for which ONNX Runtime has a
    /// kernel are preferred.
    pub fn carrier(&self, dtype: DType, opset: i64) -> Option<DType> {
        let wider = [F32, U8, I32, I64].into_iter();
        let wider =
            wider.filter(|&own| dtype.widens_to(own) && !(dtype == DType::Bool && own == F32));
        let fitting = std::iter::once(dtype).chain(wider);
        let runs = fitting.clone().find(|&own| self.runs(own, opset));
        runs.or_else(|| fitting.clone().find(|&own| self.takes(own, opset)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dtypes_come_with_ascending_versions() {
        for operator in OPERATORS {
            let versions = operator.dtypes.iter().map(|(since, _)| since);
            assert!(versions.is_sorted_by(|a, b| a < b), "{operator:?}");
            let first = operator.dtypes.first();
            assert!(
                first.is_none_or(|(first, _)| *first <= operator.since),
                "{operator:?}"
            );
        }
    }

    #[test]
    fn narrow_numbers_are_carried_by_wider_ones() {
        assert_eq!(ADD.carrier(U8, 13), Some(I32));
        assert_eq!(ADD.carrier(U8, 14), Some(U8));
        assert_eq!(ADD.carrier(U64, 13), Some(U64));
        assert_eq!(ROUND.carrier(BF16, 21), Some(F32));
        assert_eq!(POW.carrier(U32, 21), Some(I64));
        assert_eq!(POW.carrier(U64, 21), None);
        assert_eq!(REDUCE_MAX.carrier(DType::Bool, 13), Some(U8));
        // The operator set has these, but ONNX Runtime does not have kernels for them.
        assert_eq!(MAX.carrier(I16, 21), Some(I32));
        assert_eq!(ADD.carrier(BF16, 21), Some(F32));
        assert_eq!(REDUCE_SUM.carrier(U64, 21), Some(U64));
        assert!(!RELU.runs(I64, 21));
    }

    #[test]
    fn the_kernels_of_every_operator_are_known() {
        for operator in OPERATORS {
            let is_known = kernels::is_listed(operator.name);
            assert_eq!(
                is_known,
                !NOT_LISTED.contains(&operator.name),
                "{operator:?}"
            );
        }
    }

    /// Operators with graph attributes, or with a fixed dtype for each operand.
    const NOT_LISTED: [&str; 4] = ["If", "Loop", "Scan", "NonMaxSuppression"];
}
