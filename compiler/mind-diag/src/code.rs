//! The catalogue of diagnostic codes.

use std::fmt;

/// A stable diagnostic code such as `E3001`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Code(pub u16);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "E{:04}", self.0)
    }
}

/// What the catalogue says of one code.
#[derive(Debug)]
pub struct CodeInfo {
    /// The code.
    pub code: Code,
    /// What sets it off.
    pub title: &'static str,
    /// What a diagnostic with this code always shows, in its message or its context.
    pub shows: &'static str,
}

impl Code {
    /// This code's row in the [`CATALOGUE`].
    pub fn info(self) -> Option<&'static CodeInfo> {
        CATALOGUE.iter().find(|info| info.code == self)
    }
}

const fn row(code: u16, title: &'static str, shows: &'static str) -> CodeInfo {
    CodeInfo {
        code: Code(code),
        title,
        shows,
    }
}

/// Every code that this compiler reports, ascending. Codes are stable: added, never renumbered.
pub const CATALOGUE: &[CodeInfo] = &[
    row(
        1001,
        "bytes are not UTF-8",
        "byte offset, up to 4 bytes in hex",
    ),
    row(
        1002,
        "illegal character in an identifier",
        "place, character",
    ),
    row(1003, "string without closing quote", "its start"),
    row(1004, "unknown escape", "place, escape"),
    row(
        1005,
        "malformed or out-of-range number literal",
        "place, literal",
    ),
    row(
        2001,
        "type differs from the expected one",
        "place, expected, found",
    ),
    row(
        2004,
        "operands of different dtypes",
        "op, place, both dtypes",
    ),
    row(
        2005,
        "op not defined for this dtype",
        "op, found dtype, supported dtypes",
    ),
    row(
        2007,
        "wrong number of operands",
        "op, expected, found, place",
    ),
    row(
        3001,
        "shapes do not broadcast",
        "both shapes, dimension, both extents",
    ),
    row(3002, "rank not allowed", "op, expected rank, found, place"),
    row(
        3003,
        "extents that must agree do not",
        "op, dimension, expected, found",
    ),
    row(3004, "axis outside the rank", "op, axis, rank, place"),
    row(3005, "axis listed twice", "op, axis list, the axis"),
    row(
        3006,
        "extent negative, too large or left open",
        "shape, dimension index, value",
    ),
    row(
        3007,
        "element count changes in a reshape",
        "both shapes, both counts",
    ),
    row(
        3008,
        "not a permutation",
        "permutation, rank, the violation",
    ),
    row(3009, "squeezed extent is not 1", "axis, extent, shape"),
    row(
        3010,
        "literal's nesting differs from the declared shape",
        "declared shape, shape of the data",
    ),
    row(3011, "open extent without a source", "shape, dimension"),
    row(
        4001,
        "value used before or without definition",
        "instruction, operand, its definition if any",
    ),
    row(4002, "value defined twice", "id, both places"),
    row(
        4003,
        "output does not exist, or no output at all",
        "output index, id",
    ),
    row(4004, "bad input declaration", "input index, what is wrong"),
    row(
        4005,
        "constant data does not fit its type",
        "id, dtype and shape, the problem",
    ),
    row(
        4006,
        "index list length differs from the rank",
        "id, rank, length",
    ),
    row(
        4007,
        "slice lists of wrong length",
        "id, rank, the three lengths",
    ),
    row(4008, "slice step zero or negative", "id, dimension, step"),
    row(
        4009,
        "conv channels differ",
        "id, input channels, filter channels",
    ),
    row(4010, "conv strides or padding invalid", "id, value"),
    row(4011, "gather indices not i32 or i64", "id, dtype"),
    row(
        4012,
        "op or type outside the profile",
        "op or type, profile, profile that allows it",
    ),
    row(
        4021,
        "op that its surrounding body cannot hold",
        "both ops, what the body may hold",
    ),
    row(
        4022,
        "attribute is none of its words",
        "op, attribute, found, the words",
    ),
    row(
        4101,
        "op is not in the opset",
        "op, opset, the opset that has it",
    ),
    row(
        4102,
        "argument that the op does not have",
        "op, argument, the arguments",
    ),
    row(4103, "argument given twice", "op, argument"),
    row(4104, "required argument missing", "op, argument"),
    row(4105, "argument must be a constant", "op, argument"),
    row(
        4106,
        "element type that the argument does not take",
        "op, argument, found, expected",
    ),
    row(
        4107,
        "arguments of different element types",
        "op, both arguments, both types",
    ),
    row(
        4108,
        "value that the argument does not take",
        "op, argument, found, expected",
    ),
    row(
        4109,
        "list of wrong length",
        "op, argument, expected, found",
    ),
    row(
        4110,
        "extent outside of 1 to 65536",
        "value, dimension, extent",
    ),
    row(
        4111,
        "type that a program cannot take or give",
        "value, type, what it can",
    ),
    row(4112, "illegal or reserved name", "name"),
    row(4113, "name given twice", "name, both places"),
    row(4114, "output that is an input, or given twice", "name"),
    row(
        4115,
        "place in a weight file that holds no such elements",
        "path, offset, the problem",
    ),
    row(
        4116,
        "parts of a program that do not fit together",
        "both parts",
    ),
    row(4117, "state that an op cannot take", "op, value"),
    row(4118, "constant that is not a number", "value"),
    row(4201, "text that is no JSON", "place, found, expected"),
    row(4202, "required key missing", "key"),
    row(4203, "key that the format does not have", "key"),
    row(4204, "value of the wrong kind", "key, found, expected"),
    row(4205, "number outside of its range", "key, value, the range"),
    row(
        4206,
        "name that the format does not have, or that nothing declares",
        "name",
    ),
    row(4207, "declared, bound or listed twice", "name"),
    row(
        4208,
        "shape or size that the configuration does not give",
        "buffer, found, expected",
    ),
    row(
        4209,
        "nodes that do not compute the model",
        "node, what is missing or misplaced",
    ),
    row(
        4210,
        "parts of a document that contradict each other",
        "both parts",
    ),
    row(4211, "model that is not supported", "key, value"),
    row(4301, "malformed weight file", "file, the problem"),
    row(4302, "tensor missing from a checkpoint", "tensor, buffer"),
    row(
        4303,
        "tensor that the model does not have, or twice",
        "file, tensor",
    ),
    row(
        4304,
        "tensor of another shape or type",
        "file, tensor, found, expected",
    ),
    row(
        6001,
        "index out of bounds at run time",
        "op, indices, shape",
    ),
    row(
        6003,
        "op that a target cannot run",
        "op, target, the reason",
    ),
    row(6004, "allocation failed or too large", "shape, dtype"),
    row(6005, "integer division by zero or overflow", "op, operands"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catalogue_ascends_and_every_code_finds_its_row() {
        assert!(CATALOGUE.windows(2).all(|pair| pair[0].code < pair[1].code));
        assert_eq!(Code(3001).info().unwrap().title, "shapes do not broadcast");
        assert_eq!(Code(3001).to_string(), "E3001");
        assert!(Code(1).info().is_none());
    }
}
