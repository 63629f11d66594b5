//! How files are read.

use mind_diag::{Diagnostic, Span};
use mind_driver::formats::{FormatInfo, LoadOptions};

use crate::error::{Error, refused};
use crate::module::Format;
use crate::run::Tensor;

/// How [`Module::from_file_with`](crate::Module::from_file_with) reads a file.
///
/// An ONNX model may compute with its open dimensions and with inputs that nothing ever changes. Given their extents and
/// arrays, shapes are numbers from the start:
///
/// ```
/// use mind::{Module, ReadOptions, Tensor};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/classifier.onnx");
/// let open = Module::from_file(path)?;
/// assert_eq!(open.inputs()[0].ty.to_string(), "f32[batch, 1, 8, 8]");
///
/// let batches = ReadOptions::new().dim("batch", 4);
/// let module = Module::from_file_with(path, &batches)?;
/// assert_eq!(module.inputs()[0].ty.to_string(), "f32[4, 1, 8, 8]");
///
/// let image = Tensor::of(vec![1, 1, 8, 8], vec![0.5f32; 64]);
/// let module = Module::from_file_with(path, &ReadOptions::new().bind("image", image))?;
/// assert!(module.inputs().is_empty());
/// # Ok::<(), mind::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    pub(crate) load: LoadOptions,
}

impl ReadOptions {
    /// Those of [`Module::from_file`](crate::Module::from_file): nothing is given, and the content tells the format.
    pub fn new() -> ReadOptions {
        ReadOptions::default()
    }

    /// Reads the file as `format`, whatever its content looks like.
    pub fn format(mut self, format: Format) -> ReadOptions {
        self.load.from = Some(format.info());
        self
    }

    /// Reads the file as the format that the tools call `word`, as `onnx` or `stablehlo`, whatever its content looks like.
    ///
    /// ```
    /// use mind::ReadOptions;
    ///
    /// assert!(ReadOptions::new().format_called("stablehlo").is_ok());
    /// let refused = ReadOptions::new().format_called("onyx").unwrap_err();
    /// assert!(refused.to_string().contains("`onyx` is not a format that a module is read from"), "{refused}");
    /// ```
    ///
    /// # Errors
    ///
    /// A word that is not a format that modules are read from.
    pub fn format_called(mut self, word: &str) -> Result<ReadOptions, Error> {
        let is_read = |row: &FormatInfo| row.read.is_some() && !row.is_description();
        let row = FormatInfo::named(word).filter(|row| is_read(row));
        self.load.from = Some(row.ok_or_else(|| {
            let known = FormatInfo::words(is_read).join(", ");
            let message =
                format!("`{word}` is not a format that a module is read from; those are {known}");
            refused("<format>", word, Diagnostic::error(Span::FILE, message))
        })?);
        Ok(self)
    }

    /// Gives the open dimension `name` its extent: an ONNX model or a module of StableHLO is read with it, and it replaces
    /// the name in the types of any other module.
    ///
    /// ```
    /// use mind::{Module, ReadOptions};
    ///
    /// let text = b"mic@2\nS B\nT0 f32 B\na x T0\nr 0\nO 1".to_vec();
    /// let module = Module::from_bytes("relu.mic", text, &ReadOptions::new().dim("B", 4))?;
    /// assert_eq!(module.outputs()[0].ty.to_string(), "f32[4]");
    /// # Ok::<(), mind::Error>(())
    /// ```
    pub fn dim(mut self, name: impl Into<String>, extent: usize) -> ReadOptions {
        self.load.dims.push((name.into(), extent));
        self
    }

    /// Makes the input `name` of an ONNX model or of a module of StableHLO the constant `array`.
    pub fn bind(mut self, name: impl Into<String>, array: Tensor) -> ReadOptions {
        self.load.bound.push((name.into(), array));
        self
    }

    /// Whether products of dequantised bytes of an ONNX model stay products of floats, as a program of MIL needs them,
    /// and do not become exact sums of products of the bytes.
    pub fn keeps_dequantized(mut self, keeps: bool) -> ReadOptions {
        self.load.keeps_dequantized = keeps;
        self
    }

    /// # Errors
    ///
    /// Arrays that are given to a module of a format that takes none.
    pub(crate) fn check(&self, path: &str, format: Option<&FormatInfo>) -> Result<(), Error> {
        if self.load.bound.is_empty() || format.is_some_and(FormatInfo::reads_dims) {
            return Ok(());
        }
        let message = "arrays of inputs are given to ONNX models and StableHLO alone";
        let help = "bind the weights of another module to its executable";
        let found = Diagnostic::error(Span::FILE, message).help(help);
        Err(refused(path, "", found))
    }
}
