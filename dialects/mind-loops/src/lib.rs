//! The loops dialect: kernels over tiled loop nests, with the schedule of each kernel as attributes.
//!
//! One op is one kernel: a nest, a product, a convolution, a block of them, or a copy of elements. Its result does not
//! depend on its schedule (tiles, unrolling, register tiles, parallel dimensions, workspace offsets), so that
//! evaluation ignores the schedule. Code generation obeys the schedule or rejects it with the reason. Omitted entries
//! have a default or are chosen for the target in code generation; no op names a vector width.
//!
//! Extents are known at this level. Operands are whole buffers or [`View`](ops::view::View)s, which are strided views
//! of a buffer. Constants, inputs and outputs are those of the core dialect.

mod body;
pub mod extents;
pub mod memory;
pub mod node;
pub mod ops;

use mind_ir::opdef::Dialect;

/// The loops dialect.
pub const DIALECT: Dialect = Dialect {
    name: "loops",
    doc: "Kernels over tiled nests of loops, with their schedule.",
    ops: ops::OPS,
};
