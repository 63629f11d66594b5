//! The rows of a graph's tables.

use mind_diag::Span;
use smallvec::SmallVec;

use super::ValueRange;

use crate::entity::{BlockId, OpId, Sym, Ty, UseId, ValueId};
use crate::opdef::OpDef;

#[derive(Clone, Copy)]
pub(super) struct OpData {
    pub(super) def: &'static OpDef,
    /// The index of its first attribute; the others follow.
    pub(super) first_attr: u32,
    pub(super) results: ValueRange,
    /// The index of the slot of operand 0; the others follow.
    pub(super) first_use: u32,
    pub(super) operand_count: u32,
    /// The index of its first region; the others follow.
    pub(super) first_region: u32,
    pub(super) span: Span,
    pub(super) parent: Option<BlockId>,
    pub(super) prev: Option<OpId>,
    pub(super) next: Option<OpId>,
}

#[derive(Clone, Copy)]
pub(super) struct ValueData {
    pub(super) label: u64,
    pub(super) def: ValueDef,
    pub(super) ty: Option<Ty>,
    pub(super) declared: Option<Ty>,
    pub(super) first_use: Option<UseId>,
}

/// An operand slot. The slots that read the same value form a doubly linked list.
#[derive(Clone, Copy)]
pub(super) struct UseData {
    pub(super) user: OpId,
    pub(super) prev: Option<UseId>,
    pub(super) next: Option<UseId>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct BlockData {
    pub(super) arguments: ValueRange,
    pub(super) owner: Option<OpId>,
    pub(super) first: Option<OpId>,
    pub(super) last: Option<OpId>,
}

#[derive(Clone, Copy)]
pub(super) struct RegionData {
    pub(super) block: BlockId,
}

/// The definition of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueDef {
    /// The result of an op, by position.
    Result(OpId, u32),
    /// The argument of a block, by position.
    Argument(BlockId, u32),
}

/// Declarations at the start of a text that do not affect its values. They are kept so that a module prints without
/// loss in the format that it was read from.
#[derive(Clone, Default, Debug)]
pub struct Preamble {
    /// Symbolic dimensions in the order of their declaration, repeats included.
    pub symbols: Vec<Sym>,
    /// Types in the order of their declaration, repeats and unused ones included.
    pub types: SmallVec<[Ty; 4]>,
    /// Inputs that refer to a repeated declaration other than the first, with its position; ascending by value.
    pub repeated: Vec<(ValueId, u32)>,
}
