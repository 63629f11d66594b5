//! Object files, and shared libraries linked from them by the system's linker.

use std::io;
use std::path::Path;
use std::time::Duration;

use clap::ArgMatches;
use mind_cli::{DONE, USAGE, output, shell_word};

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_driver::engine::object_file;
use mind_driver::formats::Linking;
use mind_driver::host::{Host, ProcessEnd};
use mind_driver::session::Session;
use mind_ir::Graph;
use mind_jit::program::ObjectConfig;
use mind_vir::object::Container;
use mind_vir::target::Isa;

/// Time limit of the linker.
const LINKING: Duration = Duration::from_secs(300);

/// Returns the path of the output file.
///
/// # Errors
///
/// Returns the exit code after reporting that it is missing.
pub(crate) fn output(matches: &ArgMatches, host: &mut dyn Host) -> Result<String, u8> {
    output::file(matches).cloned().ok_or_else(|| {
        let message = "machine code is a binary file with a header: name it with `-o NAME.o`";
        mind_cli::usage_error(host, message);
        USAGE
    })
}

/// Compiles a module to machine code, writes it to `path` with a C header of the same name, and returns the exit code.
///
/// # Errors
///
/// Returns the diagnostics if the module cannot be compiled, or `None` after reporting a failure of the host.
pub(crate) fn write(
    session: &Session,
    graph: Graph,
    (linking, path): (Linking, &str),
    matches: &ArgMatches,
    host: &mut dyn Host,
) -> Result<u8, Option<Diagnostics>> {
    let words = matches.get_many::<String>("isa").into_iter().flatten();
    let isas: Result<Vec<Isa>, _> = words.map(|word| word.parse()).collect();
    let isas = isas.map_err(|why| Some(unknown(&why)))?;
    let container = match (linking, matches.get_one::<String>("object-format")) {
        (Linking::Object, Some(word)) => word.parse().map_err(|why| Some(unknown(&why)))?,
        (Linking::Object, None) | (Linking::Shared, _) => Container::HOST,
    };
    let name = matches.get_one::<String>("function");
    let config = ObjectConfig {
        name: name.map_or("module", String::as_str),
        isas: &isas,
        container,
        ..ObjectConfig::default()
    };
    let object = object_file(session, graph, &config).map_err(Some)?;
    let path = Path::new(path);
    let bytes = match linking {
        Linking::Object => object.bytes,
        Linking::Shared => linked(&object.bytes, host).map_err(|why| {
            let help = "`--to object` needs no linker";
            let message = format!("error: {}: {why}\n  = help: {help}\n", path.display());
            mind_cli::print_error(host, &message);
            None
        })?,
    };
    let header = path.with_extension("h");
    for (path, bytes) in [(&*header, object.header.as_bytes()), (path, &bytes)] {
        host.write(path, bytes).map_err(|error| {
            mind_cli::print_error(host, &format!("error: {}: {error}\n", path.display()));
            None
        })?;
    }
    Ok(DONE)
}

/// Returns an error about a value of the command line.
fn unknown(why: &dyn std::error::Error) -> Diagnostics {
    Diagnostic::error(Span::FILE, why.to_string()).into()
}

/// Links an object file to a shared library.
///
/// # Errors
///
/// Errors if the linker is missing or fails, or if a file cannot be written or read.
fn linked(object: &[u8], host: &mut dyn Host) -> io::Result<Vec<u8>> {
    let folder = host.scratch_dir()?;
    let (from, to) = (folder.join("module.o"), folder.join("module.so"));
    host.write(&from, object)?;
    let linker = host.variable("CC").unwrap_or_else(|| "cc".to_owned());
    let [object, library] = [&from, &to].map(|path| shell_word(&path.to_string_lossy()));
    let command = format!("{linker} -shared -o {library} {object}");
    match host.shell(&command, LINKING)? {
        ProcessEnd::Code(0) => host.read(&to, u64::MAX),
        ProcessEnd::Code(code) => {
            let message = format!("`{linker} -shared` ended with exit code {code}");
            Err(io::Error::other(message))
        }
        ProcessEnd::Signal(_) | ProcessEnd::TimedOut => {
            let message = format!("`{linker} -shared` was killed or timed out");
            Err(io::Error::other(message))
        }
    }
}
