//! Names that other formats and tools use for this compiler's dtypes, ops and types, for messages.

use mind_diag::{Diagnostic, Span};
use mind_ir::opdef::{OpDef, nearest};
use mind_ir::types::DType;

use crate::scan::excerpt;

/// The dtypes, for messages.
pub(crate) const DTYPES: &str =
    "the dtypes are f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 and bool";

/// Dtypes under the names of NumPy, PyTorch, ONNX, MLIR, MIL and C, in lower case.
const DTYPE_WORDS: &[(&str, DType)] = &[
    ("float16", DType::F16),
    ("fp16", DType::F16),
    ("half", DType::F16),
    ("bfloat16", DType::BF16),
    ("bfloat", DType::BF16),
    ("float32", DType::F32),
    ("fp32", DType::F32),
    ("float", DType::F32),
    ("single", DType::F32),
    ("float64", DType::F64),
    ("fp64", DType::F64),
    ("double", DType::F64),
    ("int8", DType::I8),
    ("si8", DType::I8),
    ("s8", DType::I8),
    ("int16", DType::I16),
    ("si16", DType::I16),
    ("s16", DType::I16),
    ("short", DType::I16),
    ("int32", DType::I32),
    ("si32", DType::I32),
    ("s32", DType::I32),
    ("int", DType::I32),
    ("int64", DType::I64),
    ("si64", DType::I64),
    ("s64", DType::I64),
    ("long", DType::I64),
    ("index", DType::I64),
    ("uint8", DType::U8),
    ("ui8", DType::U8),
    ("byte", DType::U8),
    ("uint16", DType::U16),
    ("ui16", DType::U16),
    ("uint32", DType::U32),
    ("ui32", DType::U32),
    ("uint64", DType::U64),
    ("ui64", DType::U64),
    ("i1", DType::Bool),
    ("boolean", DType::Bool),
    ("bool_", DType::Bool),
    ("pred", DType::Bool),
];

/// Ops under the names of ONNX, MLIR, StableHLO, PyTorch and NumPy, in lower case, without signs.
const OP_WORDS: &[(&str, &str)] = &[
    ("addf", "core.add"),
    ("addi", "core.add"),
    ("plus", "core.add"),
    ("subf", "core.sub"),
    ("subi", "core.sub"),
    ("subtract", "core.sub"),
    ("minus", "core.sub"),
    ("mulf", "core.mul"),
    ("muli", "core.mul"),
    ("multiply", "core.mul"),
    ("times", "core.mul"),
    ("divf", "core.div"),
    ("divsi", "core.div"),
    ("divui", "core.div"),
    ("divide", "core.div"),
    ("truedivide", "core.div"),
    ("maximumf", "core.maximum"),
    ("maxnumf", "core.maximum"),
    ("maxsi", "core.maximum"),
    ("minimumf", "core.minimum"),
    ("minnumf", "core.minimum"),
    ("minsi", "core.minimum"),
    ("negf", "core.neg"),
    ("negate", "core.neg"),
    ("negative", "core.neg"),
    ("exponential", "core.exp"),
    ("logarithm", "core.log"),
    ("absf", "core.abs"),
    ("absi", "core.abs"),
    ("absolute", "core.abs"),
    ("logistic", "core.sigmoid"),
    ("layernormalization", "core.layernorm"),
    ("nativelayernorm", "core.layernorm"),
    ("permute", "core.transpose"),
    ("permutedims", "core.transpose"),
    ("view", "core.reshape"),
    ("collapseshape", "core.reshape"),
    ("expandshape", "core.reshape"),
    ("flatten", "core.reshape"),
    ("unsqueeze", "core.expand_dims"),
    ("newaxis", "core.expand_dims"),
    ("reducesum", "core.sum"),
    ("reduceadd", "core.sum"),
    ("reducemean", "core.mean"),
    ("average", "core.mean"),
    ("reducemax", "core.max"),
    ("amax", "core.max"),
    ("concatenate", "core.concat"),
    ("stridedslice", "core.slice"),
    ("extractslice", "core.slice"),
    ("take", "core.gather"),
    ("indexselect", "core.gather"),
    ("embedding", "core.gather"),
    ("batchmatmul", "core.matmul"),
    ("bmm", "core.matmul"),
    ("mm", "core.matmul"),
    ("conv", "core.conv2d"),
    ("convolution", "core.conv2d"),
    ("conv2dnhwchwcf", "core.conv2d"),
    ("const", "core.const_tensor"),
    ("constant", "core.const_tensor"),
    ("parameter", "core.input"),
    ("placeholder", "core.input"),
    ("arg", "core.input"),
    ("param", "core.input"),
];

/// Returns the dtype that another tool calls `word`, for example `float32`, `F32` or `torch.half`.
pub fn dtype(word: &str) -> Option<DType> {
    let word = word.rsplit('.').next().unwrap_or(word).to_lowercase();
    let known = DTYPE_WORDS.iter().find(|(name, _)| *name == word);
    known
        .map(|(_, dtype)| *dtype)
        .or_else(|| DType::parse(&word))
}

/// Returns the name of the dtype that `word` means or is most similar to.
pub(crate) fn dtype_meant(word: &str) -> Option<&'static str> {
    dtype(word)
        .map(DType::name)
        .or_else(|| nearest(word, DType::ALL.iter().map(|dtype| dtype.name())))
}

/// Returns the error for a `word` at `span` that is not a dtype.
pub(crate) fn unknown_dtype(span: Span, word: &str) -> Diagnostic {
    let error = Diagnostic::error(span, format!("unknown dtype {}", excerpt(word)));
    match dtype_meant(word) {
        Some(name) => error.did_you_mean(name),
        None => error.help(DTYPES),
    }
}

/// Returns a help that says that `format` lacks `op`, and how other formats write it.
pub(crate) fn lacking(format: &str, op: &OpDef) -> String {
    let others = [("mic@1", op.names.mic1), ("Core text", op.names.core)];
    let others = others.into_iter().filter(|(name, _)| *name != format);
    let others = others.filter_map(|(name, word)| Some(format!("`{}` in {name}", word?)));
    let others: Vec<String> = others.collect();
    let name = op.short_name();
    if others.is_empty() {
        format!("{format} has no `{name}`")
    } else {
        format!("{format} has no `{name}`; it is {}", others.join(" and "))
    }
}

/// Returns the op among `ops` that another format or tool calls `word`, for example `relu` or `arith.addf`.
pub(crate) fn op(
    word: &str,
    ops: impl Iterator<Item = &'static OpDef> + Clone,
) -> Option<&'static OpDef> {
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return None;
    }
    let last = word.rsplit('.').next().unwrap_or(word);
    let ops = ops.filter(|def| def.names.core.is_some() || def.names.mic1.is_some());
    [word, last].into_iter().find_map(|word| {
        let plain = plain(word);
        let named = |def: &&'static OpDef| {
            let names = [def.names.core, def.names.mic1, def.names.mic2];
            let names = names.into_iter().flatten().chain([def.short_name()]);
            let mut names = names.filter(|name| !name.is_empty());
            names.any(|name| name == word || !plain.is_empty() && self::plain(name) == plain)
        };
        let other = OP_WORDS.iter().find(|(name, _)| *name == plain);
        ops.clone().find(named).or_else(|| {
            ops.clone()
                .find(|def| other.is_some_and(|(_, op)| *op == def.name))
        })
    })
}

/// Returns `word` in lower case, without punctuation.
fn plain(word: &str) -> String {
    let letters = word.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// A type in the spelling of any tool, for example `tensor<4x8xf32>`, `f32[4, 8]`, `[f32;4,8]` or `float32 4 8`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ForeignType<'t> {
    pub(crate) dtype: DType,
    /// Integers, `?` and names of symbols.
    pub(crate) dims: Vec<&'t str>,
}

impl<'t> ForeignType<'t> {
    /// Parses a type: one dtype, extents and punctuation. Returns `None` if `text` holds anything else.
    pub(crate) fn parse(text: &'t str) -> Option<ForeignType<'t>> {
        const SIGNS: &[char] = &['<', '>', '[', ']', '(', ')', ',', ';', ':', '*', ' ', '\t'];
        const CONTAINERS: [&str; 4] = ["tensor", "Tensor", "memref", "vector"];
        const LONGEST: usize = 200;
        if text.len() > LONGEST {
            return None;
        }
        let words = text
            .split(SIGNS)
            .filter(|word| !word.is_empty() && !CONTAINERS.contains(word));
        let (mut found, mut dims) = (None, Vec::new());
        for word in words {
            // `4x?xf32`, but not `extent`.
            let joined = word.starts_with(|c: char| c.is_ascii_digit() || c == '?');
            for part in word.split(|c| joined && c == 'x') {
                match dtype(part) {
                    Some(dtype) if found.is_none() => found = Some(dtype),
                    Some(_) => return None,
                    None if is_dim(part) => dims.push(part),
                    None => return None,
                }
            }
        }
        found.map(|dtype| ForeignType { dtype, dims })
    }

    /// Joins the dimensions with `separator`.
    pub(crate) fn dims(&self, separator: &str) -> String {
        self.dims.join(separator)
    }
}

/// Returns whether `word` is an extent, `?` or a name.
fn is_dim(word: &str) -> bool {
    let number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    number || word == "?" || crate::scan::is_ident(word)
}

/// Returns whether a text is MLIR, by its first line that is neither blank nor a comment.
pub fn is_mlir(text: &str) -> bool {
    mlir_line(text).is_some()
}

/// Returns the offset and the length of the MLIR construct on the first line that is neither blank nor a comment;
/// `None` if the text is not MLIR.
pub(crate) fn mlir_line(text: &str) -> Option<(usize, usize)> {
    const STARTS: [&str; 7] = [
        "module {",
        "module @",
        "module attributes",
        "builtin.module",
        "func.func",
        "func @",
        "\"builtin.module\"",
    ];
    let mut at = text.len() - text.trim_start_matches('\u{feff}').len();
    for line in text[at..].split_inclusive('\n') {
        let code = line.trim();
        if !(code.is_empty() || code.starts_with('#') || code.starts_with("//")) {
            let blanks = line.len() - line.trim_start().len();
            let is_mlir = STARTS.iter().any(|start| code.starts_with(start));
            return is_mlir.then_some((at + blanks, code.len()));
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dtypes_of_other_tools() {
        let cases = [
            ("float32", Some(DType::F32)),
            ("F32", Some(DType::F32)),
            ("fp16", Some(DType::F16)),
            ("torch.bfloat16", Some(DType::BF16)),
            ("i1", Some(DType::Bool)),
            ("complex64", None),
            ("", None),
        ];
        for (word, dtype) in cases {
            assert_eq!(super::dtype(word), dtype, "{word}");
        }
    }

    #[test]
    fn ops_of_other_tools() {
        let cases = [
            ("relu", Some("core.relu")),
            ("ReLU", Some("core.relu")),
            ("arith.addf", Some("core.add")),
            ("stablehlo.dot_general", Some("core.dot_general")),
            ("onnx.MatMul", Some("core.matmul")),
            ("+", Some("core.add")),
            ("const.f32", Some("core.const_f32")),
            ("einsum", None),
            ("=", None),
            ("", None),
        ];
        for (word, name) in cases {
            let found = op(word, mind_core::DIALECT.ops.iter().copied());
            assert_eq!(found.map(|def| def.name), name, "{word}");
        }
        for (_, name) in OP_WORDS {
            let known = mind_core::DIALECT.ops.iter().any(|def| def.name == *name);
            assert!(known, "{name} is no op");
        }
    }

    #[test]
    fn types_in_any_spelling() {
        for text in [
            "tensor<4x8xf32>",
            "f32[4, 8]",
            "[f32;4,8]",
            "float32 4 8",
            "Tensor<f32, [4, 8]>",
            "f32[4,8",
        ] {
            let ty = ForeignType::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(
                (ty.dtype, ty.dims(",")),
                (DType::F32, "4,8".to_owned()),
                "{text}"
            );
        }
        let open = ForeignType::parse("tensor<?x8xbf16>").map(|ty| ty.dims(" "));
        assert_eq!(open.as_deref(), Some("? 8"));
        for text in [
            "",
            "f32 f32",
            "[4, 8]",
            "f32[1.5]",
            "f32[3x]",
            "tensor<4xcomplex64>",
        ] {
            assert_eq!(ForeignType::parse(text), None, "{text}");
        }
    }

    #[test]
    fn mlir_is_told_by_its_first_lines() {
        assert_eq!(mlir_line("// c\nmodule {\n}\n"), Some((5, 8)));
        assert_eq!(mlir_line("  func.func @f() {"), Some((2, 16)));
        assert_eq!(mlir_line("%0 = Input {name=module}"), None);
    }
}
