//! Edits of modules, and spans of errors.

mod patches;
mod places;
