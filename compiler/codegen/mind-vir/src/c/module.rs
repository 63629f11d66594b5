//! A program with one public C function.

use mind_ir::types::DType;

use crate::error::CompileError;
use crate::ir::Function;
use crate::program::{Base, Step};

use super::subprogram::Subprogram;
use super::symbol::Symbol;

/// Steps, the functions that they call, and their memory.
#[derive(Clone, Debug)]
pub struct Module<'p> {
    /// The name of the public function.
    pub name: Symbol,
    /// The inputs of the public function.
    pub inputs: Vec<Array>,
    /// Its outputs.
    pub outputs: Vec<Array>,
    /// [`Base::Constants`].
    pub constants: &'p [u8],
    /// Sizes of static memory, which is dead after a run.
    pub memory: StaticMemory,
    /// The functions that the steps call.
    pub functions: Vec<Callee<'p>>,
    /// The steps of a run, in order. A range of a grid is one task.
    pub steps: Vec<&'p Step>,
    /// The subprograms of control flow.
    pub subprograms: Vec<Subprogram>,
    /// Whether to add a `main` that reads the inputs from stdin, one after the other, writes the outputs to stdout, and
    /// exits with the status.
    pub has_main: bool,
}

/// A function that steps call.
#[derive(Clone, Debug)]
pub struct Callee<'p> {
    /// Its name in the text.
    pub name: Symbol,
    /// The function.
    pub function: &'p Function,
    /// Whether [`SharedFunctions`](super::SharedFunctions) contain its text.
    pub is_shared: bool,
}

impl<'p> Callee<'p> {
    /// Returns `functions` for the module `name` alone.
    pub fn all_of(
        name: &Symbol,
        functions: impl IntoIterator<Item = &'p Function>,
    ) -> Vec<Callee<'p>> {
        let functions = functions.into_iter().enumerate();
        let callee = |(number, function): (usize, &'p Function)| Callee {
            name: name.derived(function.name(), number),
            function,
            is_shared: false,
        };
        functions.map(callee).collect()
    }
}

/// A contiguous, row-major array of the caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    /// The buffer of the program that it is.
    pub base: Base,
    /// Its name; any text.
    pub name: String,
    /// The type of an element.
    pub dtype: DType,
    /// Extents.
    pub shape: Vec<usize>,
}

impl Array {
    pub(crate) fn bytes(&self) -> usize {
        let elements = self
            .shape
            .iter()
            .fold(1usize, |all, &extent| all.saturating_mul(extent));
        elements.saturating_mul(self.dtype.size())
    }
}

/// Bytes of each part of the static memory of a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StaticMemory {
    /// [`Base::Workspace`].
    pub workspace: usize,
    /// [`Base::Bound`], unless the caller passes that as an array.
    pub bound: usize,
    /// The scratch memory of a kernel.
    pub scratch: usize,
    /// Loop-carried values.
    pub carried: usize,
}

impl StaticMemory {
    /// Alignment of each part, in bytes.
    pub(super) const ALIGN: usize = 64;

    pub(super) const fn bound_start(self) -> usize {
        self.workspace.next_multiple_of(Self::ALIGN)
    }

    pub(super) const fn scratch_start(self) -> usize {
        (self.bound_start() + self.bound).next_multiple_of(Self::ALIGN)
    }

    pub(super) const fn carried_start(self) -> usize {
        (self.scratch_start() + self.scratch).next_multiple_of(Self::ALIGN)
    }

    pub(super) const fn bytes(self) -> usize {
        self.carried_start() + self.carried
    }
}

/// Why a module could not be written as C.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// A function is not valid.
    #[error(transparent)]
    Function(#[from] CompileError),
    /// A call of a function that does not exist.
    #[error("a call of function {found}; the module has {count}")]
    NoFunction {
        /// The number.
        found: usize,
        /// The number of functions.
        count: usize,
    },
    /// An op without a C implementation.
    #[error("`{op}` has no kernel: only the compiler itself evaluates it")]
    NoC {
        /// The op.
        op: &'static str,
    },
    /// The algorithm of a step accesses memory outside of its arrays.
    #[error("`{op}` reads or writes beyond its arrays")]
    Outside {
        /// The op.
        op: &'static str,
    },
    /// A step of control flow runs a subprogram that does not exist.
    #[error("`{op}` runs subprogram {found}; the module has {count}")]
    NoSubprogram {
        /// The op.
        op: &'static str,
        /// The number.
        found: usize,
        /// The number of subprograms.
        count: usize,
    },
    /// The arrays of a step differ from those that its subprogram takes.
    #[error("`{op}` hands arrays of {found:?} bytes to {subprogram}; expected {expected:?}")]
    Arrays {
        /// The op.
        op: &'static str,
        /// The subprogram, in words.
        subprogram: String,
        /// Sizes in bytes of the arrays of the step.
        found: Vec<usize>,
        /// Sizes in bytes that the subprogram expects.
        expected: Vec<usize>,
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
    /// An argument has another type than its parameter.
    #[error("argument {position} of a call of `{function}` is {found}; expected {expected}")]
    Argument {
        /// The name of the function.
        function: String,
        /// The position of the argument, from 0.
        position: usize,
        /// The argument, in words.
        found: &'static str,
        /// The expected argument, in words.
        expected: &'static str,
    },
    /// A step accesses memory out of bounds.
    #[error("{bytes} bytes at {offset} of {base:?}, which has {size}")]
    Memory {
        /// The memory.
        base: Base,
        /// The first byte.
        offset: u64,
        /// The number of bytes.
        bytes: usize,
        /// The size of the memory.
        size: usize,
    },
}
