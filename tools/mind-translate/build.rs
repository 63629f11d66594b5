//! Links the tool at a fixed address.
//!
//! Tests and scripts start the tool hundreds of times. At a fixed address the executable needs no relocations;
//! processing 40,000 of them, and the pages they touch, takes 40 % of the time of `--version`. The cost is that the
//! address of the code is not randomised (ASLR).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
