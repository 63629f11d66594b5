//! Creating ops.

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

/// What a new op is made of. Attributes are one per row of the op's table entry.
#[derive(Clone, Copy)]
pub struct NewOp<'a> {
    /// The op's table entry.
    pub def: &'static OpDef,
    /// The values it reads.
    pub operands: &'a [ValueId],
    /// Its attributes in the order of the table entry.
    pub attrs: &'a [Attr<'a>],
    /// How many results it defines.
    pub results: usize,
    /// Where it stands in the source.
    pub span: Span,
}

/// Where new ops go.
#[derive(Clone, Copy, Debug)]
pub enum InsertPoint {
    /// After the last op of a block.
    End(BlockId),
    /// Before an op.
    Before(OpId),
}

impl Graph {
    /// Creates an op, unchecked and untyped, with an empty block per region of its table entry.
    ///
    /// Results get the next labels. For checked creation use a [`Builder`](crate::builder::Builder).
    pub fn insert(&mut self, at: InsertPoint, new: NewOp<'_>) -> OpId {
        let (parent, prev, next) = match at {
            InsertPoint::End(block) => (block, self.blocks[block.index()].last, None),
            InsertPoint::Before(anchor) => (
                self.parent(anchor).expect("an anchor stands in a block"),
                self.prev(anchor),
                Some(anchor),
            ),
        };
        self.create(new, parent, prev, next)
    }

    /// Creates an op as [`Graph::insert`] does, at the end of the module's body: faster, for parsers.
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

    /// The attributes of `op`, which live as long as the graph.
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

    /// Gives an empty block its arguments. Panics on a block that has some.
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

    /// The attribute, with what it borrows copied into the arena unless it is shared.
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

    /// The types of the arguments of region `region` of `op`, whose operands have types and whose regions are closed.
    ///
    /// # Errors
    ///
    /// What operands and attributes break.
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

    /// Gives an op's results their types, in order.
    pub fn set_types(&mut self, op: OpId, types: &[Ty]) {
        debug_assert_eq!(self.results(op).len(), types.len());
        for (value, &ty) in self.results(op).into_iter().zip(types) {
            self.set_type(value, ty);
        }
    }
}
