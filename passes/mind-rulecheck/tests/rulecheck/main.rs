//! Tests of the rule checker.

mod boundary;
mod planted;
mod shipped;
mod support;
mod unchecked;
