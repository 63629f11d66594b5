//! The encodings of vector instructions.

use crate::target::Target;

use super::view::View;

/// How vector instructions are encoded, which decides what they can name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Encoding {
    /// AVX2: 16 registers of 256 bits; masks are vectors.
    Vex,
    /// AVX-512: 32 registers of 512 bits, and mask registers.
    Evex,
}

impl Encoding {
    /// The encoding for `target`.
    pub(super) const fn of(target: &Target) -> Encoding {
        if target.has_masks {
            Encoding::Evex
        } else {
            Encoding::Vex
        }
    }

    /// Whether lanes are switched off by mask registers.
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
