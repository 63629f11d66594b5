//! The interpreter on small modules of the core dialect.

mod binding;
mod comparing;
mod module;
mod random;
mod running;
