//! Libraries that the linker makes of object files.

use std::path::Path;
use std::process::Command;

use mind_vir::object::Container;

/// What the functions of a file end with.
pub(super) const FUNCTIONS: [&str; 4] = ["bound_bytes", "workspace_bytes", "bind", "run"];

/// What a library of Windows takes from the runtime of C.
const RUNTIME: &str = "LIBRARY vcruntime140.dll\nEXPORTS\n  memcpy\n";

/// What a library of macOS takes from the system.
const SYSTEM: &str = "--- !tapi-tbd\ntbd-version: 4\ntargets: [ x86_64-macos, arm64-macos ]\n\
    install-name: '/usr/lib/libSystem.B.dylib'\nexports:\n  - targets: [ x86_64-macos, arm64-macos ]\n    \
    symbols: [ _memcpy, dyld_stub_binder ]\n...\n";

/// Returns the bytes of the library that is made of an object file and the function `memcpy` of the system.
///
/// # Errors
///
/// The linker refuses the file, or says anything.
pub(super) fn link(
    linker: &Path,
    container: Container,
    object: &[u8],
    folder: &Path,
) -> Result<Vec<u8>, String> {
    let failed = |why: std::io::Error| why.to_string();
    let [file, library] = ["module.o", "module.lib"].map(|name| folder.join(name));
    std::fs::write(&file, object).map_err(failed)?;
    match container {
        Container::Coff => {
            let [definitions, runtime] =
                ["runtime.def", "runtime.lib"].map(|name| folder.join(name));
            std::fs::write(&definitions, RUNTIME).map_err(failed)?;
            let mut imports = Command::new(linker);
            imports.args(["-flavor", "link", "/lib", "/machine:x64"]);
            imports.arg(format!("/def:{}", definitions.display()));
            imports.arg(format!("/out:{}", runtime.display()));
            silent(&mut imports)?;
            let mut link = Command::new(linker);
            link.args(["-flavor", "link", "/dll", "/noentry", "/machine:x64", "/wx"]);
            link.args(FUNCTIONS.map(|name| format!("/export:module_{name}")));
            link.arg(format!("/out:{}", library.display()));
            silent(link.args([&file, &runtime]))?;
        }
        Container::MachO => {
            std::fs::write(folder.join("libSystem.tbd"), SYSTEM).map_err(failed)?;
            let architecture = match std::env::consts::ARCH {
                "aarch64" => "arm64",
                other => other,
            };
            let mut link = Command::new(linker);
            link.args([
                "-flavor",
                "darwin",
                "-dylib",
                "-fatal_warnings",
                "-arch",
                architecture,
            ]);
            link.args([
                "-platform_version",
                "macos",
                "11.0",
                "11.0",
                "-lSystem",
                "-L",
            ]);
            silent(link.arg(folder).arg("-o").args([&library, &file]))?;
        }
        Container::Elf => return Err("the system's own linker links it".to_owned()),
    }
    std::fs::read(&library).map_err(failed)
}

/// Runs a command that is to say nothing.
fn silent(command: &mut Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|why| format!("{command:?}: {why}"))?;
    let said = [output.stdout, output.stderr].concat();
    if output.status.success() && said.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{command:?}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&said)
    ))
}
