//! Links the tool at a fixed address.
//!
//! Tests and scripts start it by the hundred, and an executable at a fixed address needs no relocations: forty thousand of them,
//! and the pages of memory that they touch, are two fifths of the time of a run that only prints a version. The price is that the
//! address of the code is not drawn at random.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
