//! Fuzz tests with damaged texts.

use mind_ir::random::Rng;
use mind_ir::verify::{VerifyConfig, verify};
use mind_stablehlo::{ImportOptions, read};

/// Texts of JAX that cover most forms.
const TEXTS: &[&str] = &[
    include_str!("../../../../../lit_tests/mind-stablehlo/inputs/mlp-open.stablehlo"),
    include_str!("../../../../../lit_tests/mind-stablehlo/inputs/convolutions.stablehlo"),
    include_str!("../../../../../lit_tests/mind-stablehlo/inputs/scan.stablehlo"),
    include_str!("../../../../../lit_tests/mind-stablehlo/inputs/choice.stablehlo"),
    include_str!("../../../../../lit_tests/mind-stablehlo/inputs/windows.stablehlo"),
    include_str!("../../../../../lit_tests/mind-stablehlo/inputs/scatter-windows.stablehlo"),
    include_str!("../../../../../lit_tests/mind-stablehlo/inputs/batched-gather.stablehlo"),
    include_str!("../../../../../lit_tests/mind-stablehlo/inputs/sorted.stablehlo"),
    include_str!("../../../../../lit_tests/mind-stablehlo/inputs/argmax.stablehlo"),
    include_str!("../../../../../lit_tests/mind-stablehlo/inputs/parts-open.stablehlo"),
];

/// Replacements for damaged positions.
const PIECES: &[&str] = &[
    "0",
    "1",
    "-1",
    "7",
    "9223372036854775807",
    "?",
    "x",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "{",
    "}",
    "%",
    "#",
    "\"",
    ":",
    ",",
    "f32",
    "i1",
    "i32",
    "tensor<f32>",
    "dense<0>",
    "stablehlo.add",
    "\u{e9}",
    "=",
    "dims = [0]",
];

/// Reads damaged copies of texts, a thousand or as many as `MIND_MODULES` says, drawn from the seed `MIND_SEED`.
#[test]
fn a_damaged_text_is_an_error_or_another_module() {
    let asked = |name: &str, default: usize| {
        let given = std::env::var(name).ok();
        given.and_then(|own| own.parse().ok()).unwrap_or(default)
    };
    let count = asked("MIND_MODULES", 1000);
    let mut rng = Rng::new(asked("MIND_SEED", 1) as u64);
    let mut refused = 0;
    for own in 0..count {
        let whole = TEXTS[own % TEXTS.len()];
        let mut text = whole.to_owned();
        for _ in 0..=rng.below(3) {
            damage(&mut text, &mut rng);
        }
        match read(&text, &ImportOptions::default()) {
            Ok(mut graph) => {
                let found = verify(&mut graph, &VerifyConfig::default());
                assert!(!found.has_errors(), "{:?}\n{text}", found.first_error());
            }
            Err(found) => {
                assert!(found.has_errors());
                // Syntax errors have no code, but refusals have a code and a help.
                for error in found.iter().filter(|own| !own.context.is_empty()) {
                    assert!(
                        error.code.is_some() && error.way_out().is_some(),
                        "{error:?}"
                    );
                }
                refused += 1;
            }
        }
    }
    assert!((1..count).contains(&refused), "{refused}");
}

/// Replaces, inserts or removes a piece of text.
fn damage(text: &mut String, rng: &mut Rng) {
    let mut start = rng.below(text.len() + 1);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = (start + rng.below(12)).min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    let piece = PIECES[rng.below(PIECES.len())];
    match rng.below(4) {
        0 => text.replace_range(start..end, ""),
        1 => text.insert_str(start, piece),
        2 => text.truncate(start.max(text.len() / 2)),
        _ => text.replace_range(start..end, piece),
    }
}
