//! Encodes instructions; jumps and references to constants are patched at the end.

use iced_x86::{Code, Encoder as Iced, Instruction};

use super::CompileError;
use super::pool::Pool;

/// A jump target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Label(usize);

/// Encodes a sequence of instructions.
///
/// No other module encodes bytes.
pub(super) struct Encoder {
    iced: Iced,
    position: usize,
    labels: Vec<Option<usize>>,
    /// Offsets of 4-byte displacements, and the labels that they refer to.
    jumps: Vec<(usize, Label)>,
    /// Offset of a 4-byte displacement, offset of the next instruction, and offset in the pool.
    constants: Vec<(usize, usize, u32)>,
    detours: Vec<Detour>,
    error: Option<CompileError>,
}

/// A rare instruction, placed out of line.
struct Detour {
    entry: Label,
    instruction: Instruction,
    /// The label to return to.
    back: Label,
}

/// Multi-byte `nop`s, the longest last.
const NOPS: [&[u8]; 8] = [
    &[0x90],
    &[0x66, 0x90],
    &[0x0f, 0x1f, 0x00],
    &[0x0f, 0x1f, 0x40, 0x00],
    &[0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
    &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
];

impl Encoder {
    pub fn new() -> Encoder {
        let mut iced = Iced::new(64);
        iced.set_buffer(Vec::with_capacity(1024));
        Encoder {
            iced,
            position: 0,
            labels: Vec::new(),
            jumps: Vec::new(),
            constants: Vec::new(),
            detours: Vec::new(),
            error: None,
        }
    }

    pub fn new_label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Binds `label` to the current offset.
    pub fn bind(&mut self, label: Label) {
        self.labels[label.0] = Some(self.position);
    }

    /// Encodes an instruction whose operands are set.
    pub fn put(&mut self, instruction: &Instruction) {
        match self.iced.encode(instruction, self.position as u64) {
            Ok(length) => self.position += length,
            Err(source) => {
                let code = instruction.code();
                let refused = CompileError::Encoding {
                    instruction: format!("{code:?}"),
                    reason: source.to_string(),
                };
                self.error.get_or_insert(refused);
            }
        }
    }

    /// Encodes an instruction with a reference to a constant.
    pub fn put_with_constant(&mut self, instruction: &Instruction, pool_offset: u32) {
        let start = self.position;
        self.put(instruction);
        let at = start + self.iced.get_constant_offsets().displacement_offset();
        self.constants.push((at, self.position, pool_offset));
    }

    /// Jumps to `label`, unconditionally or with the conditional jump `code`.
    pub fn jump(&mut self, code: Code, label: Label) {
        let target = self.position as u64;
        match Instruction::with_branch(code, target) {
            Ok(instruction) => self.put(&instruction),
            Err(_) => unreachable!("{code:?} is a jump"),
        }
        self.jumps.push((self.position - 4, label));
    }

    /// Places `instruction` out of line: jumps to `entry` execute it and continue at `back`.
    pub fn detour(&mut self, entry: Label, instruction: Instruction, back: Label) {
        self.detours.push(Detour {
            entry,
            instruction,
            back,
        });
    }

    /// Pads with `nop`s to a multiple of `bytes`.
    pub fn align(&mut self, bytes: usize) {
        let mut gap = self.position.next_multiple_of(bytes) - self.position;
        while gap > 0 {
            let nop = NOPS[gap.min(NOPS.len()) - 1];
            nop.iter().for_each(|&byte| self.iced.write_u8(byte));
            self.position += nop.len();
            gap -= nop.len();
        }
    }

    /// Returns the code followed by its constants, aligned to 64 bytes, and the offset of the constants.
    pub fn finish(mut self, pool: &Pool) -> Result<(Vec<u8>, usize), CompileError> {
        for detour in std::mem::take(&mut self.detours) {
            self.bind(detour.entry);
            self.put(&detour.instruction);
            self.jump(Code::Jmp_rel32_64, detour.back);
        }
        if let Some(error) = self.error {
            return Err(error);
        }
        let mut bytes = self.iced.take_buffer();
        let end = bytes.len();
        let constants = end.next_multiple_of(64);
        let distance = |bytes: &mut Vec<u8>, at: usize, next: usize, target: usize| {
            let distance = (target as i64 - next as i64) as i32;
            bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        };
        for &(at, label) in &self.jumps {
            let target = self.labels[label.0].expect("every label is bound");
            distance(&mut bytes, at, at + 4, target);
        }
        for &(at, next, offset) in &self.constants {
            distance(&mut bytes, at, next, constants + offset as usize);
        }
        if !pool.bytes().is_empty() {
            bytes.resize(constants, 0xcc);
            bytes.extend_from_slice(pool.bytes());
        }
        Ok((bytes, end))
    }
}
