//! Modules written as files that are no text.

use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches};
use mind_diag::{Code, Diagnostic, Diagnostics, Span};
use mind_driver::formats::{BinaryOptions, WriteBinary};
use mind_driver::host::Host;
use mind_ir::Graph;

use crate::{DONE, REJECTED, USAGE, flag, output, print_error, usage_error, value};

/// The argument that names a version of ONNX.
pub fn opset_arg() -> Arg {
    value(
        "opset",
        "N",
        "the version of the operator set that an ONNX model is written in, 21 where not given",
    )
}

/// The argument that puts constants beside a model.
pub fn data_arg() -> Arg {
    flag(
        "external-data",
        "write the large constants of an ONNX model to a file beside it, called OUT.data",
    )
}

/// The version of ONNX that was asked for.
///
/// # Errors
///
/// A word that is no version.
fn opset(matches: &ArgMatches) -> Result<Option<i64>, Diagnostics> {
    let is_given = matches.value_source("opset") == Some(ValueSource::CommandLine);
    let word = matches.get_one::<String>("opset").filter(|_| is_given);
    let version = word.map(|word| {
        word.parse().map_err(|_| {
            let message = format!(
                "`--opset` is `{word}`, expected a version of ONNX's operator set, for example 21"
            );
            Diagnostic::error(Span::FILE, message)
                .code(Code(4108))
                .into()
        })
    });
    version.transpose()
}

/// An argument of these that was given.
pub fn given(matches: &ArgMatches) -> Option<&'static str> {
    let mut names = ["opset", "external-data"].into_iter();
    names.find(|name| matches.value_source(name) == Some(ValueSource::CommandLine))
}

/// A module as bytes, to be written to the file that `-o` names.
pub struct Written {
    path: String,
    file: Vec<u8>,
    data: Option<Vec<u8>>,
    /// Notes for the user.
    pub notes: Diagnostics,
}

/// Where the output goes.
///
/// # Errors
///
/// The exit code, after the missing name was reported.
pub fn output(matches: &ArgMatches, host: &mut dyn Host) -> Result<String, u8> {
    output::file(matches).cloned().ok_or_else(|| {
        usage_error(
            host,
            "an ONNX model is no text: name its file with `-o NAME.onnx`",
        );
        USAGE
    })
}

/// The bytes of a module for the file at `path`.
///
/// # Errors
///
/// What the format cannot say.
pub fn written(
    write: WriteBinary,
    graph: &Graph,
    path: &str,
    matches: &ArgMatches,
) -> Result<Written, Diagnostics> {
    let name = Path::new(path).file_name();
    let data_file = name.map(|name| format!("{}.data", name.to_string_lossy()));
    let options = BinaryOptions {
        opset: opset(matches)?,
        data_file: data_file
            .as_deref()
            .filter(|_| matches.get_flag("external-data")),
    };
    let binary = write(graph, &options)?;
    Ok(Written {
        path: path.to_owned(),
        file: binary.file,
        data: binary.data,
        notes: binary.notes,
    })
}

impl Written {
    /// Writes the files, the one that names the other last; the exit code.
    pub fn store(&self, host: &mut dyn Host) -> u8 {
        let data = self
            .data
            .as_ref()
            .map(|data| (format!("{}.data", self.path), data));
        let files = data.into_iter().chain([(self.path.clone(), &self.file)]);
        for (path, bytes) in files {
            if let Err(error) = host.write(Path::new(&path), bytes) {
                print_error(host, &format!("error: {path}: {error}\n"));
                return REJECTED;
            }
        }
        DONE
    }
}
