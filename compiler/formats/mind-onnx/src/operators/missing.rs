//! Reasons for operators that are not imported.

use mind_convert::Refusal;

use super::{ONNX, domain};

/// The reasons, with the operators of ONNX's own set that have no row for them.
const REASONS: &[(&str, &[&str])] = &[
    (
        "the operator works on sequences, which are not numeric tensors",
        &[
            "ConcatFromSequence",
            "SequenceAt",
            "SequenceConstruct",
            "SequenceEmpty",
            "SequenceErase",
            "SequenceInsert",
            "SequenceLength",
            "SequenceMap",
            "SplitToSequence",
        ],
    ),
    (
        "the operator works on optional values, which are not numeric tensors",
        &["Optional"],
    ),
    (
        "the operator works on strings, which are not numeric tensors",
        &[
            "RegexFullMatch",
            "StringConcat",
            "StringNormalizer",
            "StringSplit",
        ],
    ),
    (
        "the operator's result is random",
        &[
            "Bernoulli",
            "Multinomial",
            "RandomNormal",
            "RandomNormalLike",
            "RandomUniform",
            "RandomUniformLike",
        ],
    ),
    ("the operator counts words in texts", &["TfIdfVectorizer"]),
    ("the operator decodes files of images", &["ImageDecoder"]),
];

/// The domains without rows, with reasons.
const DOMAINS: &[(&str, &str)] = &[
    (
        "ai.onnx.ml",
        "operators of trees, tables and other models that are not neural networks are not supported",
    ),
    (
        "ai.onnx.preview.training",
        "operators that train are not supported",
    ),
    ("ai.onnx.training", "operators that train are not supported"),
];

/// Returns the refusal of an operator without a row.
pub(crate) fn missing(of: &str, name: &str) -> Refusal {
    Refusal::unsupported(
        reason(of, name),
        "docs/formats/onnx-operators.md lists the operators that are read; a function of the model with its name is read, too",
    )
}

/// Returns the reason why an operator has no row.
fn reason(of: &str, name: &str) -> &'static str {
    let of = domain(of);
    let mut domains = DOMAINS.iter();
    if let Some((_, why)) = domains.find(|(own, _)| *own == of) {
        return why;
    }
    let mut reasons = REASONS.iter().filter(|_| of == ONNX);
    let found = reasons.find(|(_, names)| names.contains(&name));
    found.map_or("the operator is not supported", |(why, _)| why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_reason_has_no_row() {
        for name in REASONS.iter().flat_map(|(_, names)| *names) {
            assert!(super::super::find(ONNX, name).is_none(), "{name}");
        }
        for (of, _) in DOMAINS {
            assert!(
                super::super::operators()
                    .iter()
                    .all(|own| own.domain != *of)
            );
        }
    }
}
