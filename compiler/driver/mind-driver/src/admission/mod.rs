//! Checks of the user's rules before they are enabled.

use std::fmt::Write;

use mind_diag::{Diagnostic, Diagnostics, SourceFile, Span};
use mind_pass::{RewriteOptions, RuleSource};
use mind_rulecheck::{Config, Counterexample, RuleCheck, Verdict, check, class_text};
use mind_rules::RuleSet;

use crate::formats::{Format, Formats};
use crate::session::Session;

/// Returns, per file, errors for the user's rules that are refused: those that are unsound, and those that could not be
/// checked and are not allowed by name.
///
/// A file that cannot be parsed is skipped, because [`rules`](mind_transforms::rules) reports it.
pub fn refusals(rewriting: &RewriteOptions, session: &Session) -> Vec<(SourceFile, Diagnostics)> {
    let refused = |source: &RuleSource| {
        let mut set = RuleSet::load(&session.registry, &[text(source)]).ok()?;
        set.retain(|name| rewriting.enables(name));
        let mut found = Diagnostics::new();
        for check in check(&set, &config()) {
            let refusal = refusal(&check, source, rewriting, &session.formats);
            refusal.into_iter().for_each(|error| found.push(error));
        }
        let file = SourceFile::new(&source.name, &source.text);
        found.has_errors().then_some((file, found))
    };
    rewriting.rules.iter().filter_map(refused).collect()
}

/// Returns the error for a rule that is refused.
fn refusal(
    check: &RuleCheck,
    source: &RuleSource,
    rewriting: &RewriteOptions,
    formats: &Formats,
) -> Option<Diagnostic> {
    let (name, span) = (&check.name, place(&source.text, &check.name));
    match &check.verdict {
        Verdict::Holds => None,
        Verdict::Rejected(shown) => {
            let class = class_text(check.class);
            let message = format!("rule `{name}` is not `{class}`: {}", difference(shown));
            let error = Diagnostic::error(span, message);
            let error = match check.holds {
                Some(holds) => error.help(format!(
                    "no counterexample to class `{}` was found",
                    class_text(holds)
                )),
                None => error.help("no class covers the difference"),
            };
            Some(
                match module_text(shown, formats).map(|module| readable(&module)) {
                    Some((module, cut)) => {
                        let cut = if cut { CUT } else { "" };
                        error.note(format!("the outputs of this module differ{cut}:\n{module}"))
                    }
                    None => error,
                },
            )
        }
        Verdict::Unchecked(_) if rewriting.unchecked.contains(name) => None,
        Verdict::Unchecked(reason) => {
            let message = format!("rule `{name}` could not be checked: {reason}");
            let help = format!("`--allow-unchecked-rule={name}` enables it unchecked");
            Some(Diagnostic::error(span, message).help(help))
        }
    }
}

/// Returns the span of the name in the declaration of rule `name`.
fn place(text: &str, name: &str) -> Span {
    let mut words = text.split_whitespace();
    let offset = |word: &str| word.as_ptr().addr() - text.as_ptr().addr();
    while let Some(word) = words.next() {
        if matches!(word, "rule" | "fusion")
            && let Some(own) = words.clone().next().filter(|own| *own == name)
        {
            let start = offset(own) as u32;
            return Span::new(start, start + name.len() as u32);
        }
    }
    Span::FILE
}

/// Describes the first difference between the two sides of a rule.
pub fn difference(shown: &Counterexample) -> String {
    format!(
        "in {}, at {:?}, the left side gives {}, the right side {}",
        shown.dtype, shown.index, shown.left, shown.right
    )
}

/// Returns the name and the text of a rule file.
pub fn text(source: &RuleSource) -> (&str, &str) {
    (&source.name, &source.text)
}

/// Returns the default check with one thread per hardware thread. The result does not depend on the number of threads.
pub fn config() -> Config {
    Config {
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        ..Config::default()
    }
}

/// Suffix of the heading of a module whose long lines are truncated.
pub const CUT: &str = " (long lines are cut; `--check-rules --format=json` has all of them)";

/// Truncates the long lines of a module's text; also returns whether any line was truncated.
pub fn readable(module: &str) -> (String, bool) {
    const WIDTH: usize = 120;
    const END: usize = 30;
    let (mut out, mut any) = (String::new(), false);
    for line in module.lines() {
        let length = line.chars().count();
        if length <= WIDTH {
            out.push_str(line);
        } else {
            let start: String = line.chars().take(WIDTH - END).collect();
            let end: String = line.chars().skip(length - END).collect();
            let left_out = length - WIDTH;
            let _ = write!(out, "{start} ... {left_out} characters ... {end}");
            any = true;
        }
        out.push('\n');
    }
    (out, any)
}

/// Returns the module as Core text, or `None` if Core cannot express it.
pub fn module_text(shown: &Counterexample, formats: &Formats) -> Option<String> {
    let text = formats.print(Format::Core, &shown.module).ok()?;
    Some(if text.ends_with('\n') {
        text
    } else {
        text + "\n"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_say_how_much_is_left_out() {
        let short = "%0 = ConstF32 {value=1.0}\n";
        assert_eq!(readable(short), (short.to_owned(), false));
        let (text, cut) = readable(&format!("{}\n{short}", "1.0, ".repeat(100)));
        assert!(cut);
        let first = text.lines().next().unwrap_or_default();
        assert!(first.contains(" ... 380 characters ... "), "{first}");
        assert!(first.len() < 150 && text.ends_with(short));
    }
}
