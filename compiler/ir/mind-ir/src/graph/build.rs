//! Creation of ops.

use mind_diag::Span;
use smallvec::SmallVec;

use super::data::{BlockData, OpData, RegionData, ValueData};
use super::shared::SharedBytes;
use super::{Graph, ValueDef, ValueRange};
use crate::attr::{Attr, Padding};
use crate::entity::{BlockId, OpId, RegionId, Ty, ValueId};
use crate::opdef::{OpDef, Trait};
use crate::types::TensorType;
use crate::verify::VerifyError;

/// The parts of a new op.
#[derive(Clone, Copy)]
pub struct NewOp<'a> {
    /// The op's table entry.
    pub def: &'static OpDef,
    /// The operands.
    pub operands: &'a [ValueId],
    /// The attributes, one per attribute of the table entry and in its order.
    pub attrs: &'a [Attr<'a>],
    /// The number of results.
    pub results: usize,
    /// The source location.
    pub span: Span,
}

/// The position of new ops.
#[derive(Clone, Copy, Debug)]
pub enum InsertPoint {
    /// After the last op of a block.
    End(BlockId),
    /// Before an op.
    Before(OpId),
}

impl Graph {
    /// Creates an unchecked and untyped op, with an empty block in each region of its table entry.
    ///
    /// Its results get the next labels. Use a [`Builder`](crate::builder::Builder) to create checked ops.
    ///
    /// # Panics
    ///
    /// If the number of attributes differs from the table entry, or `at` is an erased op.
    pub fn insert(&mut self, at: InsertPoint, new: NewOp<'_>) -> OpId {
        let (parent, prev, next) = match at {
            InsertPoint::End(block) => (block, self.blocks[block.index()].last, None),
            InsertPoint::Before(anchor) => (
                self.parent(anchor).expect("an anchor is in a block"),
                self.prev(anchor),
                Some(anchor),
            ),
        };
        self.create(new, parent, prev, next)
    }

    /// Creates an op at the end of the module's body, as [`Graph::insert`] does. Parsers use it because it is faster.
    #[inline(always)]
    pub fn append(&mut self, new: NewOp<'_>) -> OpId {
        let body = self.body();
        self.create(new, body, self.blocks[body.index()].last, None)
    }

    #[inline(always)]
    fn create(
        &mut self,
        new: NewOp<'_>,
        parent: BlockId,
        prev: Option<OpId>,
        next: Option<OpId>,
    ) -> OpId {
        assert_eq!(
            new.attrs.len(),
            new.def.attrs.len(),
            "{}: one attribute per row",
            new.def.name
        );
        let op = OpId::new(self.ops.len());
        let results = self.new_values(new.results, |index| ValueDef::Result(op, index));
        let first_attr = self.attrs.len() as u32;
        for &attr in new.attrs {
            let attr = self.store_attr(attr);
            self.attrs.push(attr);
        }
        self.ops.push(OpData {
            def: new.def,
            first_attr,
            results,
            first_use: self.uses.len() as u32,
            operand_count: new.operands.len() as u32,
            first_region: self.regions.len() as u32,
            span: new.span,
            parent: Some(parent),
            prev,
            next,
        });
        self.link_neighbours(op, parent, prev, next);
        self.push_operands(op, new.operands);
        if new.def.regions > 0 {
            self.add_regions(op, new.def.regions);
        }
        op
    }

    /// Returns the attributes of `op`. They are valid as long as the graph is.
    pub(crate) fn stored_attrs(&self, op: OpId) -> SmallVec<[Attr<'static>; 4]> {
        let first = self.ops[op.index()].first_attr as usize;
        self.attrs[first..][..self.def(op).attrs.len()].into()
    }

    #[cold]
    fn add_regions(&mut self, op: OpId, count: usize) {
        for _ in 0..count {
            let block = BlockId::new(self.blocks.len());
            self.blocks.push(BlockData {
                owner: Some(op),
                ..BlockData::default()
            });
            self.region_ids.push(RegionId::new(self.regions.len()));
            self.regions.push(RegionData { block });
        }
    }

    /// Adds arguments to a block without any.
    ///
    /// # Panics
    ///
    /// If the block has arguments.
    pub fn add_arguments(&mut self, block: BlockId, count: usize) -> ValueRange {
        assert!(
            self.arguments(block).is_empty(),
            "a block gets its arguments once"
        );
        let arguments = self.new_values(count, |index| ValueDef::Argument(block, index));
        self.blocks[block.index()].arguments = arguments;
        arguments
    }

    #[inline(always)]
    fn new_values(&mut self, count: usize, def: impl Fn(u32) -> ValueDef) -> ValueRange {
        let start = self.values.len();
        for index in 0..count {
            let label = self.fresh_label();
            let def = def(index as u32);
            self.values.push(ValueData {
                label,
                def,
                ty: None,
                declared: None,
                first_use: None,
            });
        }
        ValueRange::new(start, count)
    }

    /// Returns the attribute with the data that it borrows copied into the arena or, for large literals, shared.
    #[inline]
    pub(super) fn store_attr(&mut self, attr: Attr<'_>) -> Attr<'static> {
        match attr {
            Attr::Bool(value) => Attr::Bool(value),
            Attr::Str(sym) => Attr::Str(sym),
            attr => self.store_other_attr(attr),
        }
    }

    fn store_other_attr(&mut self, attr: Attr<'_>) -> Attr<'static> {
        match attr {
            Attr::Int(value) => Attr::Int(value),
            Attr::Bool(value) => Attr::Bool(value),
            Attr::Float(bits) => Attr::Float(bits),
            Attr::Str(sym) => Attr::Str(sym),
            Attr::Ints(list) => Attr::Ints(self.arena.slice(list)),
            Attr::Dims(list) => Attr::Dims(self.arena.slice(list)),
            Attr::Literal(literal) => {
                let bytes = if SharedBytes::admits(literal.bytes) {
                    self.shared.stored(literal.bytes)
                } else {
                    self.arena.bytes(literal.bytes)
                };
                let literal = crate::attr::Literal { bytes, ..*literal };
                Attr::Literal(self.arena.item(literal))
            }
            Attr::Padding(padding) => Attr::Padding(match padding {
                Padding::Valid => Padding::Valid,
                Padding::Same => Padding::Same,
                Padding::Custom(pads) => Padding::Custom(self.arena.item(*pads)),
            }),
            Attr::DType(dtype) => Attr::DType(dtype),
            Attr::Word(word) => Attr::Word(word),
        }
    }

    /// Returns the types of the arguments of region `region` of `op`. Its operands must have types and its regions must
    /// be closed.
    ///
    /// # Errors
    ///
    /// If the operands or attributes break the op's rule for arguments.
    pub(crate) fn argument_types(
        &mut self,
        op: OpId,
        region: usize,
    ) -> Result<SmallVec<[Ty; 4]>, Box<VerifyError>> {
        let def = self.def(op);
        if let Some(arguments) = def.arguments {
            let types = arguments(op, self, region)?;
            return Ok(types.iter().map(|ty| self.intern_type(ty.view())).collect());
        }
        let operands = 0..self.operands(op).len();
        let types = operands.map(|index| {
            let operand = self.operands(op)[index];
            let ty = self.type_id(operand).expect("an operand has a type");
            if def.has(Trait::BodyOverElements) {
                let scalar = TensorType::fixed(self.types().get(ty).dtype, &[]);
                self.intern_type(scalar.view())
            } else {
                ty
            }
        });
        Ok(types.collect())
    }

    /// Sets the types of an op's results, in order.
    pub fn set_types(&mut self, op: OpId, types: &[Ty]) {
        debug_assert_eq!(self.results(op).len(), types.len());
        for (value, &ty) in self.results(op).into_iter().zip(types) {
            self.set_type(value, ty);
        }
    }
}
