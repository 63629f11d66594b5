//! The command line.

use crate::pattern::Matching;

/// When the input is dumped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum DumpInput {
    /// Never, by default: failures show the relevant lines.
    #[default]
    Unset,
    /// `never`
    Never,
    /// `fail`
    Fail,
    /// `always`
    Always,
    /// `help`: print an explanation and exit.
    Help,
}

/// Options of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The file with the directives, `-` for standard input.
    pub check_file: String,
    /// The file to check, `-` for standard input.
    pub input_file: String,
    /// Never empty.
    pub check_prefixes: Vec<String>,
    /// Whether `check_prefixes` is the default.
    pub has_default_prefix: bool,
    /// Never empty.
    pub comment_prefixes: Vec<String>,
    /// `--allow-unused-prefixes`
    pub allow_unused_prefixes: bool,
    /// `--allow-empty`
    pub allow_empty: bool,
    /// How patterns are matched.
    pub matching: Matching,
    /// `--implicit-check-not`
    pub implicit_check_not: Vec<String>,
    /// `--enable-var-scope`
    pub enable_var_scope: bool,
    /// `--allow-deprecated-dag-overlap`
    pub allow_dag_overlap: bool,
    /// `-DNAME=text` and `-D#NAME=EXPR`, without the `-D`.
    pub defines: Vec<String>,
    /// `--dump-input`
    pub dump_input: DumpInput,
    /// `--dump-input-context`
    pub dump_context: Option<usize>,
    /// Whether `--dump-input-filter` says `all`.
    pub dump_all: Option<bool>,
    /// `--color`
    pub color: bool,
    /// `-v`
    pub verbose: bool,
}

/// The action that the command line requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Check a file.
    Check(Box<Options>),
    /// Print this text.
    Print(String),
}

/// An invalid command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError {
    /// The error.
    pub message: String,
    /// 1 for an unknown or malformed flag, 2 for a wrong use.
    pub exit_code: u8,
}

impl UsageError {
    fn flag(message: impl Into<String>) -> UsageError {
        UsageError {
            message: message.into(),
            exit_code: 1,
        }
    }

    fn wrong_use(message: impl Into<String>) -> UsageError {
        UsageError {
            message: message.into(),
            exit_code: 2,
        }
    }
}

/// The value and the effect of a flag.
#[derive(Clone, Copy)]
enum Action {
    Switch(fn(&mut Options, bool)),
    Value(fn(&mut Options, &str) -> Result<(), String>),
    Print(fn() -> String),
}

struct Flag {
    name: &'static str,
    value: &'static str,
    help: &'static str,
    action: Action,
}

const fn switch(name: &'static str, help: &'static str, set: fn(&mut Options, bool)) -> Flag {
    Flag {
        name,
        value: "",
        help,
        action: Action::Switch(set),
    }
}

type Set = fn(&mut Options, &str) -> Result<(), String>;

const fn value(name: &'static str, value: &'static str, help: &'static str, set: Set) -> Flag {
    Flag {
        name,
        value,
        help,
        action: Action::Value(set),
    }
}

const FLAGS: [Flag; 23] = [
    value(
        "check-prefix",
        "PREFIX",
        "prefix of directives, default CHECK",
        |options, prefix| {
            options.check_prefixes.push(prefix.to_owned());
            Ok(())
        },
    ),
    value(
        "check-prefixes",
        "PREFIX,...",
        "several prefixes",
        |options, prefixes| {
            options
                .check_prefixes
                .extend(prefixes.split(',').map(str::to_owned));
            Ok(())
        },
    ),
    value(
        "comment-prefixes",
        "PREFIX,...",
        "prefixes that hide directives, default COM,RUN",
        |options, prefixes| {
            options
                .comment_prefixes
                .extend(prefixes.split(',').map(str::to_owned));
            Ok(())
        },
    ),
    switch(
        "allow-unused-prefixes",
        "accept prefixes no directive has",
        |options, on| options.allow_unused_prefixes = on,
    ),
    value(
        "input-file",
        "FILE",
        "file to check, default standard input",
        |options, file| {
            options.input_file = file.to_owned();
            Ok(())
        },
    ),
    switch("allow-empty", "accept empty input", |options, on| {
        options.allow_empty = on
    }),
    switch(
        "match-full-lines",
        "positive patterns match whole lines",
        |options, on| options.matching.full_lines = on,
    ),
    switch(
        "strict-whitespace",
        "tell blanks from tabs and count them",
        |options, on| options.matching.strict_whitespace = on,
    ),
    switch("ignore-case", "letters match both cases", |options, on| {
        options.matching.ignore_case = on
    }),
    value(
        "implicit-check-not",
        "PATTERN",
        "what must not occur between matches",
        |options, pattern| {
            options.implicit_check_not.push(pattern.to_owned());
            Ok(())
        },
    ),
    switch(
        "enable-var-scope",
        "each -LABEL forgets variables without $",
        |options, on| options.enable_var_scope = on,
    ),
    switch(
        "allow-deprecated-dag-overlap",
        "matches of a -DAG group may overlap",
        |options, on| options.allow_dag_overlap = on,
    ),
    value(
        "dump-input",
        "help|always|fail|never",
        "when to print the input",
        |options, when| {
            let when = match when {
                "help" => DumpInput::Help,
                "always" => DumpInput::Always,
                "fail" => DumpInput::Fail,
                "never" => DumpInput::Never,
                _ => return Err(format!("`{when}` is none of help, always, fail, never")),
            };
            options.dump_input = options.dump_input.max(when);
            Ok(())
        },
    ),
    value(
        "dump-input-context",
        "N",
        "lines around those printed, default 5",
        |options, lines| {
            let lines: u32 = lines
                .parse()
                .map_err(|_| format!("`{lines}` is not a number"))?;
            options.dump_context = options.dump_context.max(Some(lines as usize));
            Ok(())
        },
    ),
    value(
        "dump-input-filter",
        "all|annotation-full|annotation|error",
        "which lines to print",
        |options, filter| {
            if !["all", "annotation-full", "annotation", "error"].contains(&filter) {
                return Err(format!(
                    "`{filter}` is none of all, annotation-full, annotation, error"
                ));
            }
            options.dump_all = Some(options.dump_all == Some(true) || filter == "all");
            Ok(())
        },
    ),
    switch("color", "colour messages", |options, on| options.color = on),
    switch("v", "report every match", |options, on| {
        options.verbose |= on
    }),
    switch("vv", "as -v", |options, on| options.verbose |= on),
    Flag {
        name: "D",
        value: "NAME=TEXT",
        help: "define a variable; -D#NAME=EXPR defines a number",
        action: Action::Value(define),
    },
    Flag {
        name: "help",
        value: "",
        help: "print this",
        action: Action::Print(help),
    },
    Flag {
        name: "h",
        value: "",
        help: "print this",
        action: Action::Print(help),
    },
    Flag {
        name: "help-list",
        value: "",
        help: "print this",
        action: Action::Print(help),
    },
    Flag {
        name: "version",
        value: "",
        help: "print the version",
        action: Action::Print(version),
    },
];

fn define(options: &mut Options, definition: &str) -> Result<(), String> {
    options.defines.push(definition.to_owned());
    Ok(())
}

fn help() -> String {
    let mut text = "usage: filecheck [options] <check-file>\n\n".to_owned();
    for flag in &FLAGS {
        let (dashes, equals) = if flag.name.len() == 1 {
            ("-", "")
        } else {
            ("--", if flag.value.is_empty() { "" } else { "=" })
        };
        text += &format!(
            "  {:<64} {}\n",
            format!("{dashes}{}{equals}{}", flag.name, flag.value),
            flag.help
        );
    }
    text + "\nOptions may also be in the variable FILECHECK_OPTS, before those given here.\n"
}

fn version() -> String {
    format!("filecheck {}\n", env!("CARGO_PKG_VERSION"))
}

fn dump_help() -> String {
    "A printed input shows its lines by number. Below a line are the directives that\nfailed there, with a caret where each began to search or was found.\n".to_owned()
}

/// Parses `env_opts` followed by `args`, which do not include the program name.
pub fn parse(args: &[String], env_opts: Option<&str>) -> Result<Command, UsageError> {
    let mut options = Options {
        input_file: "-".to_owned(),
        ..Options::default()
    };
    let mut check_files = Vec::new();
    let mut flags_ended = false;
    let mut rest = split_words(env_opts.unwrap_or_default())
        .into_iter()
        .chain(args.iter().cloned());
    while let Some(arg) = rest.next() {
        let dashed = arg
            .strip_prefix('-')
            .filter(|name| !flags_ended && !name.is_empty());
        let Some(name) = dashed.map(|name| name.strip_prefix('-').unwrap_or(name)) else {
            check_files.push(arg);
            continue;
        };
        if name.is_empty() {
            flags_ended = true;
        } else if let Some(text) = set_flag(&mut options, &arg, name, &mut rest)? {
            return Ok(Command::Print(text));
        }
    }
    if options.dump_input == DumpInput::Help {
        return Ok(Command::Print(dump_help()));
    }
    options.check_file = match <[String; 1]>::try_from(check_files) {
        Ok([file]) => file,
        Err(files) if files.is_empty() => {
            return Err(UsageError::wrong_use("<check-file> not specified"));
        }
        Err(_) => {
            return Err(UsageError::flag(
                "too many positional arguments: one check file is expected",
            ));
        }
    };
    for definition in &options.defines {
        match definition.find('=') {
            None => {
                return Err(UsageError::wrong_use(format!(
                    "missing equal sign in -D{definition}"
                )));
            }
            Some(0) => {
                return Err(UsageError::wrong_use(format!(
                    "missing variable name in -D{definition}"
                )));
            }
            Some(_) => {}
        }
    }
    complete_prefixes(&mut options)?;
    Ok(Command::Check(Box::new(options)))
}

/// Sets the flag `name`, which may have its value after `=`. Returns text to print instead of checking.
fn set_flag(
    options: &mut Options,
    arg: &str,
    name: &str,
    rest: &mut impl Iterator<Item = String>,
) -> Result<Option<String>, UsageError> {
    let (name, attached) = match name.strip_prefix('D') {
        Some(definition) => (
            "D",
            Some(definition).filter(|definition| !definition.is_empty()),
        ),
        None => name
            .split_once('=')
            .map_or((name, None), |(name, value)| (name, Some(value))),
    };
    let Some(flag) = FLAGS.iter().find(|flag| flag.name == name) else {
        return Err(UsageError::flag(format!(
            "unknown command line argument '{arg}'; try --help"
        )));
    };
    match flag.action {
        Action::Print(text) => return Ok(Some(text())),
        Action::Switch(set) => match attached {
            None | Some("" | "true" | "TRUE" | "True" | "1") => set(options, true),
            Some("false" | "FALSE" | "False" | "0") => set(options, false),
            Some(_) => return Err(UsageError::flag(format!("'{arg}': expected true or false"))),
        },
        Action::Value(set) => {
            // The value of `-D` is always attached to the flag.
            let given = match attached {
                None if name != "D" => rest.next(),
                attached => attached.map(str::to_owned),
            };
            let given =
                given.ok_or_else(|| UsageError::flag(format!("'{arg}' requires a value")))?;
            set(options, &given)
                .map_err(|message| UsageError::flag(format!("{arg}: {message}")))?;
        }
    }
    Ok(None)
}

/// Sets default prefixes if none are given, and rejects malformed or repeated prefixes.
fn complete_prefixes(options: &mut Options) -> Result<(), UsageError> {
    let default_comments = ["COM", "RUN"];
    options.has_default_prefix = options.check_prefixes.is_empty();
    let mut seen: Vec<&str> = Vec::new();
    if options.check_prefixes.is_empty() {
        seen.push("CHECK");
    }
    if options.comment_prefixes.is_empty() {
        seen.extend(default_comments);
    }
    for prefix in options
        .check_prefixes
        .iter()
        .chain(&options.comment_prefixes)
    {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if prefix.is_empty() || !prefix.bytes().all(is_word) {
            let message = format!(
                "prefix '{prefix}' must have letters, digits, hyphens and underscores only, and one at least"
            );
            return Err(UsageError::wrong_use(message));
        }
        if seen.contains(&prefix.as_str()) {
            let message =
                format!("prefix '{prefix}' must be unique among check and comment prefixes");
            return Err(UsageError::wrong_use(message));
        }
        seen.push(prefix);
    }
    if options.check_prefixes.is_empty() {
        options.check_prefixes.push("CHECK".to_owned());
    }
    if options.comment_prefixes.is_empty() {
        options.comment_prefixes = default_comments.map(str::to_owned).into();
    }
    Ok(())
}

/// Splits words as a shell does: both kinds of quotes join, and a backslash escapes the next character.
fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => word
                .get_or_insert_default()
                .push(chars.next().unwrap_or('\\')),
            _ if quote == Some(c) => quote = None,
            '\'' | '"' if quote.is_none() => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            _ if quote.is_none() && c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(args: &str) -> Result<Options, u8> {
        let args: Vec<String> = args.split(' ').map(str::to_owned).collect();
        match parse(&args, None) {
            Ok(Command::Check(options)) => Ok(*options),
            Ok(Command::Print(_)) => Err(0),
            Err(error) => Err(error.exit_code),
        }
    }

    #[test]
    fn one_dash_or_two() {
        let options = check(
            "f -ignore-case --check-prefixes A,B -check-prefix=C --allow-empty=false -DX=1 --D#Y=2",
        )
        .expect("valid");
        assert!(options.matching.ignore_case && !options.allow_empty);
        assert_eq!(options.check_prefixes, ["A", "B", "C"]);
        assert_eq!(options.defines, ["X=1", "#Y=2"]);
        assert_eq!(options.input_file, "-");
    }

    #[test]
    fn exit_codes() {
        let cases = [
            ("f --unknown", 1),
            ("f g", 1),
            ("f --ignore-case=maybe", 1),
            ("f --check-prefix", 1),
            ("f -D", 1),
            ("--v", 2),
            ("f -DX", 2),
            ("f -D=1", 2),
            ("f --check-prefix=", 2),
            ("f --check-prefix=A,B", 2),
            ("f --check-prefix=COM", 2),
            ("f --check-prefixes=A,A", 2),
            ("f --dump-input=sometimes", 1),
            ("f --dump-input-context=x", 1),
            ("--help", 0),
            ("f --dump-input=help", 0),
            ("f ---ignore-case", 1),
            ("f -vvv", 1),
        ];
        for (args, code) in cases {
            assert_eq!(check(args).err(), Some(code), "{args}");
        }
    }

    #[test]
    fn the_environment_comes_first() {
        let args = ["f".to_owned(), "--ignore-case=false".to_owned()];
        let Ok(Command::Check(options)) = parse(&args, Some("--ignore-case '-DX=a b' -DY=\\\""))
        else {
            panic!("refused")
        };
        assert!(!options.matching.ignore_case);
        assert_eq!(options.defines, ["X=a b", "Y=\""]);
    }
}
