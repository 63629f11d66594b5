//! Linker options of the tools that tests and scripts start hundreds of times, as their build script.
//!
//! An executable at a fixed address needs no relocations. Forty thousand of them, and the pages of memory that they
//! touch, take two fifths of the time of a run that only prints a version. The price is that the code address is not
//! randomised.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=../link.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
