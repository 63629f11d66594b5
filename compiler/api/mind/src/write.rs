//! Writes modules in file formats.

use std::path::{Path, PathBuf};

use mind_diag::Diagnostics;
use mind_draw::Detail;
use mind_driver::disk::Disk;
use mind_driver::engine::object_file;
use mind_driver::formats::{BinaryOptions, FormatInfo, Linking, Output, Write, WriteOptions};
use mind_driver::host::FileSystem;
use mind_driver::input::FileError;
use mind_driver::mil;
use mind_ir::Graph;
use mind_jit::program::ObjectConfig;
use mind_mil::check::Interface;
use mind_to_mil::Config;

use crate::error::{Error, invalid};
use crate::module::{Module, error, session};

/// A module in the format of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Written {
    /// Text.
    Text(String),
    /// The bytes of a binary file.
    Bytes(Vec<u8>),
    /// An object file and its C header.
    Object {
        /// The bytes of the object file.
        file: Vec<u8>,
        /// The text of the header.
        header: String,
    },
    /// The files of a package, by relative path.
    Folder(Vec<(PathBuf, Vec<u8>)>),
}

impl Written {
    /// Returns the names of the formats that can be written. Shared libraries are excluded, because they need a linker.
    pub fn formats() -> Vec<&'static str> {
        FormatInfo::words(Written::holds)
    }

    /// Returns whether modules can be written in a format.
    fn holds(row: &FormatInfo) -> bool {
        !matches!(
            row.write,
            None | Some(Write::Description | Write::Object(Linking::Shared))
        )
    }
}

impl Module {
    /// Writes the module in the format called `format`: `mic1`, `mic2`, `core`, `mil`, `mil-primer`, `mlpackage`,
    /// `onnx`, `c`, `object`, `dot`, `svg` or `html`.
    ///
    /// ```
    /// use mind::{Module, Written};
    ///
    /// let module = Module::parse("mic@2\nT0 f32 1 4\na x T0\nr 0\nO 1")?;
    /// let Written::Text(drawing) = module.write("svg")? else { panic!("a drawing is a text") };
    /// assert!(drawing.starts_with("<svg"));
    /// let Written::Bytes(model) = module.write("onnx")? else { panic!("an ONNX model is bytes") };
    /// let read = Module::from_bytes("relu.onnx", model, &Default::default())?;
    /// assert!(read.to_string().ends_with("outputs: %1 {name=out0}"), "ONNX outputs have names: {read}");
    /// let refused = module.write("onyx").unwrap_err();
    /// assert!(refused.to_string().contains("`onyx` is not a format that a module is written in"), "{refused}");
    /// # Ok::<(), mind::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Errors if the format is unknown or cannot express the module.
    pub fn write(&self, format: &str) -> Result<Written, Error> {
        let row = FormatInfo::named(format);
        let written = row.and_then(|row| self.written(row));
        written.unwrap_or_else(|| {
            let message = format!(
                "`{format}` is not a format that a module is written in; those are {}",
                Written::formats().join(", ")
            );
            Err(invalid("<format>", format, message))
        })
    }

    /// Writes the module to a file in the format of its extension: `.mic` or `.mic1`, `.mic2`, `.core`, `.mil`,
    /// `.onnx`, `.c`, `.o` with a C header of the same name, `.dot`, `.svg`, `.html`, or `.mlpackage` for a folder.
    /// `.mic` means mic@2 if the module was read from mic@2.
    ///
    /// # Errors
    ///
    /// Errors if the extension is unknown, if the format cannot express an op, or if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let row = self.row_of(path);
        let row = row.map_err(|message| self.refused(error(message)))?;
        let written = self.written(row);
        let written = written.unwrap_or_else(|| {
            let message = format!("`{}` is not written from a module", row.word);
            Err(self.refused(error(message)))
        });
        let stored = match written? {
            Written::Text(text) => Disk.write(path, text.as_bytes()),
            Written::Bytes(bytes) => Disk.write(path, &bytes),
            Written::Object { file, header } => {
                let declared = Disk.write(&path.with_extension("h"), header.as_bytes());
                declared.and_then(|()| Disk.write(path, &file))
            }
            Written::Folder(files) => {
                let files: Vec<(&Path, &[u8])> = files
                    .iter()
                    .map(|(path, bytes)| (path.as_path(), bytes.as_slice()))
                    .collect();
                Disk.write_package(path, &files)
            }
        };
        let failed = |source| FileError::System {
            path: path.to_owned(),
            source,
        };
        Ok(stored.map_err(failed)?)
    }

    /// Returns the format of a file's extension.
    ///
    /// # Errors
    ///
    /// Errors, in one line, if the extension is unknown.
    fn row_of(&self, path: &Path) -> Result<&'static FormatInfo, String> {
        let path = path.to_string_lossy();
        let output = Output {
            to: None,
            path: Some(&path),
            writes: Written::holds,
        };
        let row = output.format(Some(self.format));
        let row = row.map_err(|error| error.to_string())?;
        row.ok_or_else(|| {
            format!("the name of `{path}` has no extension that selects a format: write for example `{path}.core`")
        })
    }

    /// Writes the module in a format; returns `None` if the format does not represent modules.
    fn written(&self, row: &'static FormatInfo) -> Option<Result<Written, Error>> {
        let write = row.write?;
        let written = match write {
            Write::Text(_) | Write::C(_) | Write::Drawing(_) => self.text(write, &self.graph)?,
            Write::Program(_) => match self.program(Config::default().interface) {
                Ok(program) => self.text(write, &program)?,
                Err(found) => Err(found),
            },
            Write::Package => self.program(Interface::Any).and_then(package),
            Write::Binary(binary) => {
                binary(&self.graph, &BinaryOptions::default()).map(|own| Written::Bytes(own.file))
            }
            Write::Object(Linking::Object) => {
                let file = object_file(session(), self.graph.clone(), &ObjectConfig::default());
                file.map(|own| Written::Object {
                    file: own.bytes,
                    header: own.header,
                })
            }
            Write::Object(Linking::Shared) | Write::Description => return None,
        };
        Some(written.map_err(|found| self.refused(found)))
    }

    fn text(&self, write: Write, graph: &Graph) -> Option<Result<Written, Diagnostics>> {
        let options = WriteOptions {
            name: self.source.name(),
            input: self.format,
            function: "module",
            has_main: false,
            detail: Detail::Folded,
        };
        let text = write.text(session(), graph, &options)?;
        Some(text.map(Written::Text))
    }

    /// Returns the module lowered to MIL, with the types of inputs and outputs of `interface`.
    fn program(&self, interface: Interface) -> Result<Graph, Diagnostics> {
        let mut program = self.graph.clone();
        let config = Config {
            interface,
            ..Config::default()
        };
        mil::lower(session(), &mut program, &config)?;
        Ok(program)
    }
}

/// Converts a MIL program to a Core ML package.
fn package(mut program: Graph) -> Result<Written, Diagnostics> {
    mind_mil::names::assign_names(&mut program);
    let package = mind_coreml::package::package(&program)?;
    let data = Path::new("Data").join("com.apple.CoreML");
    Ok(Written::Folder(vec![
        (data.join("weights").join("weight.bin"), package.weights),
        (data.join("model.mlmodel"), package.model),
        (
            PathBuf::from("Manifest.json"),
            package.manifest.into_bytes(),
        ),
    ]))
}
