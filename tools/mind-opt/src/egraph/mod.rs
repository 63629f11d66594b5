//! Implements `--dump-egraph`, drawings of e-graphs.

use std::path::Path;

use clap::{Arg, ArgMatches};
use mind_cli::value;
use mind_pass::{Drawing, DrawingForm};

pub(super) fn args() -> Vec<Arg> {
    let arg = |name, shown, help| value(name, shown, help).require_equals(true).num_args(1);
    vec![
        arg(
            "dump-egraph",
            "FILE",
            "draw the e-graph of a region of `fold` or `fuse`, as `.dot` or `.svg`",
        ),
        arg(
            "dump-egraph-region",
            "N",
            "the index of the region to draw, counted from 0 over all passes",
        )
        .value_parser(clap::value_parser!(usize))
        .requires("dump-egraph"),
    ]
}

/// Returns the path of the drawing, if requested.
pub(super) fn path(matches: &ArgMatches) -> Option<&String> {
    matches.get_one("dump-egraph")
}

/// Returns the requested drawing, not drawn yet.
///
/// # Errors
///
/// Errors if the extension is not `dot` or `svg`.
pub(super) fn drawing(matches: &ArgMatches) -> Result<Option<Drawing>, String> {
    let Some(path) = path(matches) else {
        return Ok(None);
    };
    let skip = matches.get_one::<usize>("dump-egraph-region");
    Ok(Some(Drawing {
        form: form(path)?,
        skip: skip.copied().unwrap_or(0),
        text: None,
    }))
}

/// Returns the format of the drawing in the file `path`.
///
/// # Errors
///
/// Errors if the extension is not `dot` or `svg`.
fn form(path: &str) -> Result<DrawingForm, String> {
    let extension = Path::new(path).extension().and_then(|own| own.to_str());
    match extension {
        Some("dot") => Ok(DrawingForm::Dot),
        Some("svg") => Ok(DrawingForm::Svg),
        _ => Err(format!(
            "--dump-egraph: `{path}` is neither a `.dot` nor a `.svg` file"
        )),
    }
}
