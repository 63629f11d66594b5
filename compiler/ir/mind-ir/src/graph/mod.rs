//! The SSA graph: one module of ops in nested blocks, in an arena.
//!
//! - Every op, value, block and region is a dense `Copy` id that indexes tables of the [`Graph`].
//! - A region holds exactly one block, because control flow is structured.
//! - Attributes and operands are slots of one table each. The data of attributes is in the graph's arena and is freed
//!   with the graph. Large literals are reference-counted instead, so that copies of a graph, and the caller that
//!   created them, share their bytes.
//! - Each value has a doubly linked list of its uses, so that replacing it takes one step per use.

mod build;
mod copy;
mod data;
mod edit;
mod iter;
mod label;
mod shared;

pub use build::{InsertPoint, NewOp};
pub use data::{Preamble, ValueDef};
pub use iter::{Ops, Uses, ValueRange, Walk};

use std::ops::Range;

use bytes::Bytes;
use mind_diag::Span;
use rustc_hash::FxHashSet;

use crate::arena::Arena;
use crate::attr::{Attr, Literal};
use crate::entity::{BlockId, OpId, RegionId, Sym, Ty, UseId, ValueId};
use crate::interface::{Classifier, Interface, Output};
use crate::opdef::{Op, OpDef};
use crate::scalar::ScalarFn;
use crate::symbol::Symbols;
use crate::table::{Slab, Table};
use crate::tensor::Buffer;
use crate::types::{TypeTable, TypeView};
use data::{BlockData, OpData, RegionData, UseData, ValueData};
use shared::SharedBytes;

/// A module.
///
/// The body is a block whose last op may be a [`Yield`](crate::builtin::Yield), whose operands are the module's
/// outputs. Parsers create an untyped graph, and the [verifier](crate::verify) infers the type of every value. The
/// [`Builder`](crate::builder::Builder) creates typed ops.
pub struct Graph {
    arena: Arena,
    ops: Table<OpData>,
    shared: SharedBytes,
    /// The attributes of all ops. Their data is in the arena or in shared bytes.
    attrs: Table<Attr<'static>>,
    values: Table<ValueData>,
    /// The value that each operand slot reads.
    operands: Table<ValueId>,
    /// The links of each operand slot in the use list of its value.
    uses: Table<UseData>,
    blocks: Table<BlockData>,
    regions: Vec<RegionData>,
    /// All regions, so that an op's regions are a slice.
    region_ids: Vec<RegionId>,
    types: TypeTable,
    symbols: Symbols,
    /// Numbers for new values; no value has one of them.
    free_labels: Range<u64>,
    /// The names of the outputs, metadata, image types and class labels.
    pub interface: Interface,
    /// The declarations of the text that this module was read from.
    pub preamble: Preamble,
    /// The memory of the tables before they grow; dropped after them.
    _slab: Slab,
}

impl Graph {
    /// Returns an empty module.
    pub fn new() -> Graph {
        Graph::with_capacity(0)
    }

    /// Returns an empty module with room for about `ops` ops.
    pub fn with_capacity(ops: usize) -> Graph {
        const BLOCKS: usize = 1;
        let (attrs, operands) = (ops.div_ceil(2), ops * 2);
        let units = Slab::units::<OpData>(ops)
            + Slab::units::<Attr<'static>>(attrs)
            + Slab::units::<ValueData>(ops)
            + Slab::units::<ValueId>(operands)
            + Slab::units::<UseData>(operands)
            + Slab::units::<BlockData>(BLOCKS)
            + TypeTable::UNITS
            + Symbols::UNITS;
        let mut slab = Slab::new(units);
        let mut blocks = slab.table(BLOCKS);
        blocks.push(BlockData::default());
        Graph {
            arena: Arena::default(),
            shared: SharedBytes::default(),
            ops: slab.table(ops),
            attrs: slab.table(attrs),
            values: slab.table(ops),
            operands: slab.table(operands),
            uses: slab.table(operands),
            blocks,
            regions: Vec::new(),
            region_ids: Vec::new(),
            types: TypeTable::in_slab(&mut slab),
            symbols: Symbols::in_slab(&mut slab),
            free_labels: 0..u64::MAX,
            interface: Interface::default(),
            preamble: Preamble::default(),
            _slab: slab,
        }
    }

    /// Reserves room for about `ops` more ops.
    pub fn reserve(&mut self, ops: usize) {
        self.ops.reserve(ops);
        self.attrs.reserve(ops.div_ceil(2));
        self.values.reserve(ops);
        self.operands.reserve(ops * 2);
        self.uses.reserve(ops * 2);
    }

    /// Returns the block of the module.
    #[inline]
    pub fn body(&self) -> BlockId {
        BlockId::new(0)
    }

    /// Returns the module's outputs, in order.
    pub fn outputs(&self) -> &[ValueId] {
        match self.terminator(self.body()) {
            Some(end) => self.operands(end),
            None => &[],
        }
    }

    /// Replaces the outputs. Outputs that are kept keep their names and properties; a classifier is removed if the
    /// output of its probabilities is.
    ///
    /// # Panics
    ///
    /// If the module has no terminator.
    pub fn set_outputs(&mut self, outputs: &[ValueId]) {
        let end = self.terminator(self.body()).expect("a module that ends");
        let old = self.operands(end).to_vec();
        let interface = &mut self.interface;
        let mut entries = std::mem::take(&mut interface.outputs);
        entries.resize(old.len(), Output::default());
        let mut left: Vec<(ValueId, Output)> = old.into_iter().zip(entries).collect();
        let kept = outputs.iter().map(|value| {
            let at = left.iter().position(|(own, _)| own == value);
            at.map_or_else(Output::default, |at| left.remove(at).1)
        });
        interface.outputs = kept.collect();
        let classifier = interface.classifier.take();
        let has_probabilities =
            |own: &Classifier| interface.output_position(&own.probabilities).is_some();
        interface.classifier = classifier.filter(has_probabilities);
        self.set_operands(end, outputs);
    }

    /// Returns the name of the output at a position, or `%` and the number of its value.
    ///
    /// # Panics
    ///
    /// If there are fewer outputs.
    pub fn output_text(&self, at: usize) -> String {
        match self.interface.output_name(at) {
            Some(name) => name.to_owned(),
            None => format!("%{}", self.label(self.outputs()[at])),
        }
    }

    /// Returns an upper bound of op indices: one more than the highest index that was ever used.
    pub fn op_bound(&self) -> usize {
        self.ops.len()
    }

    /// Returns an upper bound of value indices: one more than the highest index that was ever used.
    #[inline]
    pub fn value_bound(&self) -> usize {
        self.values.len()
    }
}

/// Ops.
impl Graph {
    /// Returns the op's table entry.
    pub fn def(&self, op: OpId) -> &'static OpDef {
        self.ops[op.index()].def
    }

    /// Returns the scalar function that an elementwise op applies; `None` for other ops.
    pub fn scalar(&self, op: OpId) -> Option<ScalarFn> {
        let def = self.def(op);
        match def.scalar_of {
            Some(of) => Some(of(op, self)),
            None => def.scalar,
        }
    }

    /// Returns the op as a `T`; `None` if it is another op.
    pub fn view<T: Op>(&self, op: OpId) -> Option<T> {
        std::ptr::eq(self.def(op), T::DEF).then(|| T::from_id(op))
    }

    /// Whether the op is a `T`.
    pub fn is<T: Op>(&self, op: OpId) -> bool {
        std::ptr::eq(self.def(op), T::DEF)
    }

    /// Returns the operands, in order.
    #[inline]
    pub fn operands(&self, op: OpId) -> &[ValueId] {
        let data = &self.ops[op.index()];
        &self.operands[data.first_use as usize..][..data.operand_count as usize]
    }

    /// Returns the results, in order.
    pub fn results(&self, op: OpId) -> ValueRange {
        self.ops[op.index()].results
    }

    /// Returns the only result.
    ///
    /// # Panics
    ///
    /// If the op does not have exactly one result.
    pub fn result(&self, op: OpId) -> ValueId {
        let results = self.results(op);
        assert_eq!(results.len(), 1, "{} has one result", self.def(op).name);
        results.get(0)
    }

    /// Returns the attributes, in the order of the table entry.
    #[inline]
    pub fn attrs(&self, op: OpId) -> &[Attr<'_>] {
        let data = &self.ops[op.index()];
        &self.attrs[data.first_attr as usize..][..data.def.attrs.len()]
    }

    /// Returns the attribute at `index` of the table entry.
    pub fn attr(&self, op: OpId, index: usize) -> Attr<'_> {
        self.attrs(op)[index]
    }

    /// Returns the regions.
    #[inline]
    pub fn regions(&self, op: OpId) -> &[RegionId] {
        let data = &self.ops[op.index()];
        &self.region_ids[data.first_region as usize..][..data.def.regions]
    }

    /// Returns the source location.
    pub fn span(&self, op: OpId) -> Span {
        self.ops[op.index()].span
    }

    /// Returns the block that holds the op; `None` if the op was erased.
    pub fn parent(&self, op: OpId) -> Option<BlockId> {
        self.ops[op.index()].parent
    }
}

/// Values.
impl Graph {
    /// Returns the definition of the value.
    pub fn value_def(&self, value: ValueId) -> ValueDef {
        self.values[value.index()].def
    }

    /// Returns the op that defines the value; `None` for a block argument.
    pub fn defining_op(&self, value: ValueId) -> Option<OpId> {
        match self.value_def(value) {
            ValueDef::Result(op, _) => Some(op),
            ValueDef::Argument(..) => None,
        }
    }

    /// Returns the value's type.
    ///
    /// # Panics
    ///
    /// If the value is untyped, which is possible before verification.
    #[inline]
    pub fn ty(&self, value: ValueId) -> TypeView<'_> {
        self.types
            .get(self.type_id(value).expect("a verified value has a type"))
    }

    /// Returns the id of the value's type; `None` if it is untyped.
    pub fn type_id(&self, value: ValueId) -> Option<Ty> {
        self.values[value.index()].ty
    }

    /// Returns the type that was declared at the value's definition.
    pub fn declared(&self, value: ValueId) -> Option<Ty> {
        self.values[value.index()].declared
    }

    /// Returns the number of the value in text, which is printed as, for example, `N5` or `%5`.
    #[inline]
    pub fn label(&self, value: ValueId) -> u64 {
        self.values[value.index()].label
    }

    /// Returns the uses of the value, most recent first.
    pub fn uses(&self, value: ValueId) -> Uses<'_> {
        Uses::new(self, self.values[value.index()].first_use)
    }

    /// Sets the value's type.
    pub fn set_type(&mut self, value: ValueId, ty: Ty) {
        self.values[value.index()].ty = Some(ty);
    }

    /// Sets the declared type of the value.
    #[inline]
    pub fn declare(&mut self, value: ValueId, ty: Ty) {
        self.values[value.index()].declared = Some(ty);
    }

    /// Removes the declared type of the value, so that its type is inferred.
    pub fn undeclare(&mut self, value: ValueId) {
        self.values[value.index()].declared = None;
    }
}

/// Blocks and regions.
impl Graph {
    /// Returns the block's ops, in order.
    pub fn ops(&self, block: BlockId) -> Ops<'_> {
        let data = &self.blocks[block.index()];
        Ops::new(self, data.first, data.last)
    }

    /// Returns every op of the module in pre-order: each op before the ops of its regions.
    pub fn walk(&self) -> Walk<'_> {
        Walk::new(self)
    }

    /// Returns the block's arguments.
    pub fn arguments(&self, block: BlockId) -> ValueRange {
        self.blocks[block.index()].arguments
    }

    /// Returns the block's last op if it is a terminator.
    pub fn terminator(&self, block: BlockId) -> Option<OpId> {
        let last = self.blocks[block.index()].last?;
        self.def(last)
            .has(crate::opdef::Trait::Terminator)
            .then_some(last)
    }

    /// Returns the region's block.
    pub fn block(&self, region: RegionId) -> BlockId {
        self.regions[region.index()].block
    }

    /// Returns the op whose region holds the block; `None` for the module's body.
    pub fn block_owner(&self, block: BlockId) -> Option<OpId> {
        self.blocks[block.index()].owner
    }

    /// Returns the values that the blocks of `op` read from outside of `op`, each once. The order depends only on the
    /// module.
    pub fn captures(&self, op: OpId) -> Vec<ValueId> {
        let mut captured = Vec::new();
        let mut blocks: Vec<BlockId> = self
            .regions(op)
            .iter()
            .map(|&own| self.block(own))
            .collect();
        if blocks.is_empty() {
            return captured;
        }
        let mut inside: FxHashSet<ValueId> = FxHashSet::default();
        let mut reads = Vec::new();
        while let Some(block) = blocks.pop() {
            inside.extend(self.arguments(block));
            for inner in self.ops(block) {
                inside.extend(self.results(inner));
                reads.extend_from_slice(self.operands(inner));
                blocks.extend(self.regions(inner).iter().map(|&own| self.block(own)));
            }
        }
        for value in reads {
            if inside.insert(value) {
                captured.push(value);
            }
        }
        captured
    }

    /// Returns the op after `op` in its block.
    pub fn next(&self, op: OpId) -> Option<OpId> {
        self.ops[op.index()].next
    }

    pub(crate) fn prev(&self, op: OpId) -> Option<OpId> {
        self.ops[op.index()].prev
    }
}

/// Types and names.
impl Graph {
    /// Returns the module's types.
    pub fn types(&self) -> &TypeTable {
        &self.types
    }

    /// Interns a type and returns its id.
    #[inline]
    pub fn intern_type(&mut self, ty: TypeView<'_>) -> Ty {
        self.types.intern(ty)
    }

    /// Returns the module's names and dimension symbols.
    #[inline]
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// Interns a name and returns its symbol.
    #[inline]
    pub fn intern(&mut self, name: &str) -> Sym {
        self.symbols.intern(name)
    }

    /// Returns the text of a symbol.
    pub fn name(&self, sym: Sym) -> &str {
        self.symbols.get(sym)
    }

    /// Returns the value's type as text, for example `f32[3, B]`; `?` if it is untyped.
    pub fn type_text(&self, value: ValueId) -> String {
        match self.type_id(value) {
            Some(ty) => self.types.get(ty).text(&self.symbols),
            None => "?".to_owned(),
        }
    }
}

impl Default for Graph {
    /// Returns an empty module.
    fn default() -> Graph {
        Graph::new()
    }
}

impl Clone for Graph {
    /// Returns a copy with the same ids. It shares the bytes of large literals with this graph.
    fn clone(&self) -> Graph {
        let mut copy = Graph {
            arena: Arena::default(),
            shared: self.shared.clone(),
            ops: self.ops.clone(),
            attrs: Table::from(Vec::with_capacity(self.attrs.len())),
            values: self.values.clone(),
            operands: self.operands.clone(),
            uses: self.uses.clone(),
            blocks: self.blocks.clone(),
            regions: self.regions.clone(),
            region_ids: self.region_ids.clone(),
            types: self.types.clone(),
            symbols: self.symbols.clone(),
            free_labels: self.free_labels.clone(),
            interface: self.interface.clone(),
            preamble: self.preamble.clone(),
            _slab: Slab::new(0),
        };
        for &attr in self.attrs.iter() {
            let attr = copy.store_attr(attr);
            copy.attrs.push(attr);
        }
        copy
    }
}

/// Literals.
impl Graph {
    /// Shares the ownership of `bytes`, so that literals in this memory are stored without a copy. Has no effect if
    /// there are few.
    pub fn share(&mut self, bytes: Bytes) {
        if SharedBytes::admits(&bytes) {
            self.shared.hold(bytes);
        }
    }

    /// Shares the ownership of many elements, as [`share`](Graph::share) does for bytes.
    pub fn share_elements(&mut self, elements: &Buffer) {
        if SharedBytes::admits(elements.as_bytes()) {
            self.share(elements.shared_bytes());
        }
    }

    /// Returns the elements of a literal of this graph. Large literals are shared, not copied.
    pub fn literal_elements(&self, literal: &Literal<'_>) -> Buffer {
        self.shared.elements(literal)
    }

    /// Returns the bytes of a literal of this graph, which may outlive the graph. Large literals are shared, not
    /// copied.
    pub fn shared_bytes(&self, literal: &Literal<'_>) -> Bytes {
        let own = self.shared.owned(literal.bytes);
        own.unwrap_or_else(|| Bytes::copy_from_slice(literal.bytes))
    }
}

/// Operand slots, for the use lists.
impl Graph {
    fn slot(&self, op: OpId, index: usize) -> UseId {
        UseId::new(self.ops[op.index()].first_use as usize + index)
    }
}
