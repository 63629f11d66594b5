//! Mutations of a valid program, each with the check that rejects it.

use std::fmt::Write;

use mind_coreml::mil::{self, Spelling};
use mind_ir::verify::{VerifyConfig, verify};
use mind_mil::check::{Interface, check};
use mind_text::Limits;

const TEXT: &str = include_str!("mutations.txt");
const PAGE: &str = "docs/formats/mil-checks.md";
const HEAD: &str = "\
# What is checked in MIL

Each row changes one thing in a program that is right, and gives the [code](../diagnostics.md) that then rejects
it. coremltools 9.0 loads the rows marked `passes` all the same.

Generated from `dialects/mind-mil/tests/signatures/mutations.txt` by its test, with `INSTA_UPDATE=always`.

| what is wrong | code | coremltools |
|---|---|---|
";

/// A change of the program.
struct Mutation<'t> {
    code: &'t str,
    passes: bool,
    what: &'t str,
    old: &'t str,
    new: &'t str,
}

fn parts() -> (&'static str, Vec<Mutation<'static>>) {
    let mut parts = TEXT.splitn(3, "\n\n").skip(1);
    let program = parts.next().expect("a program");
    let rows = parts.next().expect("mutations").lines();
    let mutations = rows.map(|row| {
        let fields: Vec<&str> = row.split(" | ").collect();
        let [code, passes, what, old, new] = fields[..] else {
            panic!("{row}");
        };
        Mutation {
            code,
            passes: passes == "pass",
            what,
            old,
            new,
        }
    });
    (program, mutations.collect())
}

/// Returns the code of the first error in a program, if any.
fn first_error(text: &str) -> Option<String> {
    let found = match mil::parse(text, 0, &Limits::default(), Spelling::Compiler) {
        Err(found) => found,
        Ok(mut g) => {
            let found = verify(&mut g, &VerifyConfig::default());
            if found.has_errors() {
                found
            } else {
                check(&g, Interface::Any)
            }
        }
    };
    let first = found.first_error()?;
    Some(
        first
            .code
            .map_or("syntax".to_owned(), |code| code.to_string()),
    )
}

#[test]
fn every_mutation_is_rejected_for_its_reason() {
    let (program, mutations) = parts();
    assert_eq!(first_error(program), None);
    let mut wrong = String::new();
    for mutation in &mutations {
        assert!(
            program.contains(mutation.old),
            "{}: {}",
            mutation.what,
            mutation.old
        );
        let mutated = program.replacen(mutation.old, mutation.new, 1);
        let found = first_error(&mutated);
        if found.as_deref() != Some(mutation.code) {
            let _ = writeln!(wrong, "{}: {found:?}, not {}", mutation.what, mutation.code);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_page_lists_them() {
    let mut page = HEAD.to_owned();
    for Mutation {
        code, passes, what, ..
    } in parts().1
    {
        let _ = writeln!(
            page,
            "| {what} | {code} | {} |",
            if passes { "passes" } else { "" }
        );
    }
    let path = format!("{}/../../{PAGE}", env!("CARGO_MANIFEST_DIR"));
    mind_snapshot::check_file(path, page);
}
