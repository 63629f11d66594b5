//! Colour and verbosity of messages.

use clap::{Arg, ArgMatches};
use mind_driver::host::{Host, Style};

use crate::{flag, value};

/// The value of `--color`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Choice {
    #[default]
    Auto,
    Always,
    Never,
}

/// Returns the flags that all tools have.
pub fn args() -> [Arg; 2] {
    [
        value(
            "color",
            "WHEN",
            "colour diagnostics; `auto` colours on a terminal and respects NO_COLOR, CLICOLOR, CLICOLOR_FORCE and \
             TERM",
        )
        .value_parser(["auto", "always", "never"])
        .default_value("auto"),
        flag("quiet", "suppress notes, warnings and progress"),
    ]
}

/// Returns the style from the values of [`args`] and the host's environment.
pub fn style(matches: &ArgMatches, host: &dyn Host) -> Style {
    let choice = match matches.get_one::<String>("color").map(String::as_str) {
        Some("always") => Choice::Always,
        Some("never") => Choice::Never,
        _ => Choice::Auto,
    };
    let variable = |name: &str| host.variable(name);
    Style {
        color: is_colored(choice, host.stderr_is_terminal(), &variable),
        quiet: matches.get_flag("quiet"),
        // A terminal that cannot return to the start of a line gets whole lines.
        redraws: host.stderr_is_terminal() && !is_dumb(&variable),
    }
}

/// The value of an environment variable.
type Variable<'v> = dyn Fn(&str) -> Option<String> + 'v;

/// Returns whether output to a stream is coloured.
///
/// `NO_COLOR` (no-color.org) overrides `CLICOLOR_FORCE` (bixense.com/clicolors), as in `cargo`. An empty variable
/// counts as unset.
fn is_colored(choice: Choice, is_terminal: bool, variable: &Variable<'_>) -> bool {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    match choice {
        Choice::Always => true,
        Choice::Never => false,
        Choice::Auto if set("NO_COLOR").is_some() => false,
        Choice::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        Choice::Auto => {
            is_terminal && set("CLICOLOR").as_deref() != Some("0") && !is_dumb(variable)
        }
    }
}

fn is_dumb(variable: &Variable<'_>) -> bool {
    variable("TERM").as_deref() == Some("dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (Choice, bool, &'static [(&'static str, &'static str)], bool);

    const ROWS: &[Row] = &[
        (Choice::Auto, true, &[], true),
        (Choice::Auto, false, &[], false),
        (Choice::Auto, true, &[("TERM", "xterm")], true),
        (Choice::Auto, true, &[("TERM", "dumb")], false),
        (Choice::Auto, true, &[("NO_COLOR", "1")], false),
        (Choice::Auto, true, &[("NO_COLOR", "0")], false),
        (Choice::Auto, true, &[("NO_COLOR", "")], true),
        (Choice::Auto, true, &[("CLICOLOR", "0")], false),
        (Choice::Auto, true, &[("CLICOLOR", "1")], true),
        (Choice::Auto, false, &[("CLICOLOR", "1")], false),
        (Choice::Auto, false, &[("CLICOLOR_FORCE", "1")], true),
        (Choice::Auto, false, &[("CLICOLOR_FORCE", "0")], false),
        (Choice::Auto, false, &[("CLICOLOR_FORCE", "")], false),
        (
            Choice::Auto,
            false,
            &[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")],
            true,
        ),
        (
            Choice::Auto,
            true,
            &[("CLICOLOR_FORCE", "1"), ("CLICOLOR", "0")],
            true,
        ),
        (
            Choice::Auto,
            true,
            &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
            false,
        ),
        (Choice::Always, false, &[("NO_COLOR", "1")], true),
        (Choice::Always, false, &[("TERM", "dumb")], true),
        (Choice::Never, true, &[("CLICOLOR_FORCE", "1")], false),
        (Choice::Never, true, &[], false),
    ];

    #[test]
    fn flag_then_environment_then_terminal() {
        for (choice, is_terminal, set, expected) in ROWS {
            let variable = |name: &str| {
                let found = set.iter().find(|(own, _)| *own == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            let found = is_colored(*choice, *is_terminal, &variable);
            assert_eq!(
                found, *expected,
                "{choice:?}, terminal: {is_terminal}, {set:?}"
            );
        }
    }
}
