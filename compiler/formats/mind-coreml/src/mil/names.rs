//! Names of values, functions and arguments.

use rustc_hash::FxHashSet;

/// Words that cannot be names.
const RESERVED: [&str; 34] = [
    "any", "bool", "program", "func", "tensor", "list", "dict", "tuple", "true", "false", "string",
    "bf16", "fp16", "fp32", "fp64", "int4", "int8", "int16", "int32", "int64", "uint1", "uint2",
    "uint3", "uint4", "uint6", "uint8", "uint16", "uint32", "uint64", "state", "const", "BLOBFILE",
    "inf", "nan",
];

/// Returns whether `name` is a legal name of a value.
pub(super) fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    bytes.next().is_some_and(letter)
        && bytes.all(|byte| letter(byte) || byte.is_ascii_digit())
        && !RESERVED.contains(&name)
}

/// Set of unique names.
#[derive(Default)]
pub(super) struct Names {
    given: FxHashSet<String>,
}

impl Names {
    /// Reserves a name.
    pub(super) fn take(&mut self, name: &str) {
        self.given.insert(name.to_owned());
    }

    /// Returns an unused legal name similar to `wanted`, for example `a_b` for `a.b`.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        let letters = wanted.chars().map(|letter| match letter {
            '_' => '_',
            letter if letter.is_ascii_alphanumeric() => letter,
            _ => '_',
        });
        let mut name: String = letters.collect();
        if name.bytes().next().is_none_or(|byte| byte.is_ascii_digit()) {
            name.insert_str(0, "var_");
        }
        if RESERVED.contains(&name.as_str()) {
            name.push_str("_workaround");
        }
        let mut own = name.clone();
        for suffix in 0.. {
            if self.given.insert(own.clone()) {
                break;
            }
            own = format!("{name}_{suffix}");
        }
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_legal_and_unique() {
        let mut names = Names::default();
        assert_eq!(names.fresh("a.b"), "a_b");
        assert_eq!(names.fresh("a-b"), "a_b_0");
        assert_eq!(names.fresh("1x"), "var_1x");
        assert_eq!(names.fresh("fp16"), "fp16_workaround");
        assert_eq!(names.fresh(""), "var_");
        assert!(is_name("relu") && !is_name("state") && !is_name("1x") && !is_name("ä"));
    }
}
