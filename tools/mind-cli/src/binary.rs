//! Output of binary formats.

use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches};
use mind_diag::{Code, Diagnostic, Diagnostics, Span};
use mind_driver::formats::{BinaryOptions, WriteBinary};
use mind_driver::host::Host;
use mind_ir::Graph;

use crate::{DONE, REJECTED, USAGE, flag, output, print_error, usage_error, value};

/// Returns the argument that selects the opset of ONNX.
pub fn opset_arg() -> Arg {
    value(
        "opset",
        "N",
        "the opset version of a written ONNX model, 21 by default",
    )
}

/// Returns the argument that moves constants to an external data file.
pub fn data_arg() -> Arg {
    flag(
        "external-data",
        "write the large constants of an ONNX model to an external data file OUT.data",
    )
}

/// Returns the opset, if it was specified.
///
/// # Errors
///
/// Errors if the value is not a number.
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

/// Returns the name of one of these arguments that was specified.
pub fn given(matches: &ArgMatches) -> Option<&'static str> {
    let mut names = ["opset", "external-data"].into_iter();
    names.find(|name| matches.value_source(name) == Some(ValueSource::CommandLine))
}

/// A serialized module, to be written to the file of `-o`.
pub struct Written {
    path: String,
    file: Vec<u8>,
    data: Option<Vec<u8>>,
    /// Notes for the user.
    pub notes: Diagnostics,
}

/// Returns the path of the output file.
///
/// # Errors
///
/// Returns the exit code after reporting that it is missing.
pub fn output(matches: &ArgMatches, host: &mut dyn Host) -> Result<String, u8> {
    output::file(matches).cloned().ok_or_else(|| {
        usage_error(
            host,
            "an ONNX model is a binary file: name it with `-o NAME.onnx`",
        );
        USAGE
    })
}

/// Serializes a module for the file at `path`.
///
/// # Errors
///
/// Errors if the format cannot express the module.
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
    /// Writes the files and returns the exit code. The model is written last, because it refers to the data file.
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
