//! Dialects of MIL text.

/// Dialect of MIL text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spelling {
    /// The output of Apple's compilers.
    Compiler,
    /// The form in the primer for handwritten MIL: fp16 numbers as hexadecimal bits, constants as call arguments.
    Primer,
}
