//! Flags that select rewrite rules: `--rules`, `--fast-math`, `--only-rule` and others.

use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches};
use mind_driver::admission::refusals;
use mind_driver::host::Host;
use mind_driver::load::decode;
use mind_driver::session::Session;
use mind_ir::opdef::{Registry, nearest};
use mind_pass::{RewriteOptions, RuleSource, RunCache};
use mind_rules::{FastMath, RuleErrors, RuleSet, SourceErrors};
use mind_text::Limits;

use crate::{DiagnosticFormat, REJECTED, value};

const HEADING: &str = "Rules";

/// Returns the arguments that select rules.
pub fn args() -> Vec<Arg> {
    let names = |name: &'static str, help: &'static str| {
        value(name, "NAME,...", help)
            .value_delimiter(',')
            .action(ArgAction::Append)
    };
    let args = [
        value(
            "rules",
            "FILE",
            "also use the rules of this file; may be repeated",
        )
        .action(ArgAction::Append),
        value(
            "fast-math",
            "CLASS,...",
            "enable rules of these classes, which may change results; all classes if none is named",
        )
        .value_delimiter(',')
        .value_parser(classes().collect::<Vec<_>>())
        .action(ArgAction::Append)
        .num_args(0..)
        .require_equals(true)
        .default_missing_values(classes().collect::<Vec<_>>()),
        names("only-rule", "disable all rules and patterns but these"),
        names("disable-rule", "disable these rules and patterns"),
        names(
            "allow-unchecked-rule",
            "enable these rules although they could not be checked",
        ),
    ];
    args.map(|arg| arg.help_heading(HEADING)).to_vec()
}

/// Returns the values of `--fast-math`.
fn classes() -> impl Iterator<Item = &'static str> {
    let named = FastMath::NAMES.into_iter();
    named
        .filter(|&(_, class)| class != FastMath::EXACT)
        .map(|(name, _)| name)
}

/// Reads the rewrite options of the command line; reports failures.
///
/// # Errors
///
/// Returns the exit code.
pub fn read(
    matches: &ArgMatches,
    host: &mut dyn Host,
    limits: &Limits,
) -> Result<RewriteOptions, u8> {
    let list = |name: &str| -> Vec<String> {
        matches
            .get_many(name)
            .into_iter()
            .flatten()
            .cloned()
            .collect()
    };
    let mut rules = Vec::new();
    for path in list("rules") {
        rules.push(source(&path, DiagnosticFormat::of(matches), host, limits)?);
    }
    Ok(RewriteOptions {
        rules,
        fast_math: list("fast-math"),
        only: list("only-rule"),
        disabled: list("disable-rule"),
        unchecked: list("allow-unchecked-rule"),
    })
}

/// Reads the rule file at `path`; reports failures.
///
/// # Errors
///
/// Returns the exit code.
pub fn source(
    path: &str,
    format: DiagnosticFormat,
    host: &mut dyn Host,
    limits: &Limits,
) -> Result<RuleSource, u8> {
    let bytes = crate::read_input(host, path, limits.bytes)?;
    let name = crate::input_name(path).to_owned();
    match decode(&name, bytes.into(), limits) {
        Ok(text) => Ok(RuleSource { name, text }),
        Err(rejected) => {
            crate::report(host, &rejected.diagnostics, &rejected.file, format);
            Err(REJECTED)
        }
    }
}

/// Loads the enabled rules for all passes, if the command line selects any; otherwise the first pass that needs them
/// does.
///
/// `asked` lists further rules to look up, each with the flag that names it.
///
/// # Errors
///
/// Returns the exit code after reporting the errors of a rule file or an unknown name.
pub fn prepare(
    rewriting: &RewriteOptions,
    asked: &[(&str, String)],
    registry: &Registry,
    shared: &RunCache,
    format: DiagnosticFormat,
    host: &mut dyn Host,
) -> Result<(), u8> {
    if *rewriting == RewriteOptions::default() && asked.is_empty() {
        return Ok(());
    }
    let rules = in_force(rewriting, registry, shared, format, host)?;
    let patterns = mind_transforms::pattern_names();
    let named = |list: &[String], flag, patterns| names_known(list, flag, &rules, patterns);
    let all = mind_transforms::rewrite_names();
    let mut asked = asked.iter();
    classes_known(&rewriting.fast_math)
        .and_then(|()| {
            asked.try_for_each(|(flag, name)| named(std::slice::from_ref(name), flag, &all))
        })
        .and_then(|()| named(&rewriting.only, "--only-rule", patterns.as_slice()))
        .and_then(|()| named(&rewriting.disabled, "--disable-rule", &patterns))
        .and_then(|()| named(&rewriting.unchecked, "--allow-unchecked-rule", &[]))
        .map_err(|message| crate::usage_error(host, &message))
}

/// Checks the soundness of the user's rules.
///
/// # Errors
///
/// Returns the exit code after reporting the rules that are unsound, or unchecked and not allowed by name.
pub fn admit(
    rewriting: &RewriteOptions,
    session: &Session,
    format: DiagnosticFormat,
    host: &mut dyn Host,
) -> Result<(), u8> {
    let work = host.working("checking rules");
    let refused = refusals(rewriting, session);
    drop(work);
    for (file, found) in &refused {
        crate::report(host, found, file, format);
    }
    if refused.is_empty() {
        Ok(())
    } else {
        Err(REJECTED)
    }
}

/// Loads the enabled rules.
///
/// # Errors
///
/// Returns the exit code after reporting the errors of a rule file.
pub fn in_force(
    rewriting: &RewriteOptions,
    registry: &Registry,
    shared: &RunCache,
    format: DiagnosticFormat,
    host: &mut dyn Host,
) -> Result<Arc<RuleSet>, u8> {
    let mut report = |sources: &[SourceErrors]| {
        for source in sources {
            crate::report(host, &source.diagnostics, &source.file, format);
        }
    };
    let made = shared.get_or_make(|| mind_transforms::rules(registry, rewriting));
    match made {
        Ok(rules) => {
            report(rules.warnings());
            Ok(rules)
        }
        Err(RuleErrors(sources)) => {
            report(&sources);
            Err(REJECTED)
        }
    }
}

/// Checks the values of `--fast-math`, because those of a reproducer have not been checked by the parser.
///
/// # Errors
///
/// Errors with the first unknown class.
fn classes_known(words: &[String]) -> Result<(), String> {
    let unknown = words.iter().find(|word| classes().all(|own| own != *word));
    unknown.map_or(Ok(()), |word| {
        let known = classes().collect::<Vec<_>>().join(", ");
        Err(format!("`--fast-math`: `{word}` is none of {known}"))
    })
}

/// Checks that rules or patterns called `names` exist.
///
/// # Errors
///
/// Errors with the first unknown name.
fn names_known(
    names: &[String],
    flag: &str,
    rules: &RuleSet,
    patterns: &[String],
) -> Result<(), String> {
    let known = || rules.names().chain(patterns.iter().map(String::as_str));
    let unknown = names.iter().find(|name| known().all(|own| own != *name));
    let Some(unknown) = unknown else {
        return Ok(());
    };
    let help = match nearest(unknown, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`--list-rules` lists all".to_owned(),
    };
    Err(format!("`{flag}`: no rule is called `{unknown}`; {help}"))
}
