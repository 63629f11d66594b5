//! Implements `--list-passes`, `--list-rules`, `--show-dialects` and `--lit-features`.

use std::fmt::Write;

use clap::ArgMatches;
use mind_cli::{DiagnosticFormat, rules};
use mind_driver::host::Host;
use mind_driver::session::{LEVELS, PASSES, Session};
use mind_ir::opdef::{Registry, Trait, nearest};
use mind_pass::{PassInfo, RunCache};
use mind_rules::{Engine, RuleInfo, RuleSet};

/// Describes all passes, or the pass called `name`.
///
/// # Errors
///
/// Errors if the pass is unknown.
pub(super) fn passes(name: &str) -> Result<String, String> {
    let mut out = String::new();
    match name {
        "" => {
            PASSES.iter().for_each(|info| describe(&mut out, info));
            out.push_str("named pipelines\n");
            for level in LEVELS {
                let _ = writeln!(
                    out,
                    "  -O{}  {}: {}",
                    level.name, level.summary, level.pipeline
                );
            }
        }
        name => match PASSES.get(name) {
            Some(info) => describe(&mut out, info),
            None => {
                let near = nearest(name, PASSES.iter().map(|info| info.name));
                let help = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                return Err(format!("no pass is called `{name}`{help}"));
            }
        },
    }
    Ok(out)
}

fn describe(out: &mut String, info: &PassInfo) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{}\n  {}", info.name, info.summary);
    for option in info.options {
        let (name, kind, default) = (option.name, option.kind.text(), option.default);
        let _ = writeln!(out, "  {name}={default}  {} ({kind})", option.summary);
    }
    let _ = writeln!(out, "  example: mind-opt {} in.mic\n", info.example);
}

/// Describes all rules and patterns, the one called `wanted`, or those of the topic `wanted`.
///
/// # Errors
///
/// Errors if the rule or topic is unknown.
pub(super) fn described(
    rules: &RuleSet,
    patterns: &[String],
    wanted: &str,
) -> Result<String, String> {
    let listed =
        |info: &&RuleInfo| wanted.is_empty() || info.name == wanted || info.topic() == wanted;
    let mut out = String::new();
    let infos = rules.infos().iter().filter(listed);
    infos.for_each(|info| describe_rule(&mut out, info));
    for name in patterns
        .iter()
        .filter(|name| wanted.is_empty() || *name == wanted)
    {
        let _ = writeln!(
            out,
            "{name}\n  a pattern of canonicalize, written in Rust\n"
        );
    }
    if !out.is_empty() {
        return Ok(out);
    }
    let names = rules
        .infos()
        .iter()
        .flat_map(|info| [info.name.as_str(), info.topic()]);
    let near = nearest(wanted, names.chain(patterns.iter().map(String::as_str)));
    let help = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Err(format!("no rule or topic is called `{wanted}`{help}"))
}

fn describe_rule(out: &mut String, info: &RuleInfo) {
    let class = info.class.names().join(", ");
    let tolerance = info
        .tolerance
        .map_or(String::new(), |bound| format!(" within {bound:e}"));
    let engine = match info.engine {
        Engine::Egraph => "",
        Engine::Greedy => ", greedy",
        Engine::Both => ", e-graph and greedy",
    };
    let (name, file, line) = (&info.name, &info.file, info.line);
    let _ = writeln!(out, "{name}\n  {class}{tolerance}{engine}, {file}:{line}");
    if let Some(condition) = &info.condition {
        let _ = writeln!(out, "  where {}", one_line(condition));
    }
    let _ = writeln!(out, "  {}", one_line(&info.sides));
    if let Some(source) = &info.source {
        let _ = writeln!(out, "  source: {source}");
    }
    out.push('\n');
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Describes all dialects: their ops with the first sentence of their documentation.
pub(super) fn dialects(registry: &Registry) -> String {
    let mut out = String::new();
    for dialect in registry.dialects() {
        let _ = writeln!(out, "{}: {}", dialect.name, dialect.doc);
        for def in dialect.ops {
            let summary = first_sentence(def.doc);
            let profile = if def.has(Trait::Extended) {
                " [extended]"
            } else {
                ""
            };
            let _ = writeln!(out, "  {:<20} {summary}{profile}", def.name);
        }
        out.push('\n');
    }
    out
}

/// Returns the first sentence of a documentation comment, on one line.
fn first_sentence(doc: &str) -> String {
    let lines = doc.trim().lines().map(str::trim);
    let paragraph = lines
        .take_while(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    match paragraph.find(". ") {
        Some(end) => paragraph[..=end].to_owned(),
        None => paragraph,
    }
}

/// Returns the features of this build for lit tests, one per line.
pub(super) fn lit_features() -> &'static str {
    "core\nmic1\nmic2\ninterp\n"
}

/// Returns the output of `--list-rules`, or the error for an unknown rule.
///
/// # Errors
///
/// Returns the exit code after reporting the errors of a rule file.
pub(super) fn requested_rules(
    matches: &ArgMatches,
    session: &Session,
    wanted: &str,
    host: &mut dyn Host,
) -> Result<Result<String, String>, u8> {
    let limits = mind_cli::load_options(matches).limits;
    let rewriting = rules::read(matches, host, &limits)?;
    let format = DiagnosticFormat::of(matches);
    let shared = RunCache::default();
    let set = rules::in_force(&rewriting, &session.registry, &shared, format, host)?;
    let patterns = mind_transforms::pattern_names();
    Ok(described(&set, &patterns, wanted))
}
