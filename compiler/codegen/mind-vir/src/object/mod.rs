//! Programs as object files.
//!
//! A file contains the machine code of kernels, a bind and a run function for each program, and the constants. With
//! code for several instruction sets, its public functions select the first one that the processor supports.
//! [`ObjectWriter`] builds the file, [`header`] the declarations for C.
//!
//! - `writer`: builds the file. `layout`: the memory of a program and its subprograms.
//! - `body`: builder of a function with structured control flow.
//! - `driver`: compiles steps to such a function. `control`: steps that run subprograms. `routine`: routines without a
//!   kernel.
//! - `dispatch`: the public functions. `cpu`: processor requirements.
//!
//! A run executes on the calling thread, accesses only the memory passed to it, and calls only `memcpy`.

mod body;
mod control;
mod cpu;
mod dispatch;
mod driver;
mod header;
mod layout;
mod routine;
mod writer;

use std::fmt;
use std::str::FromStr;

use crate::error::CompileError;
use crate::program::RoutineError;

pub use header::{Ports, header};
pub use writer::{ObjectProgram, ObjectWriter, ProgramId};

/// Alignment of all memory, constants and functions, in bytes.
const ALIGN: u64 = 64;

/// The maximum number of bytes of the caller's memory lost to alignment.
const SLACK: u64 = ALIGN;

/// The maximum size of constants in a file, because addresses in a file are 32-bit and relative.
pub const MOST_CONSTANTS: usize = 1 << 30;

/// An object file format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Container {
    /// Linux and the BSDs.
    Elf,
    /// macOS.
    MachO,
    /// Windows.
    Coff,
}

impl Container {
    /// Every format.
    pub const ALL: [Container; 3] = [Container::Elf, Container::MachO, Container::Coff];

    /// The format of the host system.
    pub const HOST: Container = if cfg!(target_vendor = "apple") {
        Container::MachO
    } else if cfg!(windows) {
        Container::Coff
    } else {
        Container::Elf
    };

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Container::Elf => "elf",
            Container::MachO => "macho",
            Container::Coff => "coff",
        }
    }

    /// Returns the system whose calling convention its functions follow.
    const fn system(self) -> &'static str {
        match self {
            Container::Elf => "unknown-linux-gnu",
            Container::MachO => "apple-darwin",
            Container::Coff => "pc-windows-msvc",
        }
    }
}

impl fmt::Display for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Container {
    type Err = UnknownContainer;

    fn from_str(text: &str) -> Result<Container, UnknownContainer> {
        let named = Container::ALL.into_iter().find(|own| own.name() == text);
        named.ok_or_else(|| UnknownContainer(text.to_owned()))
    }
}

/// An unknown name of an object file format.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown format of object files `{0}`; expected elf, macho or coff")]
pub struct UnknownContainer(pub String);

/// Why a program could not be written as an object file.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// A kernel could not be compiled.
    #[error(transparent)]
    Kernel(#[from] CompileError),
    /// A step has no code.
    #[error("`{op}` cannot be written to an object file: it has no kernel")]
    NoCode {
        /// The op.
        op: &'static str,
    },
    /// The arrays of a step do not fit its routine.
    #[error("`{op}` cannot be written to an object file: {why}")]
    Routine {
        /// The op.
        op: &'static str,
        /// The mismatch.
        why: RoutineError,
    },
    /// There are too many constants.
    #[error(
        "the constants take {found} bytes; an object file holds at most {MOST_CONSTANTS}, and weights that are parameters \
         take none"
    )]
    Constants {
        /// Their bytes.
        found: usize,
    },
    /// The function that calls the kernels could not be compiled.
    #[error("the code generator refused the driver: {0}")]
    Driver(String),
}

impl From<cranelift_module::ModuleError> for ObjectError {
    fn from(why: cranelift_module::ModuleError) -> ObjectError {
        ObjectError::Driver(why.to_string())
    }
}
