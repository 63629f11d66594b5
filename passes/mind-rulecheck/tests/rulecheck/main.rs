//! Tests of the rule checker.

mod planted;
mod shipped;
mod support;
mod unchecked;
