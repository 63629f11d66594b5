//! Compiles modules of the loops dialect to programs and runs them.
//!
//! - [`lower`]: lowers kernels to vector IR: `nest` element-wise and reduction nests, `product` matrix products and
//!   convolutions, and the scalar functions of ops.
//! - [`program`]: programs, which are kernels and the steps that call them. `build` creates them, with one file per
//!   kernel family; `run` executes them; `emit_c` emits them as C.
//! - [`profile`]: per-step profiles of programs. [`peaks`]: measured peak throughput and bandwidth of the machine.
//! - [`pool`]: thread pool that shares the work of a kernel. [`interrupt`]: cancellation of a run from outside.
//!
//! The attributes of an op fix the schedule of its kernel. Parameters that they leave out are chosen here for the
//! target. Vector IR and the instruction sets are in `mind-vir`.

pub mod interrupt;
pub mod lower;
pub mod peaks;
pub mod pool;
pub mod profile;
pub mod program;
