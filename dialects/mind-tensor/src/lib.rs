//! The tensor dialect: structured ops on tensors, with explicit broadcasts.
//!
//! It is between the core dialect, which defines the computation, and the loops dialect, which defines its schedule.
//! Elementwise arithmetic is [`Map`](ops::map::Map), whose body holds core ops on scalars. Constants, inputs and
//! outputs are those of the core dialect. Each file under [`ops`] has one family of ops.

mod axes;
pub mod ops;

use mind_ir::opdef::Dialect;

/// The tensor dialect.
pub const DIALECT: Dialect = Dialect {
    name: "tensor",
    doc: "Structured ops on tensors, with explicit broadcasting.",
    ops: ops::OPS,
};
