//! Products of matrices of bytes.

use iced_x86::Code;
use regalloc2::Operand;

use crate::ir::{Block, ByteProduct, Loop, Statement};

use super::super::machine::{Mem, Node};
use super::super::tiles::{SIDE, TileProduct, TileShapes};
use super::Select;

/// A block of rows or columns of a product: its start, the number of tile registers, and the rows or columns of one.
#[derive(Clone, Copy)]
struct TileBlock {
    start: u32,
    registers: (u32, u32),
}

/// Splits `extent` rows or columns into blocks whose tile registers have one shape.
fn tile_blocks(extent: u32) -> impl Iterator<Item = TileBlock> + Clone {
    let (whole, rest) = (extent / SIDE, extent % SIDE);
    let part = |start: u32, count: u32, size: u32| TileBlock {
        start,
        registers: (count, size),
    };
    let whole = (whole > 0).then(|| part(0, whole, SIDE));
    let rest = (rest > 0).then(|| part(extent - rest, 1, rest));
    whole.into_iter().chain(rest)
}

/// Splits a product into products of one tile shape, with the first row and column of each.
fn tile_products(product: &ByteProduct) -> impl Iterator<Item = (TileProduct, u32, u32)> {
    let (words, signs) = (product.words, product.signs);
    let strides = product.matrices().map(|rows| rows.stride);
    let columns = tile_blocks(product.columns);
    tile_blocks(product.rows).flat_map(move |below| {
        columns.clone().map(move |right| {
            let node = TileProduct {
                rows: below.registers,
                columns: right.registers,
                words,
                signs,
                strides,
            };
            (node, below.start, right.start)
        })
    })
}

/// The tile shapes that code needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needed {
    None,
    One(TileShapes),
    Several,
}

impl Needed {
    fn and(self, other: Needed) -> Needed {
        match (self, other) {
            (Needed::None, only) | (only, Needed::None) => only,
            (Needed::One(shapes), Needed::One(others)) if shapes == others => self,
            (Needed::One(_) | Needed::Several, Needed::One(_) | Needed::Several) => Needed::Several,
        }
    }

    fn by(block: &Block) -> Needed {
        let each = block.statements.iter().map(|statement| match statement {
            Statement::ByteProduct(product) => {
                let shapes = tile_products(product).map(|(node, ..)| Needed::One(node.shapes()));
                shapes.fold(Needed::None, Needed::and)
            }
            Statement::Loop(node) => Needed::by(&node.body),
            Statement::Let(..)
            | Statement::Store { .. }
            | Statement::StoreFirst { .. }
            | Statement::Prefetch(_)
            | Statement::IfAny(_) => Needed::None,
        });
        each.fold(Needed::None, Needed::and)
    }
}

impl Select<'_> {
    pub(super) fn byte_product(&mut self, product: &ByteProduct) {
        let [to, lhs, rhs] = product.matrices();
        for (node, row, column) in tile_products(product) {
            self.configure(node.shapes());
            let right = i64::from(ByteProduct::WORD * column);
            let starts = [
                (to.start, to.offset(row) + right),
                (lhs.start, lhs.offset(row)),
                (rhs.start, right),
            ];
            let starts = starts.map(|(start, bytes)| match (self.pointer(&start), bytes) {
                (pointer, 0) => pointer,
                (pointer, bytes) => self.plus(pointer, bytes),
            });
            let temporaries =
                std::array::from_fn::<_, { TileProduct::TEMPORARIES }, _>(|_| self.new_gpr());
            let starts = starts.map(Operand::reg_use_at_end);
            let operands = [&starts[..], &temporaries.map(Operand::reg_def)].concat();
            self.machine.push(Node::TileProduct(node), &operands);
        }
        for rows in product.matrices() {
            self.uses.spend(rows.start.base);
            if let Some(index) = rows.start.index {
                self.uses.spend(index);
            }
        }
    }

    /// Emits a tile configuration, unless these shapes are configured.
    fn configure(&mut self, shapes: TileShapes) {
        if self.shapes == Some(shapes) {
            return;
        }
        let config = self.pool.vector(shapes.config());
        self.emit(Code::VEX_Ldtilecfg_m512)
            .mem(Mem::pool(config))
            .done();
        self.shapes = Some(shapes);
    }

    /// Configures the shapes of a loop before it, if it has only one; otherwise the shapes are unknown in it and after
    /// it.
    pub(super) fn shapes_of_loop(&mut self, node: &Loop) {
        if !self.has_byte_products {
            return;
        }
        match Needed::by(&node.body) {
            Needed::None => {}
            Needed::One(shapes) => self.configure(shapes),
            Needed::Several => self.shapes = None,
        }
    }
}
