//! Implements `--bind`: inputs of ONNX and StableHLO modules that are replaced by constants.

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, ArgMatches};
use mind_driver::host::Host;
use mind_ir::tensor::Tensor;

use crate::{DiagnosticFormat, value};

/// Returns the argument that binds inputs.
pub fn arg() -> Arg {
    value(
        "bind",
        "NAME=FILE.npz",
        "replace an input of an ONNX or StableHLO module by a constant: the array of that name in the archive",
    )
    .action(ArgAction::Append)
    .value_parser(ValueParser::new(parse))
}

/// Reads the bound inputs and their values, at most `limit` bytes of elements per archive.
///
/// # Errors
///
/// Returns the exit code after reporting that a file is not an archive of arrays, or lacks the array.
pub fn read(
    matches: &ArgMatches,
    limit: u64,
    host: &mut dyn Host,
) -> Result<Vec<(String, Tensor)>, u8> {
    let given = matches.get_many::<(String, String)>("bind");
    let form = DiagnosticFormat::of(matches);
    let given = given.into_iter().flatten();
    given
        .map(|(name, path)| Ok((name.clone(), array(name, path, limit, form, host)?)))
        .collect()
}

#[cfg(feature = "npz")]
fn array(
    name: &str,
    path: &str,
    limit: u64,
    form: DiagnosticFormat,
    host: &mut dyn Host,
) -> Result<Tensor, u8> {
    use crate::npz::{self, ArchiveFile};
    let mut archive = ArchiveFile::open(path, limit, form, host)?;
    let mut arrays = archive.arrays(|own| own == name, host)?;
    arrays.remove(name).ok_or_else(|| {
        let reason = format!("the archive has no array `{name}`");
        npz::refuse(path, reason, form, host)
    })
}

#[cfg(not(feature = "npz"))]
fn array(_: &str, _: &str, _: u64, _: DiagnosticFormat, host: &mut dyn Host) -> Result<Tensor, u8> {
    let message = "`--bind` is for ONNX models and StableHLO, which this build does not read";
    Err(crate::usage_error(host, message))
}

/// Parses `NAME=FILE.npz`. The last `=` separates them, because names in ONNX may contain any character.
fn parse(text: &str) -> Result<(String, String), String> {
    let (name, file) = text.rsplit_once('=').ok_or("expected `NAME=FILE.npz`")?;
    Ok((name.to_owned(), file.to_owned()))
}
