//! Products of byte matrices in the tile registers of AMX.

use iced_x86::{Code, IcedError, Instruction, MemoryOperand, Register};
use regalloc2::PReg;

use super::encoder::Encoder;
use super::registers;
use super::view::View;

/// Rows of a tile register, and 4-byte words in a row.
pub(super) const SIDE: u32 = 16;

/// Unroll factor of the loop over the contracted dimension.
const UNROLL: u32 = 2;

/// A product of byte matrices with up to 2 by 2 accumulator tiles of one shape.
///
/// Operands: pointers to the result and to both matrices, then [`TEMPORARIES`](TileProduct::TEMPORARIES) temporary
/// general registers. The tile registers must have the shapes of [`shapes`](TileProduct::shapes).
#[derive(Clone, Copy, Debug)]
pub(super) struct TileProduct {
    /// Accumulator tiles vertically, and rows of one.
    pub rows: (u32, u32),
    /// Accumulator tiles horizontally, and columns of one.
    pub columns: (u32, u32),
    /// Words along the contracted dimension.
    pub words: u32,
    /// Whether the bytes of the first and of the second matrix are signed.
    pub signs: [bool; 2],
    /// Row strides in bytes of the result and of both matrices.
    pub strides: [u32; 3],
}

/// Rows, and bytes per row, of each tile register; 0 for unused ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TileShapes([(u8, u16); 8]);

impl TileShapes {
    /// Size of a tile configuration in bytes.
    const BYTES: usize = 64;

    /// Returns the tile configuration for `ldtilecfg`.
    pub fn config(&self) -> Vec<u8> {
        const PALETTE: u8 = 1;
        const ROW_BYTES: usize = 16;
        const ROWS: usize = 48;
        let mut bytes = vec![0; TileShapes::BYTES];
        bytes[0] = PALETTE;
        for (at, (rows, row_bytes)) in self.0.into_iter().enumerate() {
            bytes[ROW_BYTES + 2 * at..][..2].copy_from_slice(&row_bytes.to_le_bytes());
            bytes[ROWS + at] = rows;
        }
        bytes
    }
}

/// Tile registers for the first or the second matrix: part `at` uses register `at` modulo their number.
#[derive(Clone, Copy, Debug)]
struct Bank {
    first: u32,
    count: u32,
}

impl Bank {
    fn register(self, at: u32) -> Register {
        Register::TMM0 + self.first + at % self.count
    }
}

/// The tile registers of a step along the contracted dimension.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Words along the contracted dimension.
    words: u32,
    lhs: Bank,
    rhs: Bank,
}

impl TileProduct {
    /// Temporary general registers: pointers into both matrices, two strides, and a counter.
    pub const TEMPORARIES: usize = 5;

    /// Returns the number of full steps, and the remaining words.
    const fn steps(&self) -> (u32, u32) {
        (self.words / SIDE, self.words % SIDE)
    }

    /// Returns the tile registers of full steps, and those of the remainder. If both exist and there are too few
    /// registers for all parts of both matrices, the parts share registers.
    fn banks(&self) -> [Step; 2] {
        const REGISTERS: u32 = 8;
        let (whole, rest) = self.steps();
        let kinds = u32::from(whole > 0) + u32::from(rest > 0);
        let (rows, columns) = (self.rows.0, self.columns.0);
        let sums = rows * columns;
        let (left, right) = if sums + kinds * (rows + columns) <= REGISTERS {
            (rows, columns)
        } else {
            (1, 1)
        };
        let bank = |first: u32, count: u32| Bank { first, count };
        let first = Step {
            words: SIDE,
            lhs: bank(sums, left),
            rhs: bank(sums + left, right),
        };
        let after_sums = if whole > 0 { sums + left + right } else { sums };
        let last = Step {
            words: rest,
            lhs: bank(after_sums, left),
            rhs: bank(after_sums + left, right),
        };
        [first, last]
    }

    /// Returns the shapes of the tile registers.
    pub fn shapes(&self) -> TileShapes {
        let bytes = |words: u32| (4 * words) as u16;
        let (height, width) = (self.rows.1, self.columns.1);
        let mut shapes = [(0, 0); 8];
        let mut set = |bank: Bank, rows: u32, row_bytes: u16| {
            let own = shapes.iter_mut().skip(bank.first as usize);
            own.take(bank.count as usize)
                .for_each(|shape| *shape = (rows as u8, row_bytes));
        };
        let sums = Bank {
            first: 0,
            count: self.rows.0 * self.columns.0,
        };
        set(sums, height, bytes(width));
        let (whole, rest) = self.steps();
        let [first, last] = self.banks();
        for (step, count) in [(first, whole), (last, rest)] {
            if count > 0 {
                set(step.lhs, height, bytes(step.words));
                set(step.rhs, step.words, bytes(width));
            }
        }
        TileShapes(shapes)
    }

    /// Encodes the product.
    pub fn emit(&self, encoder: &mut Encoder, regs: &[PReg]) -> Result<(), IcedError> {
        let gpr = |at: usize| registers::named(regs[at], View::Gpr64);
        let [to_stride, lhs_stride, rhs_stride] = self.strides.map(|stride| stride as i32);
        let mut body = Body {
            node: self,
            encoder,
            lhs: gpr(3),
            rhs: gpr(4),
            strides: [gpr(5), gpr(6)],
        };
        let counter = gpr(7);
        body.start(gpr(1), gpr(2), [lhs_stride, rhs_stride])?;
        let (whole, rest) = self.steps();
        let [first, last] = self.banks();
        let rounds = whole / UNROLL;
        let mut done = 0;
        if rounds > 1 {
            body.rounds(counter, rounds, first)?;
            done = rounds * UNROLL;
        }
        for ahead in 0..whole - done {
            body.step(first, ahead)?;
        }
        if rest > 0 {
            body.step(last, whole - done)?;
        }
        body.store(gpr(0), counter, to_stride)
    }
}

struct Body<'a, 'e> {
    node: &'a TileProduct,
    encoder: &'e mut Encoder,
    /// Pointers to the operands of the next step.
    lhs: Register,
    rhs: Register,
    /// Row strides in bytes of both matrices.
    strides: [Register; 2],
}

impl Body<'_, '_> {
    fn put(&mut self, instruction: Result<Instruction, IcedError>) -> Result<(), IcedError> {
        self.encoder.put(&instruction?);
        Ok(())
    }

    fn number(&mut self, register: Register, number: i32) -> Result<(), IcedError> {
        let low = register.full_register32();
        self.put(Instruction::with2(Code::Mov_r32_imm32, low, number))
    }

    /// Zeroes the accumulators and initialises the general registers.
    fn start(&mut self, lhs: Register, rhs: Register, strides: [i32; 2]) -> Result<(), IcedError> {
        for (to, from) in [(self.lhs, lhs), (self.rhs, rhs)] {
            self.put(Instruction::with2(Code::Mov_r64_rm64, to, from))?;
        }
        for (register, stride) in self.strides.into_iter().zip(strides) {
            self.number(register, stride)?;
        }
        for at in 0..self.node.rows.0 * self.node.columns.0 {
            let sum = Register::TMM0 + at;
            self.put(Instruction::with1(Code::VEX_Tilezero_tmm, sum))?;
        }
        Ok(())
    }

    /// Repeats steps and advances the pointers.
    fn rounds(&mut self, counter: Register, rounds: u32, step: Step) -> Result<(), IcedError> {
        self.number(counter, rounds as i32)?;
        self.encoder.align(32);
        let head = self.encoder.new_label();
        self.encoder.bind(head);
        for ahead in 0..UNROLL {
            self.step(step, ahead)?;
        }
        let of_lhs = UNROLL * 4 * SIDE;
        let of_rhs = UNROLL * SIDE * self.node.strides[2];
        for (register, bytes) in [(self.lhs, of_lhs), (self.rhs, of_rhs)] {
            let bytes = bytes as i32;
            self.put(Instruction::with2(Code::Add_rm64_imm32, register, bytes))?;
        }
        self.put(Instruction::with1(Code::Dec_rm64, counter))?;
        self.encoder.jump(Code::Jne_rel32_64, head);
        Ok(())
    }

    /// Accumulates a step, `ahead` full steps after the pointers.
    fn step(&mut self, step: Step, ahead: u32) -> Result<(), IcedError> {
        let (rows, columns) = (self.node.rows, self.node.columns);
        let [_, lhs_stride, rhs_stride] = self.node.strides;
        let lhs = |at: u32| i64::from(at * rows.1) * i64::from(lhs_stride) + i64::from(64 * ahead);
        let rhs = |at: u32| {
            i64::from(4 * at * columns.1) + i64::from(ahead * SIDE) * i64::from(rhs_stride)
        };
        // The contents of the tile registers. Odd rows of parts are traversed backwards, so that one part is reused.
        let (mut left, mut right) = ([None; 2], [None; 2]);
        for row in 0..rows.0 {
            for turn in 0..columns.0 {
                let column = if row % 2 == 0 {
                    turn
                } else {
                    columns.0 - 1 - turn
                };
                let (x, y) = (step.lhs.register(row), step.rhs.register(column));
                if left[(row % step.lhs.count) as usize].replace(row) != Some(row) {
                    self.load(x, (self.lhs, self.strides[0]), lhs(row))?;
                }
                if right[(column % step.rhs.count) as usize].replace(column) != Some(column) {
                    self.load(y, (self.rhs, self.strides[1]), rhs(column))?;
                }
                let sum = Register::TMM0 + (row * columns.0 + column);
                let code = multiply(self.node.signs);
                self.put(Instruction::with3(code, sum, x, y))?;
            }
        }
        Ok(())
    }

    fn load(
        &mut self,
        to: Register,
        (base, stride): (Register, Register),
        offset: i64,
    ) -> Result<(), IcedError> {
        let from = rows_at(base, stride, offset);
        self.put(Instruction::with2(Code::VEX_Tileloadd_tmm_sibmem, to, from))
    }

    /// Stores the accumulators.
    fn store(&mut self, to: Register, stride: Register, bytes: i32) -> Result<(), IcedError> {
        self.number(stride, bytes)?;
        let (rows, columns) = (self.node.rows, self.node.columns);
        for row in 0..rows.0 {
            for column in 0..columns.0 {
                let below = i64::from(row * rows.1) * i64::from(bytes);
                let place = rows_at(to, stride, below + i64::from(4 * column * columns.1));
                let sum = Register::TMM0 + (row * columns.0 + column);
                let code = Code::VEX_Tilestored_sibmem_tmm;
                self.put(Instruction::with2(code, place, sum))?;
            }
        }
        Ok(())
    }
}

/// A tile memory operand with a row stride, `offset` bytes after `base`.
fn rows_at(base: Register, stride: Register, offset: i64) -> MemoryOperand {
    let displ_size = u32::from(offset != 0);
    MemoryOperand::with_base_index_scale_displ_size(base, stride, 1, offset, displ_size)
}

/// Returns the dot-product instruction for bytes of these signs.
const fn multiply(signs: [bool; 2]) -> Code {
    match signs {
        [false, false] => Code::VEX_Tdpbuud_tmm_tmm_tmm,
        [false, true] => Code::VEX_Tdpbusd_tmm_tmm_tmm,
        [true, false] => Code::VEX_Tdpbsud_tmm_tmm_tmm,
        [true, true] => Code::VEX_Tdpbssd_tmm_tmm_tmm,
    }
}
