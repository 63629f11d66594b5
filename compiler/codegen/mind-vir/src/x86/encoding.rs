//! The encodings of vector instructions.

use crate::target::Target;

use super::view::View;

/// The encoding of vector instructions, which decides which registers they can name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Encoding {
    /// AVX2: 16 registers of 256 bits; masks are vectors.
    Vex,
    /// AVX-512: 32 registers of 512 bits, and mask registers.
    Evex,
}

impl Encoding {
    /// Returns the encoding for `target`.
    pub(super) const fn of(target: &Target) -> Encoding {
        if target.has_masks {
            Encoding::Evex
        } else {
            Encoding::Vex
        }
    }

    /// Returns whether lanes are masked by mask registers.
    pub(super) const fn has_masks(self) -> bool {
        matches!(self, Encoding::Evex)
    }

    /// The whole of a vector register.
    pub(super) const fn full(self) -> View {
        match self {
            Encoding::Vex => View::Ymm,
            Encoding::Evex => View::Zmm,
        }
    }

    /// Bytes of a vector register.
    pub(super) const fn vector_bytes(self) -> u32 {
        match self {
            Encoding::Vex => 32,
            Encoding::Evex => 64,
        }
    }
}
