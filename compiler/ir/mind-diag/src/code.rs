//! The catalogue of diagnostic codes.

use std::fmt;

/// A stable diagnostic code, for example `E3001`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Code(pub u16);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "E{:04}", self.0)
    }
}

/// The catalogue entry of a code.
#[derive(Debug)]
pub struct CodeInfo {
    /// The code.
    pub code: Code,
    /// The problem that has this code.
    pub title: &'static str,
    /// The facts that every diagnostic with this code shows, in its message or its context.
    pub shows: &'static str,
    /// The help for errors that have none of their own.
    pub help: &'static str,
}

impl Code {
    /// Returns the catalogue entry of the code; `None` if the code is not in the [`CATALOGUE`].
    pub fn info(self) -> Option<&'static CodeInfo> {
        CATALOGUE.iter().find(|info| info.code == self)
    }
}

const fn row(code: u16, title: &'static str, shows: &'static str, help: &'static str) -> CodeInfo {
    CodeInfo {
        code: Code(code),
        title,
        shows,
        help,
    }
}

/// All codes that the compiler reports, in ascending order. Codes are stable: new ones are added, and none is
/// renumbered.
pub const CATALOGUE: &[CodeInfo] = &[
    row(
        1001,
        "bytes are not UTF-8",
        "byte offset, up to 4 bytes in hex",
        "save the text as UTF-8",
    ),
    row(
        1002,
        "illegal character in an identifier",
        "place, character",
        "names consist of ASCII letters, digits and `_`, and do not begin with a digit",
    ),
    row(
        1003,
        "string without closing quote",
        "its start",
        "a string ends with '\"' on its line",
    ),
    row(
        1004,
        "unknown escape",
        "place, escape",
        "write the character itself, or an escape that the format has",
    ),
    row(
        1005,
        "malformed or out-of-range number literal",
        "place, literal",
        "write a number that the type can hold",
    ),
    row(
        2001,
        "type differs from the expected one",
        "place, expected, found",
        "declare the type that is expected, or change the value",
    ),
    row(
        2004,
        "operands of different dtypes",
        "op, place, both dtypes",
        "operands share one dtype; there is no implicit conversion",
    ),
    row(
        2005,
        "op not defined for this dtype",
        "op, found dtype, supported dtypes",
        "use a dtype that the op supports; docs/ops lists them",
    ),
    row(
        2007,
        "wrong number of operands",
        "op, expected, found, place",
        "write as many operands as the op takes",
    ),
    row(
        3001,
        "shapes do not broadcast",
        "both shapes, dimension, both extents",
        "make both extents equal, or one of them 1",
    ),
    row(
        3002,
        "rank not allowed",
        "op, expected rank, found, place",
        "reshape the operand to a rank that the op takes",
    ),
    row(
        3003,
        "extents that must agree do not",
        "op, dimension, expected, found",
        "make both extents equal",
    ),
    row(
        3004,
        "axis outside the rank",
        "op, axis, rank, place",
        "axes run from 0 to the rank minus 1",
    ),
    row(
        3005,
        "axis listed twice",
        "op, axis list, the axis",
        "list each axis once; a negative one counts from the end",
    ),
    row(
        3006,
        "extent negative, too large or left open",
        "shape, dimension index, value",
        "extents run from 0 to 2^63 - 1",
    ),
    row(
        3007,
        "element count changes in a reshape",
        "both shapes, both counts",
        "choose extents whose product is the element count",
    ),
    row(
        3008,
        "not a permutation",
        "permutation, rank, the violation",
        "list each axis once",
    ),
    row(
        3009,
        "squeezed extent is not 1",
        "axis, extent, shape",
        "only axes of extent 1 can be squeezed; use a reshape",
    ),
    row(
        3010,
        "literal's nesting differs from the declared shape",
        "declared shape, shape of the data",
        "nest the elements like the declared shape, or declare the shape of the data",
    ),
    row(
        3011,
        "open extent without a source",
        "shape, dimension",
        "write the extent, or map a dimension of an operand to it",
    ),
    row(
        4001,
        "value used before or without definition",
        "instruction, operand, its definition if any",
        "a value can be used only below the line that defines it",
    ),
    row(
        4002,
        "value defined twice",
        "id, both places",
        "give each value its own id",
    ),
    row(
        4003,
        "output does not exist, or no output at all",
        "output index, id",
        "name a value of the module as its output",
    ),
    row(
        4004,
        "bad input declaration",
        "input index, the problem",
        "an input has a name and a type",
    ),
    row(
        4005,
        "constant data does not fit its type",
        "id, dtype and shape, the problem",
        "write as many elements as the shape holds, each in the range of the dtype",
    ),
    row(
        4006,
        "index list length differs from the rank",
        "id, rank, length",
        "write one index for each axis",
    ),
    row(
        4007,
        "slice lists of wrong length",
        "id, rank, the three lengths",
        "write one start, one end and one step for each axis",
    ),
    row(
        4008,
        "slice step zero or negative",
        "id, dimension, step",
        "steps are 1 or more; reverse slices are not supported",
    ),
    row(
        4009,
        "conv channels differ",
        "id, input channels, filter channels",
        "make both channel counts equal",
    ),
    row(
        4010,
        "conv strides or padding invalid",
        "id, value",
        "strides are two positive integers, pads two pairs of integers from 0 on",
    ),
    row(
        4011,
        "gather indices not i32 or i64",
        "id, dtype",
        "indices are i32 or i64",
    ),
    row(
        4012,
        "op or type outside the profile",
        "op or type, profile, profile that allows it",
        "use a profile that allows it",
    ),
    row(
        4021,
        "op that its surrounding body cannot hold",
        "both ops, the ops that the body may hold",
        "move the op out of the body",
    ),
    row(
        4022,
        "attribute is not one of its words",
        "op, attribute, found, the valid words",
        "write one of the words that the attribute takes",
    ),
    row(
        4023,
        "control flow whose operands, lists or regions do not fit each other",
        "op, found, expected",
        "each region yields the carried values, then the other results, in the order of the op's results",
    ),
    row(
        4101,
        "op is not in the opset",
        "op, opset, the opset that has it",
        "use an opset that has the op",
    ),
    row(
        4102,
        "argument that the op does not have",
        "op, argument, the arguments",
        "remove the argument, or correct its name",
    ),
    row(
        4103,
        "argument given twice",
        "op, argument",
        "remove one of the two",
    ),
    row(
        4104,
        "required argument missing",
        "op, argument",
        "add the argument",
    ),
    row(
        4105,
        "argument must be a constant",
        "op, argument",
        "define it with `const`, or by a `constexpr_` op",
    ),
    row(
        4106,
        "element type that the argument does not take",
        "op, argument, found, expected",
        "`cast` converts a value to another element type",
    ),
    row(
        4107,
        "arguments of different element types",
        "op, both arguments, both types",
        "`cast` makes the element types equal; there is no implicit conversion",
    ),
    row(
        4108,
        "value that the argument does not take",
        "op, argument, found, expected",
        "write a value that the argument takes",
    ),
    row(
        4109,
        "list of wrong length",
        "op, argument, expected, found",
        "write a list of the expected length",
    ),
    row(
        4110,
        "extent outside of 1 to 65536",
        "value, dimension, extent",
        "extents run from 1 to 65536; split or reshape the value",
    ),
    row(
        4111,
        "type that inputs and outputs cannot have",
        "value, type, the valid types",
        "`cast` or reshape the value after the input or before the output",
    ),
    row(
        4112,
        "illegal or reserved name",
        "name",
        "a name consists of letters, digits and `_`, does not begin with a digit, and is not a reserved word",
    ),
    row(
        4113,
        "name given twice",
        "name, both places",
        "rename one of the two",
    ),
    row(
        4114,
        "output that is an input, or given twice",
        "name",
        "`identity` gives a value another name",
    ),
    row(
        4115,
        "location in a weight file without such elements",
        "path, offset, the problem",
        "check the path and the offset; weights are in files below the model's folder",
    ),
    row(
        4116,
        "parts of a program that do not fit together",
        "both parts",
        "change one of the two parts",
    ),
    row(
        4117,
        "state that an op cannot take",
        "op, value",
        "`read_state` gives the tensor in a state; only it and `write_state` take one",
    ),
    row(
        4118,
        "constant that is not a number",
        "value",
        "write a number, or `inf` or `-inf`",
    ),
    row(
        4201,
        "text that is not JSON",
        "place, found, expected",
        "JSON has keys in quotes, no comments, and no comma before a closing bracket",
    ),
    row(4202, "required key missing", "key", "add the key"),
    row(
        4203,
        "key that the format does not have",
        "key",
        "remove the key, or correct its name",
    ),
    row(
        4204,
        "value of the wrong kind",
        "key, found, expected",
        "write a value of the expected kind",
    ),
    row(
        4205,
        "number outside of its range",
        "key, value, the range",
        "write a number in the range",
    ),
    row(
        4206,
        "name that the format does not have, or that nothing declares",
        "name",
        "correct the name, or declare it",
    ),
    row(
        4207,
        "declared, bound or listed twice",
        "name",
        "remove one of the two",
    ),
    row(
        4208,
        "shape or size that differs from the configuration",
        "buffer, found, expected",
        "write the size that follows from the configuration, or correct the configuration",
    ),
    row(
        4209,
        "nodes that do not compute the model",
        "node, what is missing or misplaced",
        "compare with the document that `mind-translate --from hf --to irv2` writes for a model of this kind",
    ),
    row(
        4210,
        "parts of a document that contradict each other",
        "both parts",
        "correct the part that is wrong",
    ),
    row(
        4211,
        "model that is not supported",
        "key, value",
        "docs/models.md lists what is supported",
    ),
    row(
        4301,
        "malformed weight file",
        "file, the problem",
        "the file is damaged or truncated: copy or convert it again",
    ),
    row(
        4302,
        "tensor missing from a checkpoint",
        "tensor, buffer",
        "use the checkpoint that belongs to the configuration, with all of its files",
    ),
    row(
        4303,
        "tensor that the model does not have, or twice",
        "file, tensor",
        "use the checkpoint that belongs to the configuration, or remove the tensor",
    ),
    row(
        4304,
        "tensor of another shape or type",
        "file, tensor, found, expected",
        "use the checkpoint that belongs to the configuration",
    ),
    row(
        4305,
        "chat template that cannot be rendered",
        "file, the problem",
        "correct the template, or give the text with its special tokens to `--prompt`",
    ),
    row(
        6001,
        "index out of bounds at run time",
        "op, indices, shape",
        "indices run from 0 to the extent minus 1",
    ),
    row(
        6003,
        "op that a target cannot run",
        "op, target, the reason",
        "write it with ops that the target runs; docs/mil.md lists what is lowered",
    ),
    row(
        6004,
        "allocation failed or too large",
        "shape, dtype",
        "make an extent smaller, or allow more memory",
    ),
    row(
        6005,
        "integer division by zero or overflow",
        "op, operands",
        "divisors must not be 0, and the smallest integer must not be divided by -1",
    ),
    row(
        6007,
        "loop that exceeds its maximum number of steps",
        "the maximum number of steps",
        "let the condition become false, or allow more steps: `--max-steps`",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Diagnostic, Severity, Span};

    #[test]
    fn catalogue_ascends_and_every_code_finds_its_row() {
        assert!(CATALOGUE.windows(2).all(|pair| pair[0].code < pair[1].code));
        assert_eq!(Code(3001).info().unwrap().title, "shapes do not broadcast");
        assert_eq!(Code(3001).to_string(), "E3001");
        assert!(Code(1).info().is_none());
    }

    #[test]
    fn every_code_has_a_way_out() {
        for info in CATALOGUE {
            let is_phrase = |text: &str| text.contains(' ') && !text.ends_with('.');
            assert!(is_phrase(info.help), "{}: {:?}", info.code, info.help);
            let error = Diagnostic::error(Span::FILE, "wrong").code(info.code);
            assert_eq!(error.way_out(), Some(info.help));
            assert_eq!(error.help("nearer").way_out(), Some("nearer"));
            let warning = Diagnostic::new(Severity::Warning, Span::FILE, "doubt").code(info.code);
            assert_eq!(warning.way_out(), None);
        }
    }
}
