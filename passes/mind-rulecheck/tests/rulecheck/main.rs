//! Tests of the rule checker.

mod shipped;
