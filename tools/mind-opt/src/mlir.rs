//! Translation of options of mlir-opt.

use clap::Command;

/// Options of mlir-opt, or another of its mechanisms, and the counterpart here.
#[derive(Clone, Copy, Debug)]
pub struct Counterpart {
    /// Their names without dashes; empty for a mechanism that is not an option.
    pub names: &'static [&'static str],
    /// A remark after the names, for example the version that introduced them.
    pub remark: &'static str,
    /// Their counterpart here.
    pub ours: Ours,
}

/// The counterpart of an option of mlir-opt.
#[derive(Clone, Copy, Debug)]
pub enum Ours {
    /// The flag of this id, which has the same name.
    Same(&'static str),
    /// The flag of this id; the option and its value are translated to it.
    Read(&'static str),
    /// The flag of this id, whose values differ, so the option is not translated.
    Flag(&'static str),
    /// Another mechanism, or none, with an explanation.
    Instead(&'static str),
}

/// The known options of mlir-opt.
pub const COUNTERPARTS: &[Counterpart] = &[
    of(&["color"], Ours::Same("color")),
    of(&["o"], Ours::Same("output")),
    of(&["split-input-file"], Ours::Same("split-input-file")),
    of(&["verify-diagnostics"], Ours::Same("verify-diagnostics")),
    of(&["pass-pipeline"], Ours::Same("pass-pipeline")),
    of(&["run-reproducer"], Ours::Same("run-reproducer")),
    of(&["verify-each"], Ours::Same("verify-each")),
    of(&["show-dialects"], Ours::Same("show-dialects")),
    with(&["list-passes"], ", from 20", Ours::Same("list-passes")),
    with(&[], "PDL files; pass plugins", Ours::Flag("rules")),
    with(&[], "flags on ops", Ours::Flag("fast-math")),
    with(
        &["enable-patterns"],
        " of `canonicalize`",
        Ours::Flag("only-rule"),
    ),
    with(
        &["disable-patterns"],
        " of `canonicalize`",
        Ours::Flag("disable-rule"),
    ),
    of(
        &["mlir-timing", "mlir-timing-display"],
        Ours::Read("timing"),
    ),
    with(
        &["mlir-pass-statistics", "mlir-pass-statistics-display"],
        ", debug builds",
        Ours::Read("stats"),
    ),
    of(&["mlir-print-ir-before"], Ours::Read("print-ir-before")),
    of(&["mlir-print-ir-after"], Ours::Read("print-ir-after")),
    of(
        &["mlir-print-ir-after-all"],
        Ours::Read("print-ir-after-all"),
    ),
    with(
        &["mlir-print-ir-after-change"],
        ", whole modules",
        Ours::Read("print-ir-after-change"),
    ),
    of(&["mlir-print-ir-tree-dir"], Ours::Read("print-ir-tree-dir")),
    of(
        &["mlir-pass-pipeline-crash-reproducer"],
        Ours::Read("pass-pipeline-crash-reproducer"),
    ),
    with(&["remarks-filter"], ", from 22", Ours::Flag("remarks")),
    of(&["mlir-debug-counter"], Ours::Flag("opt-bisect-limit")),
    of(
        &["allow-unregistered-dialect"],
        Ours::Instead("unregistered ops are always rejected"),
    ),
    of(
        &["dump-pass-pipeline"],
        Ours::Instead("`--timing` names the pipeline with all defaults"),
    ),
    of(
        &["load-dialect-plugin", "load-pass-plugin"],
        Ours::Instead(
            "`--rules FILE` for rewrites; [a driver of one's own](../examples/own_driver.rs) for passes and ops",
        ),
    ),
    of(
        &["mlir-disable-threading"],
        Ours::Instead("passes are single-threaded"),
    ),
    of(
        &[
            "mlir-elide-elementsattrs-if-larger",
            "mlir-elide-resource-strings-if-larger",
        ],
        Ours::Instead(
            "dumps elide the middle of long lines; the printed result is always complete",
        ),
    ),
    of(
        &["mlir-pass-pipeline-local-reproducer"],
        Ours::Instead("a reproducer always starts with the module before the pass that failed"),
    ),
    of(
        &["mlir-print-ir-module-scope"],
        Ours::Instead("passes run on modules, so a dump is always a module"),
    ),
    of(
        &["mlir-print-ir-after-failure"],
        Ours::Instead(
            "`--pass-pipeline-crash-reproducer FILE` writes the module before the pass that failed",
        ),
    ),
    of(
        &["mlir-print-ir-before-all"],
        Ours::Instead("`--print-ir-after-all`; before the first pass, `--print-ir-before PASS`"),
    ),
    of(
        &[
            "mlir-print-op-generic",
            "mlir-print-local-scope",
            "mlir-print-assume-verified",
        ],
        Ours::Instead("Core text reads every op by its full name, as `core.relu`"),
    ),
    of(
        &[
            "mlir-print-debuginfo",
            "mlir-pretty-debuginfo",
            "strip-debuginfo",
        ],
        Ours::Instead(
            "text formats have no locations; `--explain` and `--remarks` name lines of the input",
        ),
    ),
    of(
        &["emit-bytecode", "emit-bytecode-version"],
        Ours::Instead("modules are text; mic@2 is the shortest"),
    ),
    of(
        &["log-actions-to"],
        Ours::Instead("`--remarks`, `--explain` and `--opt-bisect-limit=-1` log rewrites"),
    ),
    of(
        &["debug", "debug-only"],
        Ours::Instead(
            "`--remarks=missed:REGEX` and `--explain=RULE@LINE` say why a rule did not act",
        ),
    ),
    of(&["no-implicit-module"], Ours::Instead("a file is a module")),
    of(
        &["symbol-dce", "remove-dead-values"],
        Ours::Instead("`--dce`"),
    ),
    of(&["sccp"], Ours::Instead("`--canonicalize` folds constants")),
    of(
        &["inline"],
        Ours::Instead("a module is one function; `--unroll` unrolls loops with known trip counts"),
    ),
    of(
        &["help-list", "help-hidden", "help-list-hidden"],
        Ours::Instead("`--help` lists all flags"),
    ),
];

const fn of(names: &'static [&'static str], ours: Ours) -> Counterpart {
    with(names, "", ours)
}

const fn with(names: &'static [&'static str], remark: &'static str, ours: Ours) -> Counterpart {
    Counterpart {
        names,
        remark,
        ours,
    }
}

impl Counterpart {
    /// Returns the options for documentation.
    pub fn shown(&self) -> String {
        let name = |name: &&str| match name.len() {
            1 => format!("`-{name}`"),
            _ => format!("`--{name}`"),
        };
        let names: Vec<String> = self.names.iter().map(name).collect();
        format!("{}{}", names.join(", "), self.remark)
    }
}

/// Translates options of mlir-opt, and adds a second dash to long options with one.
///
/// # Errors
///
/// Errors, naming the counterpart, if an option cannot be translated.
pub(super) fn translated(args: &[String], command: &Command) -> Result<Vec<String>, String> {
    let mut translated = Vec::with_capacity(args.len());
    let mut rest = args.iter();
    for arg in rest.by_ref() {
        if arg == "--" {
            translated.push(arg.clone());
            break;
        }
        translated.extend(one(arg, command)?);
    }
    translated.extend(rest.cloned());
    Ok(translated)
}

/// Translates one argument; returns `None` for an option that disables what is disabled by default.
fn one(arg: &str, command: &Command) -> Result<Option<String>, String> {
    let Some(body) = arg
        .strip_prefix("--")
        .or_else(|| long_after_one_dash(arg, command))
    else {
        return Ok(Some(arg.to_owned()));
    };
    let (name, value) = match body.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (body, None),
    };
    let own = || Ok(Some(format!("--{body}")));
    let is_ours = has_long(command, name);
    let known = COUNTERPARTS.iter().find(|row| row.names.contains(&name));
    let Some(known) = known.filter(|_| !is_ours) else {
        return match (name, value) {
            ("verify-each", Some("0" | "off" | "no")) => Ok(Some("--verify-each=false".to_owned())),
            ("verify-each", Some("1" | "on" | "yes")) => Ok(Some("--verify-each=true".to_owned())),
            _ => own(),
        };
    };
    match known.ours {
        Ours::Same(_) => own(),
        Ours::Read(flag) => Ok(read(flag, name, value)),
        Ours::Flag(flag) => Err(format!(
            "`--{name}` is an option of mlir-opt: use `{}`",
            spelling(flag, command)
        )),
        Ours::Instead(instead) => Err(format!(
            "`--{name}` is an option of mlir-opt: {}",
            without_links(instead)
        )),
    }
}

/// Translates an option to the flag `flag`; its value may enable or disable it.
fn read(flag: &str, name: &str, value: Option<&str>) -> Option<String> {
    match value {
        Some("false" | "0") => None,
        None | Some("true" | "1") => Some(format!("--{flag}")),
        // The layout of times and counts is not configurable.
        Some(_) if name.ends_with("-display") => Some(format!("--{flag}")),
        Some(value) => Some(format!("--{flag}={value}")),
    }
}

/// Returns a long option without its single dash, because LLVM's tools take one dash as well as two.
fn long_after_one_dash<'a>(arg: &'a str, command: &Command) -> Option<&'a str> {
    let body = arg.strip_prefix('-')?;
    let name = body.split('=').next().unwrap_or(body);
    let is_mlir = || COUNTERPARTS.iter().any(|row| row.names.contains(&name));
    (name.len() > 1 && (has_long(command, name) || is_mlir())).then_some(body)
}

/// Returns whether the command line has a flag or alias called `name`.
fn has_long(command: &Command, name: &str) -> bool {
    command.get_arguments().any(|arg| {
        let aliases = arg.get_all_aliases().unwrap_or_default();
        arg.get_long() == Some(name) || aliases.contains(&name)
    }) || matches!(name, "help" | "version")
}

/// Returns the spelling of the flag with id `flag`, for example `--timing=FORM`.
fn spelling(flag: &str, command: &Command) -> String {
    let arg = command.get_arguments().find(|arg| arg.get_id() == flag);
    let value = arg.and_then(|arg| arg.get_value_names()?.first());
    value.map_or(format!("--{flag}"), |value| format!("--{flag}={value}"))
}

/// Replaces Markdown links by their text.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        let Some((words, after)) = link.split_once("](") else {
            break;
        };
        let Some((_, after)) = after.split_once(')') else {
            break;
        };
        out.push_str(before);
        out.push_str(words);
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(args: &str) -> Result<String, String> {
        let args: Vec<String> = args.split(' ').map(str::to_owned).collect();
        Ok(translated(&args, &crate::args::command())?.join(" "))
    }

    #[test]
    fn options_of_mlir_opt_are_read_as_ours() {
        let cases = [
            ("--mlir-timing m", "--timing m"),
            (
                "--mlir-timing --mlir-timing-display=list m",
                "--timing --timing m",
            ),
            ("-canonicalize -cse m", "--canonicalize --cse m"),
            ("-canonicalise=max-iters=2", "--canonicalise=max-iters=2"),
            ("-O2 -o out m", "-O2 -o out m"),
            ("-mlir-print-ir-after=cse -", "--print-ir-after=cse -"),
            ("--mlir-print-ir-after-all=false m", "m"),
            ("--verify-each=0", "--verify-each=false"),
            ("-verify-each=1", "--verify-each=true"),
            ("--mlir-pass-statistics", "--stats"),
            (
                "-pass-pipeline=builtin.module(cse)",
                "--pass-pipeline=builtin.module(cse)",
            ),
            (
                "-split-input-file -verify-diagnostics",
                "--split-input-file --verify-diagnostics",
            ),
            ("-- -canonicalize", "-- -canonicalize"),
            ("-unknown --other", "-unknown --other"),
            ("-help -version", "--help --version"),
        ];
        for (given, expected) in cases {
            assert_eq!(line(given).as_deref(), Ok(expected), "{given}");
        }
    }

    #[test]
    fn other_options_say_what_there_is() {
        for row in COUNTERPARTS {
            for name in row.names {
                let outcome = line(&format!("--{name} m"));
                match row.ours {
                    Ours::Same(_) | Ours::Read(_) => {
                        assert!(outcome.is_ok(), "{name}: {outcome:?}")
                    }
                    Ours::Flag(_) | Ours::Instead(_) => {
                        let message = outcome.expect_err(name);
                        assert!(message.contains(&format!("`--{name}`")), "{message}");
                        assert!(!message.contains("]("), "{message}");
                    }
                }
            }
        }
        let said = line("--mlir-debug-counter=x m").unwrap_err();
        assert!(
            said.ends_with("use `--opt-bisect-limit=[RULE:]N`"),
            "{said}"
        );
    }
}
