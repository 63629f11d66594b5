//! Splits the shipped rule files into rules at build time, so that only the rules that may match are parsed at run
//! time.
//!
//! Writes `shipped.rs`, which `src/shipped/written.rs` includes: the files, and for each rule its location and the
//! properties by which it is selected before it is parsed.

mod cut;

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use cut::Cut;

/// The files in `rules`, in the order in which their rules are tried.
const FILES: [&str; 30] = [
    "identities",
    "signs",
    "activations",
    "comparisons",
    "choices",
    "logic",
    "casts",
    "functions",
    "shapes",
    "transposes",
    "slices",
    "pads",
    "reversals",
    "joins",
    "rotary",
    "gathers",
    "contractions",
    "products",
    "merges",
    "convolutions",
    "layouts",
    "stretches",
    "positions",
    "argmax",
    "sorts",
    "windows",
    "reductions",
    "reassociation",
    "approximations",
    "fusions",
];

fn main() {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=rules");
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo names the crate's folder");
    let folder = Path::new(&root).join("rules");
    let entries = fs::read_dir(&folder).expect("the folder of the rules");
    let found = entries.filter(|entry| entry.is_ok()).count();
    assert_eq!(
        found,
        FILES.len(),
        "`FILES` in build/main.rs lists what is in {}",
        folder.display()
    );
    let (mut files, mut rules, mut count) = (String::new(), String::new(), 0);
    for (number, file) in FILES.iter().enumerate() {
        let path = folder.join(format!("{file}.rules"));
        let text = fs::read_to_string(&path).expect("a rule file");
        writeln!(files, "    (\"{file}.rules\", include_str!({path:?})),").expect("a string");
        for rule in cut::rules(&text) {
            row(&mut rules, number, file, &rule);
            count += 1;
        }
    }
    let generated = format!(
        "/// The shipped rule files, by name. The addresses of the texts distinguish them from copies.\n\
         pub static SHIPPED: &[(&str, &str)] = &[\n{files}];\n\n\
         /// All shipped rules, in the order of the files.\n\
         pub(super) static WRITTEN: [Written; {count}] = [\n{rules}];\n"
    );
    let out = env::var("OUT_DIR").expect("cargo names a folder for what is generated");
    fs::write(Path::new(&out).join("shipped.rs"), generated).expect("the generated file");
}

/// Writes the table entry of a rule.
fn row(rows: &mut String, number: usize, file: &str, rule: &Cut<'_>) {
    let Cut {
        bytes,
        line,
        name,
        words,
        has_alternatives,
        is_exact,
        engine,
        is_late,
    } = rule;
    let words: String = words.iter().map(|side| format!("&{side:?}, ")).collect();
    let written = writeln!(
        rows,
        "    Written {{ file: {number}, place: RuleLocation {{ file: \"{file}.rules\", line: {line} }}, bytes: {bytes:?}, \
         name: {name:?}, words: &[{words}], has_alternatives: {has_alternatives}, is_exact: {is_exact}, \
         engine: Engine::{engine}, is_late: {is_late}, parsed: OnceLock::new() }},"
    );
    written.expect("a string");
}
