//! A module that a tool is given: a file, standard input, or a Core ML package.

use std::path::Path;

use mind_coreml::package::read::model_path;
use mind_driver::formats::{FormatInfo, Read};
use mind_driver::host::Host;
use mind_driver::load::LoadOptions;

use crate::REJECTED;

/// The bytes of a module.
pub struct Input {
    /// Its text; the model of a package.
    pub bytes: Vec<u8>,
    /// How it is read.
    pub options: LoadOptions,
    /// The file whose folder holds the weights that the text names.
    pub path: String,
}

/// Reads the module at `path`; `-` is standard input.
///
/// # Errors
///
/// The exit code, after the failure was printed: a file that cannot be read, a package whose manifest
/// or model cannot be.
pub fn read(host: &mut dyn Host, path: &str, options: &LoadOptions) -> Result<Input, u8> {
    let format = options.from.or_else(|| FormatInfo::of_path(path));
    if !format.is_some_and(|row| matches!(row.read, Some(Read::Package(_)))) {
        return Ok(Input {
            bytes: crate::read_input(host, path, options.limits.bytes)?,
            options: *options,
            path: path.to_owned(),
        });
    }
    let limit = options.limits.bytes;
    let bytes = below(host, path, "Manifest.json", limit)?;
    let model = model_path(&bytes).map_err(|error| refuse(host, path, &error))?;
    let bytes = below(host, path, &model, limit)?;
    Ok(Input {
        bytes,
        options: LoadOptions {
            from: format,
            ..*options
        },
        path: Path::new(path).join(model).to_string_lossy().into_owned(),
    })
}

/// The bytes of a file of the package at `path`.
fn below(host: &mut dyn Host, path: &str, name: &str, limit: u64) -> Result<Vec<u8>, u8> {
    let bytes = host.read_below(Path::new(path), Path::new(name), limit);
    bytes.map_err(|error| {
        let file = Path::new(path).join(name);
        crate::unread(host, &file.to_string_lossy(), &error)
    })
}

fn refuse(host: &mut dyn Host, path: &str, error: &dyn std::error::Error) -> u8 {
    crate::print_error(host, &format!("error: {path}: {error}\n"));
    REJECTED
}
