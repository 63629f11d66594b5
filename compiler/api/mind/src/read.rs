//! Options for reading files.

use mind_diag::{Diagnostic, Span};
use mind_driver::formats::{FormatInfo, LoadOptions};

use crate::error::{Error, refused};
use crate::module::Format;
use crate::run::Tensor;

/// Options of [`Module::from_file_with`](crate::Module::from_file_with).
///
/// An ONNX model may compute with its symbolic dimensions, and may have inputs that never change. Their extents and
/// arrays can be fixed when the model is read, so that all shapes are static:
///
/// ```
/// use mind::{Module, ReadOptions, Tensor};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/classifier.onnx");
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
    /// Returns the defaults of [`Module::from_file`](crate::Module::from_file): dimensions stay open, and the format is
    /// detected.
    pub fn new() -> ReadOptions {
        ReadOptions::default()
    }

    /// Reads the file as `format` instead of detecting the format.
    pub fn format(mut self, format: Format) -> ReadOptions {
        self.load.from = Some(format.info());
        self
    }

    /// Reads the file in the format called `word`, for example `onnx` or `stablehlo`, instead of detecting the format.
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
    /// Errors if `word` is not a format that modules are read from.
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

    /// Fixes the extent of the symbolic dimension `name`. ONNX and StableHLO modules are specialised while they are
    /// read, other modules afterwards.
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

    /// Replaces the input `name` of an ONNX or StableHLO module by the constant `array`.
    pub fn bind(mut self, name: impl Into<String>, array: Tensor) -> ReadOptions {
        self.load.bound.push((name.into(), array));
        self
    }

    /// Whether products of dequantised bytes of an ONNX model stay floating-point products, as MIL programs need them,
    /// instead of integer dot products.
    pub fn keeps_dequantized(mut self, keeps: bool) -> ReadOptions {
        self.load.keeps_dequantized = keeps;
        self
    }

    /// Checks that arrays are bound only in formats that support it.
    ///
    /// # Errors
    ///
    /// Errors if they are not.
    pub(crate) fn check(&self, path: &str, format: Option<&FormatInfo>) -> Result<(), Error> {
        if self.load.bound.is_empty() || format.is_some_and(FormatInfo::reads_dims) {
            return Ok(());
        }
        let message = "arrays can be bound to inputs only of ONNX and StableHLO files";
        let help = "bind the weights of another module to its executable";
        let found = Diagnostic::error(Span::FILE, message).help(help);
        Err(refused(path, "", found))
    }
}
