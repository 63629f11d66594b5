//! TOOL
fn main() {}
