//! What a module is made of that becomes one file.

use mind_ir::types::DType;

use crate::error::CompileError;
use crate::ir::{Function, Lane};

use super::symbol::Symbol;

/// Functions, and how they are called on inputs, outputs, constants and scratch memory.
#[derive(Clone, Debug)]
pub struct Module<'f> {
    /// The name of the public function.
    pub name: Symbol,
    /// What the public function reads.
    pub inputs: Vec<Port>,
    /// What it writes.
    pub outputs: Vec<Port>,
    /// Data that is the same in every run.
    pub constants: Vec<Data>,
    /// Bytes of memory that is lost after a run; aligned to 64 bytes.
    pub scratch: usize,
    /// What the steps call.
    pub functions: Vec<&'f Function>,
    /// What a run does, in order.
    pub steps: Vec<Step>,
    /// Whether to add a `main` that reads the inputs from stdin, one after the other, writes the outputs to
    /// stdout, and exits with the status.
    pub has_main: bool,
}

/// A tensor that a caller hands over, contiguous and row-major.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// What it is called; any text.
    pub name: String,
    /// The type of an element.
    pub dtype: DType,
    /// Extents.
    pub shape: Vec<usize>,
}

impl Port {
    pub(super) fn bytes(&self) -> usize {
        let elements = self
            .shape
            .iter()
            .fold(1usize, |all, &extent| all.saturating_mul(extent));
        elements.saturating_mul(self.dtype.size())
    }
}

/// Constant data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Data {
    /// What the data is written as; its bits are kept.
    pub lane: Lane,
    /// Elements, each little-endian.
    pub bytes: Vec<u8>,
}

/// A step of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Calls a function.
    Call(Call),
    /// Does steps for each number below `extent`, in ascending order. The number is a task coordinate:
    /// [`Arg::Task`] counts the loops around a call from the outermost, 0.
    Repeat {
        /// How often.
        extent: u64,
        /// What.
        body: Vec<Step>,
    },
    /// Copies slices that indices name.
    Gather(Gather),
    /// Copies bytes.
    Transfer(Transfer),
}

/// A copy of bytes as they are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// Where they are.
    pub from: Place,
    /// Where they go.
    pub to: Place,
    /// How many.
    pub bytes: usize,
}

/// A copy of slices: of each group of `extent`, those that `count` indices name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gather {
    /// The slices.
    pub data: Place,
    /// The indices, signed numbers.
    pub indices: Place,
    /// Where the slices go.
    pub result: Place,
    /// Type of an index: `I32` or `I64`.
    pub index: Lane,
    /// How many groups there are.
    pub groups: usize,
    /// Slices of a group.
    pub extent: usize,
    /// How many are wanted of each.
    pub count: usize,
    /// Bytes of a slice.
    pub slice: usize,
}

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Which function of the module.
    pub function: usize,
    /// An argument for each of its parameters.
    pub args: Vec<Arg>,
}

/// An argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arg {
    /// For a pointer.
    Ptr(Place),
    /// For an index.
    Index(i64),
    /// For an index: the number of a loop around the call, the outermost being 0.
    Task(usize),
}

/// A place in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The memory.
    pub buffer: Buffer,
    /// Bytes from its start.
    pub offset: usize,
}

/// Memory of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Buffer {
    /// An input, by number. It is not written.
    Input(usize),
    /// An output, by number.
    Output(usize),
    /// Constant data, by number. It is not written.
    Constant(usize),
    /// The memory that is lost after a run.
    Scratch,
}

/// Why a module could not be written.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// A function is not valid.
    #[error(transparent)]
    Function(#[from] CompileError),
    /// A call names a function that is not there.
    #[error("a call of function {found}; the module has {count}")]
    NoFunction {
        /// The number.
        found: usize,
        /// How many there are.
        count: usize,
    },
    /// A call has more or fewer arguments than the function has parameters.
    #[error("a call of `{function}` with {found} arguments; expected {expected}")]
    Arguments {
        /// The name of the function.
        function: String,
        /// Arguments of the call.
        found: usize,
        /// Parameters of the function.
        expected: usize,
    },
    /// An argument is not of the type of its parameter.
    #[error("argument {position} of a call of `{function}` is {found:?}; expected {expected}")]
    Argument {
        /// The name of the function.
        function: String,
        /// Which argument, from 0.
        position: usize,
        /// The argument.
        found: Arg,
        /// What is expected, in words.
        expected: String,
    },
    /// A gather or copy names memory that is not there.
    #[error("a place of a copy is outside; expected {expected}")]
    Gather {
        /// What is expected, in words.
        expected: String,
    },
    /// Constant data does not consist of whole elements.
    #[error("constant {constant} has {bytes} bytes; expected a multiple of {element}")]
    Data {
        /// Which constant, from 0.
        constant: usize,
        /// Its size in bytes.
        bytes: usize,
        /// Bytes of an element.
        element: usize,
    },
}
