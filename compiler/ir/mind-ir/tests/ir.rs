//! Tests of the graph, the op table and the verifier, with a dialect of their own.

#[path = "ir/edit.rs"]
mod edit;
#[path = "ir/kernel.rs"]
mod kernel;
#[path = "ir/literals.rs"]
mod literals;
#[path = "ir/scalar.rs"]
mod scalar;
#[path = "ir/table.rs"]
mod table;
#[path = "ir/toy.rs"]
mod toy;
#[path = "ir/verify.rs"]
mod verify;
