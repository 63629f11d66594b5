//! The passes: canonicalize, cse, dce, fold, fuse, renumber.
