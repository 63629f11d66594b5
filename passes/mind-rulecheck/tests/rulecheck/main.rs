//! Tests of the rule checker.

mod corners;
mod planted;
mod shipped;
mod support;
mod unchecked;
