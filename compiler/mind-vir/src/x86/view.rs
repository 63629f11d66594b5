//! How much of a register an operand is.

/// What part of a register an instruction names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum View {
    Xmm,
    Ymm,
    Zmm,
    Mask,
    Gpr32,
    Gpr64,
}
