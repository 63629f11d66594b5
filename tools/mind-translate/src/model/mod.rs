//! Descriptions of models.

mod c;
mod document;

use mind_cli::DiagnosticFormat;
use mind_diag::{Diagnostics, SourceFile};
use mind_driver::host::Host;
use mind_model::FolderError;

/// Runs the tool on the description of a model if the arguments name one; else returns `None`.
pub(crate) fn run(args: &[String], host: &mut dyn Host) -> Option<u8> {
    if c::asks_for_model(args) {
        Some(c::run(args, host))
    } else {
        document::run(args, host)
    }
}

/// Reports why files are no model; `config` is the text that describes it.
fn refuse(host: &mut dyn Host, why: FolderError, config: &SourceFile, form: DiagnosticFormat) {
    match why.diagnostics() {
        Ok((found, file)) => mind_cli::report(host, &found, file.as_ref().unwrap_or(config), form),
        Err(why) => mind_cli::fail(host, &why),
    }
}

/// The text of a model whose files could not be opened.
fn nowhere() -> SourceFile {
    SourceFile::new("", "")
}

/// Reports what is wrong with a file.
fn report(host: &mut dyn Host, found: &Diagnostics, file: &SourceFile) {
    mind_cli::report(host, found, file, DiagnosticFormat::Text);
}
