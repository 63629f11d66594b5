//! A program as one public function of C.

use mind_ir::types::DType;

use crate::error::CompileError;
use crate::ir::Function;
use crate::program::{Base, Step};

use super::subprogram::Subprogram;
use super::symbol::Symbol;

/// Steps, what they call, and the memory that they have.
#[derive(Clone, Debug)]
pub struct Module<'p> {
    /// The name of the public function.
    pub name: Symbol,
    /// What the public function reads.
    pub inputs: Vec<Array>,
    /// What it writes.
    pub outputs: Vec<Array>,
    /// [`Base::Constants`].
    pub constants: &'p [u8],
    /// Bytes of memory that is lost after a run.
    pub memory: StaticMemory,
    /// What the steps call.
    pub functions: Vec<Callee<'p>>,
    /// What a run does, in order. Ranges of a grid are one task.
    pub steps: Vec<&'p Step>,
    /// The programs that control flow runs.
    pub subprograms: Vec<Subprogram>,
    /// Whether to add a `main` that reads the inputs from stdin, one after the other, writes the outputs to
    /// stdout, and exits with the status.
    pub has_main: bool,
}

/// A function that steps call.
#[derive(Clone, Debug)]
pub struct Callee<'p> {
    /// What the text calls it.
    pub name: Symbol,
    /// The function.
    pub function: &'p Function,
    /// Whether [`SharedFunctions`](super::SharedFunctions) have its text.
    pub is_shared: bool,
}

impl<'p> Callee<'p> {
    /// `functions` of the module `name` alone.
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

/// An array that a caller hands over, contiguous and row-major.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    /// The memory of the program that it is.
    pub base: Base,
    /// What it is called; any text.
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
    /// [`Base::Bound`], unless that is an array of the caller's.
    pub bound: usize,
    /// The scratch memory of a kernel.
    pub scratch: usize,
    /// The values that a loop carries from step to step.
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
    /// An op that only the compiler itself evaluates.
    #[error("`{op}` has no kernel: only the compiler itself evaluates it")]
    NoC {
        /// The op.
        op: &'static str,
    },
    /// What a step computes does not fit its arrays.
    #[error("`{op}` reads or writes beyond its arrays")]
    Outside {
        /// The op.
        op: &'static str,
    },
    /// A step of control flow runs a subprogram that is not there.
    #[error("`{op}` runs subprogram {found}; the module has {count}")]
    NoSubprogram {
        /// The op.
        op: &'static str,
        /// The number.
        found: usize,
        /// How many there are.
        count: usize,
    },
    /// A step hands other arrays to what it runs than that takes.
    #[error("`{op}` hands arrays of {found:?} bytes to {subprogram}; expected {expected:?}")]
    Arrays {
        /// The op.
        op: &'static str,
        /// What it runs, in words.
        subprogram: String,
        /// The bytes of what it is handed.
        found: Vec<usize>,
        /// The bytes of what it takes.
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
    /// An argument is not of the type of its parameter.
    #[error("argument {position} of a call of `{function}` is {found}; expected {expected}")]
    Argument {
        /// The name of the function.
        function: String,
        /// Which argument, from 0.
        position: usize,
        /// The argument, in words.
        found: &'static str,
        /// What is expected, in words.
        expected: &'static str,
    },
    /// A step names memory that is not there.
    #[error("{bytes} bytes at {offset} of {base:?}, which has {size}")]
    Memory {
        /// The memory.
        base: Base,
        /// The first byte.
        offset: u64,
        /// How many bytes.
        bytes: usize,
        /// How many there are.
        size: usize,
    },
}
