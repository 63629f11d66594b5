//! Programs as object files.
//!
//! A file holds the machine code of kernels, two functions for each program, which bind its weights and call its kernels in the
//! order of the steps, and the constants. It may have the code of several instruction sets: its public functions choose the first one that
//! the processor has. [`ObjectWriter`] makes the file, [`header`] the declarations for C.
//!
//! - `writer`: builds the file. `layout`: the memory that a program needs with those that it runs.
//! - `body`: a function of Cranelift's instructions as it is written.
//! - `driver`: steps as such a function. `control`: those that run other programs. `routine`: what they call that is no kernel.
//! - `dispatch`: the public functions. `cpu`: what the processor has.
//!
//! A run takes place on the thread that calls it, reads and writes the memory that it is handed, and calls nothing but
//! `memcpy`.

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

/// What of the caller's memory is lost to alignment, at most.
const SLACK: u64 = ALIGN;

/// The most bytes of constants in a file: addresses in one are relative, of 32 bits.
pub const MOST_CONSTANTS: usize = 1 << 30;

/// A format of object files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Container {
    /// That of Linux and the BSDs.
    Elf,
    /// That of macOS.
    MachO,
    /// That of Windows.
    Coff,
}

impl Container {
    /// Every format.
    pub const ALL: [Container; 3] = [Container::Elf, Container::MachO, Container::Coff];

    /// The format of the system that this runs on.
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

    /// The system whose conventions its functions follow.
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

/// A word that names no format of object files.
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
    /// A step does not fit what it computes.
    #[error("`{op}` cannot be written to an object file: {why}")]
    Routine {
        /// The op.
        op: &'static str,
        /// What is wrong with it.
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
    /// What calls the kernels could not be compiled.
    #[error("the code generator refused the driver: {0}")]
    Driver(String),
}

impl From<cranelift_module::ModuleError> for ObjectError {
    fn from(why: cranelift_module::ModuleError) -> ObjectError {
        ObjectError::Driver(why.to_string())
    }
}
