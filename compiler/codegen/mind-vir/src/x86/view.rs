//! Widths of register operands.

/// The part of a register that an instruction names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum View {
    Xmm,
    Ymm,
    Zmm,
    Mask,
    Gpr32,
    Gpr64,
}
