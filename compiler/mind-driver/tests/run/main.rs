//! Edits of modules, and where errors of formatting are placed.

mod patches;
mod places;
