//! Passes, the pass manager and pipeline text.
