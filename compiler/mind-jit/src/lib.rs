//! Modules of the loops dialect as programs that run.
//!
//! - [`lower`]: kernels in vector IR: `nest` rows and columns, `product` matrix products and convolutions, and the
//!   scalar functions of ops.
//! - [`program`]: modules as kernels and the steps that call them: `build` makes them, one file a kind of kernel;
//!   `run` executes them; `emit_c` writes them as C.
//! - [`profile`]: what the steps of programs take. [`peaks`]: what the machine can do at best.
//! - [`pool`]: threads that share the work of a kernel. [`interrupt`]: stopping a run from outside.
//!
//! The schedule of a kernel is what the attributes of its op say; what they leave out is chosen here for the target.
//! Vector IR and the instruction sets are `mind-vir`'s.

pub mod interrupt;
pub mod lower;
pub mod peaks;
pub mod pool;
pub mod profile;
pub mod program;
