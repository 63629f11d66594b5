//! Parsing of check files to steps.

use crate::bytes;
use crate::directive::{Directive, DirectiveKind, Directives};
use crate::options::Options;
use crate::pattern::{Origin, Pattern};
use crate::pattern_syntax::{PatternError, parse_pattern};
use crate::source::Source;
use crate::syntax_error::SyntaxError;
use crate::variables::Variables;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A positive directive with the `-DAG` and `-NOT` directives before it.
#[derive(Debug)]
pub struct Step {
    /// In order; patterns of `--implicit-check-not` come first.
    pub before: Vec<Rc<Pattern>>,
    /// The pattern that must match after them.
    pub pattern: Pattern,
}

/// An invalid check file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFileError {
    /// The error, with its location.
    pub message: String,
    /// The line of the check file, and the column to point at.
    pub line: Option<(Vec<u8>, usize)>,
    /// The exit code for this error.
    pub exit_code: u8,
}

impl CheckFileError {
    fn at(source: &Source, offset: usize, message: &str) -> CheckFileError {
        let (_, column) = source.position(offset);
        CheckFileError {
            message: format!("{}: error: {message}", source.place(offset)),
            line: Some((source.line_at(offset).to_vec(), column)),
            exit_code: 2,
        }
    }

    fn in_pattern(source: &Source, pattern_start: usize, error: PatternError) -> CheckFileError {
        let (PatternError::Syntax(SyntaxError { offset, message })
        | PatternError::StrayBracket(SyntaxError { offset, message })) = &error;
        let exit_code = if matches!(error, PatternError::StrayBracket(_)) {
            1
        } else {
            2
        };
        CheckFileError {
            exit_code,
            ..CheckFileError::at(source, pattern_start + offset, message)
        }
    }

    fn general(message: String) -> CheckFileError {
        CheckFileError {
            message: format!("error: {message}"),
            line: None,
            exit_code: 2,
        }
    }
}

/// Parses `source` and declares the variables of its patterns.
pub fn read(
    source: &Source,
    options: &Options,
    variables: &mut Variables,
) -> Result<Vec<Step>, CheckFileError> {
    let implicit = implicit_patterns(options, variables)?;
    let mut steps: Vec<Step> = Vec::new();
    let mut before = implicit.clone();
    let mut used = BTreeSet::new();
    for directive in Directives::new(
        &source.text,
        &options.check_prefixes,
        &options.comment_prefixes,
    ) {
        let directive =
            directive.map_err(|error| CheckFileError::at(source, error.offset, &error.message))?;
        used.insert(directive.prefix);
        let pattern = read_pattern(source, &directive, options, variables)?;
        refuse_misplaced(&pattern, steps.is_empty())
            .map_err(|message| CheckFileError::at(source, directive.start, &message))?;
        if matches!(pattern.kind, DirectiveKind::Dag | DirectiveKind::Not) {
            before.push(Rc::new(pattern));
        } else {
            steps.push(Step {
                before: std::mem::replace(&mut before, implicit.clone()),
                pattern,
            });
        }
    }
    refuse_unused_prefixes(options, &used)?;
    if !before.is_empty() {
        steps.push(Step {
            before,
            pattern: Pattern::end_of_input(),
        });
    }
    Ok(steps)
}

fn implicit_patterns(
    options: &Options,
    variables: &mut Variables,
) -> Result<Vec<Rc<Pattern>>, CheckFileError> {
    let parse = |text: &String| {
        let source = Source {
            name: "--implicit-check-not".to_owned(),
            text: text.clone().into_bytes(),
        };
        let pattern = Pattern::empty(
            "implicit CHECK-NOT",
            DirectiveKind::Not,
            Origin::CommandLine,
        );
        parse_pattern(pattern, &source.text, false, options.matching, variables)
            .map(Rc::new)
            .map_err(|error| CheckFileError::in_pattern(&source, 0, error))
    };
    options.implicit_check_not.iter().map(parse).collect()
}

fn read_pattern(
    source: &Source,
    directive: &Directive,
    options: &Options,
    variables: &mut Variables,
) -> Result<Pattern, CheckFileError> {
    let rest = &source.text[directive.pattern_start..];
    if rest.is_empty() {
        let message = "the file ends after this directive, without a newline";
        return Err(CheckFileError::at(source, directive.start, message));
    }
    let line = rest
        .split(|byte| matches!(byte, b'\n' | b'\r'))
        .next()
        .unwrap_or_default();
    let keep_blanks = options.matching.strict_whitespace && options.matching.full_lines;
    let text = if keep_blanks {
        line
    } else {
        bytes::trim_start(line)
    };
    let offset = directive.pattern_start + line.len() - text.len();

    let name = bytes::display(&source.text[directive.start..directive.pattern_start - 1]);
    let origin = Origin::File {
        offset,
        line: directive.line,
    };
    let pattern = Pattern {
        count: directive.suffix.count,
        ..Pattern::empty(name, directive.suffix.kind, origin)
    };
    parse_pattern(
        pattern,
        text,
        directive.suffix.literal,
        options.matching,
        variables,
    )
    .map_err(|error| CheckFileError::in_pattern(source, offset, error))
}

fn refuse_misplaced(pattern: &Pattern, is_first: bool) -> Result<(), String> {
    match pattern.kind {
        DirectiveKind::Label if pattern.has_variables() => {
            Err(format!("{} cannot use or define variables", pattern.name))
        }
        DirectiveKind::Next | DirectiveKind::Same | DirectiveKind::Empty if is_first => {
            Err(format!(
                "{} needs a positive directive before it, -DAG and -NOT apart",
                pattern.name
            ))
        }
        _ => Ok(()),
    }
}

fn refuse_unused_prefixes(options: &Options, used: &BTreeSet<&str>) -> Result<(), CheckFileError> {
    let unused: Vec<String> = options
        .check_prefixes
        .iter()
        .filter(|prefix| !used.contains(prefix.as_str()))
        .map(|prefix| format!("`{prefix}:`"))
        .collect();
    let allowed = unused.is_empty() || (options.allow_unused_prefixes && !used.is_empty());
    let implicit_only = options.has_default_prefix && !options.implicit_check_not.is_empty();
    if allowed || implicit_only {
        return Ok(());
    }
    Err(CheckFileError::general(format!(
        "no check strings found with prefix {}",
        unused.join(", ")
    )))
}
