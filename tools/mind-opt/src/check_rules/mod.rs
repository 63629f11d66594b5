//! Implements `--check-rules`, the soundness check of rules.

use std::fmt::Write;

use clap::{Arg, ArgAction, ArgMatches};
use mind_cli::{DONE, DiagnosticFormat, REJECTED, USAGE, rules, value};
use mind_driver::admission::{CUT, config, difference, module_text, readable, text};
use mind_driver::formats::Formats;
use mind_driver::host::Host;
use mind_driver::session::Session;
use mind_rulecheck::{Counterexample, RuleCheck, Verdict, check, class_text};
use mind_rules::{RuleErrors, RuleSet, SHIPPED};
use serde_json::json;

pub(super) const HEADING: &str = "Checking rules";

pub(super) fn args() -> Vec<Arg> {
    vec![
        value(
            "check-rules",
            "FILE",
            "check the rules of these files, or the shipped ones, by evaluating both sides",
        )
        .num_args(0..)
        .action(ArgAction::Append),
        value(
            "draws",
            "N",
            "how many modules to try for each rule and dtype",
        )
        .value_parser(clap::value_parser!(u32).range(1..))
        .requires("check-rules"),
        value(
            "check-seed",
            "N",
            "the seed of the random modules and values",
        )
        .value_parser(clap::value_parser!(u64))
        .requires("check-rules"),
        value("format", "FORM", "how the result of --check-rules is shown")
            .value_parser(["text", "json"])
            .default_value("text")
            .action(ArgAction::Set),
    ]
}

/// Checks rules if requested; returns the exit code.
pub(super) fn run(matches: &ArgMatches, session: &Session, host: &mut dyn Host) -> Option<u8> {
    matches
        .contains_id("check-rules")
        .then(|| match checked(matches, session, host) {
            Ok(code) | Err(code) => code,
        })
}

fn checked(matches: &ArgMatches, session: &Session, host: &mut dyn Host) -> Result<u8, u8> {
    let limits = mind_cli::load_options(matches).limits;
    let mut asked = rules::read(matches, host, &limits)?;
    let listed = matches.get_many::<String>("check-rules");
    let listed = listed.into_iter().flatten();
    for path in listed.chain(matches.get_one::<String>("FILE")) {
        let source = rules::source(path, DiagnosticFormat::of(matches), host, &limits)?;
        asked.rules.push(source);
    }
    let sources: Vec<(&str, &str)> = match asked.rules.as_slice() {
        [] => SHIPPED.to_vec(),
        own => own.iter().map(text).collect(),
    };
    let loaded = RuleSet::load(&session.registry, &sources);
    let mut set = loaded.map_err(|RuleErrors(sources)| {
        for source in &sources {
            let format = DiagnosticFormat::of(matches);
            mind_cli::report(host, &source.diagnostics, &source.file, format);
        }
        REJECTED
    })?;
    set.retain(|name| asked.enables(name));
    let mut config = config();
    if let Some(&draws) = matches.get_one::<u32>("draws") {
        config.draws = draws as usize;
    }
    if let Some(&seed) = matches.get_one::<u64>("check-seed") {
        config.seed = seed;
    }
    let work = host.working("checking rules");
    let checks = check(&set, &config);
    drop(work);
    if checks.is_empty() {
        let message = "no rules to check";
        mind_cli::print_error(host, &format!("error: {message}\n"));
        return Err(USAGE);
    }
    let json = matches.get_one::<String>("format").map(String::as_str) == Some("json");
    let text = if json {
        format!("{:#}\n", as_json(&checks, &session.formats))
    } else {
        as_text(&checks, &session.formats)
    };
    mind_cli::print(host, &text);
    Ok(if checks.iter().all(RuleCheck::passed) {
        DONE
    } else {
        REJECTED
    })
}

/// Formats the result: a line per rule and direction, details below it, and a line of totals.
fn as_text(checks: &[RuleCheck], formats: &Formats) -> String {
    let width = checks.iter().map(|check| name(check).len()).max();
    let width = width.unwrap_or(0);
    let mut out = String::new();
    for check in checks {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{:width$}  {:9}  {:16}  {:>5} modules  {:>8} elements  {}",
            name(check),
            class_text(check.class),
            verdict(check),
            check.draws,
            check.cases,
            dtypes(check),
        );
        if let Verdict::Unchecked(reason) = &check.verdict {
            let _ = writeln!(out, "  {reason}");
            let excluded: Vec<&str> = check.excluded.iter().map(|dtype| dtype.name()).collect();
            if !excluded.is_empty() {
                let excluded = excluded.join(" ");
                let _ = writeln!(
                    out,
                    "  its condition excludes {excluded}, which need no check"
                );
            }
        }
        for note in &check.notes {
            let _ = writeln!(out, "  note: {note}");
        }
        if let Verdict::Rejected(shown) = &check.verdict {
            out.push_str(&rejection(check, shown, formats));
        }
    }
    let count =
        |wanted: fn(&Verdict) -> bool| checks.iter().filter(|check| wanted(&check.verdict)).count();
    let _ = writeln!(
        out,
        "{} hold, {} rejected, {} unchecked",
        count(|verdict| matches!(verdict, Verdict::Holds)),
        count(|verdict| matches!(verdict, Verdict::Rejected(_))),
        count(|verdict| matches!(verdict, Verdict::Unchecked(_))),
    );
    out
}

fn name(check: &RuleCheck) -> String {
    if check.reversed {
        format!("{} (<=)", check.name)
    } else {
        check.name.clone()
    }
}

fn verdict(check: &RuleCheck) -> String {
    match (&check.verdict, check.holds) {
        (Verdict::Rejected(_), _) => "REJECTED".to_owned(),
        (Verdict::Unchecked(_), _) => "UNCHECKED".to_owned(),
        (Verdict::Holds, Some(class)) if class == mind_rules::FastMath::EXACT => "exact".to_owned(),
        (Verdict::Holds, _) => format!("holds as {}", class_text(check.class)),
    }
}

fn dtypes(check: &RuleCheck) -> String {
    let names: Vec<&str> = check.dtypes.iter().map(|dtype| dtype.name()).collect();
    names.join(" ")
}

/// Describes the counterexample of a rejected rule, with a command that reproduces it.
fn rejection(check: &RuleCheck, shown: &Counterexample, formats: &Formats) -> String {
    let mut out = format!("  {}\n", difference(shown));
    if let Some(class) = check.holds {
        let _ = writeln!(
            out,
            "  no counterexample to class `{}` was found",
            class_text(class)
        );
    }
    match module_text(shown, formats).map(|module| readable(&module)) {
        Some((module, false)) => {
            let _ = write!(
                out,
                "  the outputs of this module should agree:\nmind-run - <<'END'\n{module}END\n"
            );
        }
        Some((module, true)) => {
            let _ = write!(
                out,
                "  the outputs of this module should agree{CUT}:\n{module}"
            );
        }
        None => out.push_str("  Core text cannot represent the module\n"),
    }
    out
}

fn as_json(checks: &[RuleCheck], formats: &Formats) -> serde_json::Value {
    let row = |check: &RuleCheck| {
        let (reason, counterexample) = match &check.verdict {
            Verdict::Holds => (None, None),
            Verdict::Unchecked(reason) => (Some(reason), None),
            Verdict::Rejected(shown) => (
                None,
                Some(json!({
                    "dtype": shown.dtype.name(),
                    "index": shown.index,
                    "left": shown.left.to_string(),
                    "right": shown.right.to_string(),
                    "module": module_text(shown, formats),
                })),
            ),
        };
        let verdict = match &check.verdict {
            Verdict::Holds => "holds",
            Verdict::Rejected(_) => "rejected",
            Verdict::Unchecked(_) => "unchecked",
        };
        json!({
            "rule": check.name,
            "reversed": check.reversed,
            "class": class_text(check.class),
            "verdict": verdict,
            "holds": check.holds.map(class_text),
            "dtypes": check.dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>(),
            "excluded": check.excluded.iter().map(|dtype| dtype.name()).collect::<Vec<_>>(),
            "modules": check.draws,
            "elements": check.cases,
            "notes": check.notes,
            "reason": reason,
            "counterexample": counterexample,
        })
    };
    checks.iter().map(row).collect()
}
