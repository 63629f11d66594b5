//! The registers of x86-64, as the allocator sees them.

use iced_x86::Register;
use regalloc2::{MachineEnv, PReg, RegClass};

use super::view::View;

/// General registers, by encoding.
const GPR64: [Register; 16] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RBX,
    Register::RSP,
    Register::RBP,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];

pub(super) const RAX: PReg = PReg::new(0, RegClass::Int);
pub(super) const RDX: PReg = PReg::new(2, RegClass::Int);
pub(super) const RDI: PReg = PReg::new(7, RegClass::Int);

/// Caller-saved registers; the stack and frame pointers are in neither list.
const CALLER_SAVED: [usize; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];
const CALLEE_SAVED: [usize; 5] = [3, 12, 13, 14, 15];

/// Returns the size of a spill slot in 8-byte words.
pub(super) const fn spill_words(class: RegClass) -> usize {
    match class {
        RegClass::Int | RegClass::Vector => 1,
        RegClass::Float => 8,
    }
}

fn pregs(class: RegClass, numbers: impl IntoIterator<Item = usize>) -> Vec<PReg> {
    let numbers = numbers.into_iter();
    numbers.map(|number| PReg::new(number, class)).collect()
}

/// Returns the allocatable registers: vectors are of class `Float`, masks of class `Vector`.
///
/// The mask register k0 is excluded, because it cannot predicate an instruction.
pub(super) fn environment(vectors: usize, has_masks: bool) -> MachineEnv {
    let masks = if has_masks { 1..8 } else { 0..0 };
    MachineEnv {
        preferred_regs_by_class: [
            pregs(RegClass::Int, CALLER_SAVED),
            pregs(RegClass::Float, 0..vectors),
            pregs(RegClass::Vector, masks),
        ],
        non_preferred_regs_by_class: [pregs(RegClass::Int, CALLEE_SAVED), Vec::new(), Vec::new()],
        scratch_by_class: [None; 3],
        fixed_stack_slots: Vec::new(),
    }
}

/// Returns whether a function must restore `preg`.
pub(super) fn is_callee_saved(preg: PReg) -> bool {
    preg.class() == RegClass::Int && CALLEE_SAVED.contains(&preg.hw_enc())
}

/// Returns the register for an instruction operand of width `view`.
pub(super) fn named(preg: PReg, view: View) -> Register {
    let number = preg.hw_enc() as u32;
    match view {
        View::Gpr64 => GPR64[preg.hw_enc()],
        View::Gpr32 => GPR64[preg.hw_enc()].full_register32(),
        View::Xmm => Register::XMM0 + number,
        View::Ymm => Register::YMM0 + number,
        View::Zmm => Register::ZMM0 + number,
        View::Mask => Register::K0 + number,
    }
}

/// Returns a general register of `bytes` bytes.
pub(super) fn sized(register: Register, bytes: u32) -> Register {
    let low = |base: Register, high: Register| {
        let number = register.number();
        if number < 4 {
            base + number as u32
        } else {
            high + (number as u32 - 4)
        }
    };
    match bytes {
        1 => low(Register::AL, Register::SPL),
        2 => Register::AX + register.number() as u32,
        4 => register.full_register32(),
        _ => register,
    }
}
