//! Helpers of generated functions, in C without a library.

use std::collections::BTreeSet;

/// Pragmas, headers, checks of the compiler, and macros; comes before everything else in a file.
const HEAD: &str = include_str!("prelude/head.c");

/// Helpers, each two blank lines from the next.
const HELPERS: &str = concat!(
    include_str!("prelude/helpers.c"),
    include_str!("prelude/routines.c")
);

/// Returns the text that must precede `text`: pragmas, headers, and the helpers that `text` calls, transitively.
///
/// The pragmas must precede any header and any function. Helpers are called `mind_…`; they call nothing outside of this
/// text, and compute the same bits with every compiler and every option that they do not reject:
///
/// - `mind_fma_f32`, `mind_fma_f64`: the instruction where the compiler has it, otherwise exact arithmetic on
///   double or on integers.
/// - `mind_sqrt_f32`, `mind_sqrt_f64`: the instruction where there is one, otherwise digit by digit.
/// - `mind_floor_f32`, `mind_ceil_f32`, `mind_trunc_f32`, `mind_round_f32`, and the same of f64: roundings to integers by
///   masks of bits.
/// - `mind_half_to_f32`, `mind_f32_to_half`: conversions of f16.
pub fn prelude(text: &str) -> String {
    let mut out = HEAD.to_owned();
    for section in needed(text) {
        out.push('\n');
        out.push_str(section.trim_end());
        out.push('\n');
    }
    out
}

/// Returns the sections that `text` needs, in file order.
fn needed(text: &str) -> Vec<&'static str> {
    let sections: Vec<&str> = HELPERS.split("\n\n\n").collect();
    // One backward pass finds all of them, because helpers call only those above them.
    let mut wanted: BTreeSet<&str> = words(text).collect();
    let mut found = Vec::new();
    for section in sections.into_iter().rev() {
        if defined(section).any(|name| wanted.contains(name)) {
            wanted.extend(words(section));
            found.push(section);
        }
    }
    found.reverse();
    found
}

/// Returns the words that could be names of helpers.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("mind_") || word.starts_with("MIND_"))
}

/// Returns the names that a section defines: functions, and function-like macros.
fn defined(section: &str) -> impl Iterator<Item = &str> {
    section.lines().filter_map(|line| {
        let words: Vec<&str> = line.split([' ', '(']).collect();
        match words[..] {
            ["MIND_HELPER", _, name, ..] | ["#define", name, ..] => Some(name),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Status;
    use mind_ir::eval::EvalCx;

    #[test]
    fn a_text_gets_the_helpers_it_calls_and_what_they_call() {
        let text = prelude("x = mind_sqrt_f32(y);");
        for name in [
            "mind_sqrt_f32(float",
            "mind_digit_root(double",
            "mind_bits_f64(double",
            "mind_f64(uint64_t",
        ] {
            assert!(text.contains(name), "{name}");
        }
        assert!(!text.contains("mind_fma") && !text.contains("mind_sqrt_f64(double"));
    }

    #[test]
    fn every_helper_stands_below_those_it_calls() {
        let sections: Vec<&str> = HELPERS.split("\n\n\n").collect();
        let names: BTreeSet<&str> = sections
            .iter()
            .flat_map(|section| defined(section))
            .collect();
        let mut above = BTreeSet::new();
        for section in sections {
            above.extend(defined(section));
            for word in words(section).filter(|word| names.contains(word)) {
                assert!(
                    above.contains(word),
                    "{word} is called above its definition"
                );
            }
        }
    }

    #[test]
    fn loops_take_as_many_steps_as_in_the_interpreter() {
        let most = format!("#define MIND_MAX_STEPS UINT64_C({})", EvalCx::MAX_STEPS);
        assert!(prelude("step == MIND_MAX_STEPS").contains(&most));
        assert!(!prelude("step == 3").contains("MIND_MAX_STEPS"));
    }

    #[test]
    fn the_bits_of_the_status_are_those_of_kernels() {
        let bits = [Status::ZERO_DIVISOR.0, Status::QUOTIENT_OVERFLOW.0];
        assert!(HELPERS.contains(&format!("*status |= {};", bits[0])));
        assert!(HELPERS.contains(&format!("*status |= a == least ? {} : 0;", bits[1])));
    }
}
