//! The tensor dialect: structured ops on tensors, every broadcast written out.
//!
//! Between the core dialect, which says what is computed, and loops, which say how. Elementwise
//! arithmetic is [`Map`](ops::map::Map), whose body holds core ops on scalars; constants, inputs and
//! outputs are those of the core dialect. One file per family under [`ops`].

mod axes;
pub mod ops;

use mind_ir::opdef::Dialect;

/// The tensor dialect.
pub const DIALECT: Dialect = Dialect {
    name: "tensor",
    doc: "Structured ops on tensors, with explicit broadcasting.",
    ops: ops::OPS,
};
