//! The loops dialect: kernels over tiled nests of loops, and the schedule of each as attributes.
//!
//! One op is one kernel: a nest, a product, a convolution, a block of them, or a move of elements. What it
//! computes does not depend on its schedule (tiles, unrolling, micro-tiles, parallel dimensions, places in
//! memory), so evaluating an op ignores that. Code generation obeys the schedule or refuses it with the reason. An
//! entry left out has a default, or is chosen for the target when code is made; no op names a vector width.
//!
//! Extents are known at this level. Operands are whole buffers, or [`View`](ops::view::View)s that say where
//! the elements stand in one. Constants, inputs and outputs are those of the core dialect.

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
