//! The arena SSA graph: one module of ops in nested blocks.
//!
//! - Every op, value, block and region is a dense `Copy` id into tables of the [`Graph`].
//! - A region holds exactly one block; control flow is structured.
//! - Attributes and operands are slots of one table each; what attributes borrow is in the graph's
//!   arena, never freed singly. The bytes of large literals are not: copies of a graph share them, and so may
//!   whoever made them.
//! - Each value keeps the list of operand slots that read it, so that its users are at hand and
//!   replacing it costs one step per use.

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

/// One module.
///
/// The body is a block of ops that a [`Yield`](crate::builtin::Yield) may end, whose operands are the
/// module's outputs. Text parses into an untyped graph; the [verifier](crate::verify) gives every
/// value its type. The [`Builder`](crate::builder::Builder) types what it creates.
pub struct Graph {
    arena: Arena,
    ops: Table<OpData>,
    shared: SharedBytes,
    /// The attributes of all ops; what they borrow is in the arena, or is shared bytes.
    attrs: Table<Attr<'static>>,
    values: Table<ValueData>,
    /// By operand slot: the value read.
    operands: Table<ValueId>,
    /// By operand slot: its place in the use list of that value.
    uses: Table<UseData>,
    blocks: Table<BlockData>,
    regions: Vec<RegionData>,
    /// All regions, for slices of them.
    region_ids: Vec<RegionId>,
    types: TypeTable,
    symbols: Symbols,
    /// Numbers for new values: no value has one of these.
    free_labels: Range<u64>,
    /// The names of the outputs, metadata, image types and class labels.
    pub interface: Interface,
    /// The declarations of the text this module was read from.
    pub preamble: Preamble,
    /// Where the tables begin; dropped after them.
    _slab: Slab,
}

impl Graph {
    /// An empty module.
    pub fn new() -> Graph {
        Graph::with_capacity(0)
    }

    /// An empty module with room for about `ops` ops.
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

    /// Makes room for about `ops` more ops.
    pub fn reserve(&mut self, ops: usize) {
        self.ops.reserve(ops);
        self.attrs.reserve(ops.div_ceil(2));
        self.values.reserve(ops);
        self.operands.reserve(ops * 2);
        self.uses.reserve(ops * 2);
    }

    /// The module's own block.
    #[inline]
    pub fn body(&self) -> BlockId {
        BlockId::new(0)
    }

    /// The module's outputs, in order.
    pub fn outputs(&self) -> &[ValueId] {
        match self.terminator(self.body()) {
            Some(end) => self.operands(end),
            None => &[],
        }
    }

    /// Makes these values the outputs in the place of those that there are. Those that stay keep their names, and a
    /// classifier goes with its probabilities. Panics in a module without outputs.
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

    /// One more than the highest id that was ever given to an op: ids are below it.
    pub fn op_bound(&self) -> usize {
        self.ops.len()
    }

    /// One more than the highest id that was ever given to a value.
    #[inline]
    pub fn value_bound(&self) -> usize {
        self.values.len()
    }
}

/// Ops.
impl Graph {
    /// The op's table entry.
    pub fn def(&self, op: OpId) -> &'static OpDef {
        self.ops[op.index()].def
    }

    /// The function that the op applies at every position, if it is elementwise.
    pub fn scalar(&self, op: OpId) -> Option<ScalarFn> {
        let def = self.def(op);
        match def.scalar_of {
            Some(of) => Some(of(op, self)),
            None => def.scalar,
        }
    }

    /// The op as a `T`, if it is one.
    pub fn view<T: Op>(&self, op: OpId) -> Option<T> {
        std::ptr::eq(self.def(op), T::DEF).then(|| T::from_id(op))
    }

    /// Whether the op is a `T`.
    pub fn is<T: Op>(&self, op: OpId) -> bool {
        std::ptr::eq(self.def(op), T::DEF)
    }

    /// The values the op reads, in order.
    #[inline]
    pub fn operands(&self, op: OpId) -> &[ValueId] {
        let data = &self.ops[op.index()];
        &self.operands[data.first_use as usize..][..data.operand_count as usize]
    }

    /// The values the op defines, in order.
    pub fn results(&self, op: OpId) -> ValueRange {
        self.ops[op.index()].results
    }

    /// The only value the op defines. Panics on an op with none or several.
    pub fn result(&self, op: OpId) -> ValueId {
        let results = self.results(op);
        assert_eq!(results.len(), 1, "{} has one result", self.def(op).name);
        results.get(0)
    }

    /// The op's attributes, one per row of its table entry.
    #[inline]
    pub fn attrs(&self, op: OpId) -> &[Attr<'_>] {
        let data = &self.ops[op.index()];
        &self.attrs[data.first_attr as usize..][..data.def.attrs.len()]
    }

    /// The op's attribute at `index` of its table entry.
    pub fn attr(&self, op: OpId, index: usize) -> Attr<'_> {
        self.attrs(op)[index]
    }

    /// The op's regions.
    #[inline]
    pub fn regions(&self, op: OpId) -> &[RegionId] {
        let data = &self.ops[op.index()];
        &self.region_ids[data.first_region as usize..][..data.def.regions]
    }

    /// Where the op stands in the source.
    pub fn span(&self, op: OpId) -> Span {
        self.ops[op.index()].span
    }

    /// The block the op stands in; none once it was erased.
    pub fn parent(&self, op: OpId) -> Option<BlockId> {
        self.ops[op.index()].parent
    }
}

/// Values.
impl Graph {
    /// Where the value is defined.
    pub fn value_def(&self, value: ValueId) -> ValueDef {
        self.values[value.index()].def
    }

    /// The op that defines the value; `None` for a block's argument.
    pub fn defining_op(&self, value: ValueId) -> Option<OpId> {
        match self.value_def(value) {
            ValueDef::Result(op, _) => Some(op),
            ValueDef::Argument(..) => None,
        }
    }

    /// The value's type. Panics before verification has given it one.
    #[inline]
    pub fn ty(&self, value: ValueId) -> TypeView<'_> {
        self.types
            .get(self.type_id(value).expect("a verified value has a type"))
    }

    /// The id of the value's type, once it has one.
    pub fn type_id(&self, value: ValueId) -> Option<Ty> {
        self.values[value.index()].ty
    }

    /// The type that was written at the value's definition.
    pub fn declared(&self, value: ValueId) -> Option<Ty> {
        self.values[value.index()].declared
    }

    /// The number the value goes by in text: `N5`, `%5`.
    #[inline]
    pub fn label(&self, value: ValueId) -> u64 {
        self.values[value.index()].label
    }

    /// The operand slots that read the value, latest first.
    pub fn uses(&self, value: ValueId) -> Uses<'_> {
        Uses::new(self, self.values[value.index()].first_use)
    }

    /// Gives the value its type.
    pub fn set_type(&mut self, value: ValueId, ty: Ty) {
        self.values[value.index()].ty = Some(ty);
    }

    /// Declares the value's type in text.
    #[inline]
    pub fn declare(&mut self, value: ValueId, ty: Ty) {
        self.values[value.index()].declared = Some(ty);
    }

    /// Forgets the type that was written for the value, which is then what its op infers.
    pub fn undeclare(&mut self, value: ValueId) {
        self.values[value.index()].declared = None;
    }
}

/// Blocks and regions.
impl Graph {
    /// The block's ops in order.
    pub fn ops(&self, block: BlockId) -> Ops<'_> {
        let data = &self.blocks[block.index()];
        Ops::new(self, data.first, data.last)
    }

    /// Every op of the module, each before the ops of its regions.
    pub fn walk(&self) -> Walk<'_> {
        Walk::new(self)
    }

    /// The block's arguments.
    pub fn arguments(&self, block: BlockId) -> ValueRange {
        self.blocks[block.index()].arguments
    }

    /// The block's last op, if it is a terminator.
    pub fn terminator(&self, block: BlockId) -> Option<OpId> {
        let last = self.blocks[block.index()].last?;
        self.def(last)
            .has(crate::opdef::Trait::Terminator)
            .then_some(last)
    }

    /// The region's block.
    pub fn block(&self, region: RegionId) -> BlockId {
        self.regions[region.index()].block
    }

    /// The op whose region holds the block; `None` for the module's body.
    pub fn block_owner(&self, block: BlockId) -> Option<OpId> {
        self.blocks[block.index()].owner
    }

    /// The values that the blocks of `op` read from outside of them, each once, in an order that the
    /// module alone decides.
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

    /// The op after `op` in its block.
    pub fn next(&self, op: OpId) -> Option<OpId> {
        self.ops[op.index()].next
    }

    pub(crate) fn prev(&self, op: OpId) -> Option<OpId> {
        self.ops[op.index()].prev
    }
}

/// Types and names.
impl Graph {
    /// The module's types.
    pub fn types(&self) -> &TypeTable {
        &self.types
    }

    /// The id for a type.
    #[inline]
    pub fn intern_type(&mut self, ty: TypeView<'_>) -> Ty {
        self.types.intern(ty)
    }

    /// The module's names and dimension symbols.
    #[inline]
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// The symbol for a name.
    #[inline]
    pub fn intern(&mut self, name: &str) -> Sym {
        self.symbols.intern(name)
    }

    /// The text of a symbol.
    pub fn name(&self, sym: Sym) -> &str {
        self.symbols.get(sym)
    }

    /// The value's type as text, `f32[3, B]`; `?` before it has one.
    pub fn type_text(&self, value: ValueId) -> String {
        match self.type_id(value) {
            Some(ty) => self.types.get(ty).text(&self.symbols),
            None => "?".to_owned(),
        }
    }
}

impl Default for Graph {
    /// An empty module.
    fn default() -> Graph {
        Graph::new()
    }
}

impl Clone for Graph {
    /// A copy with the same ids, which shares large literals with this graph.
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
    /// Shares the ownership of `bytes`: literals of these very bytes are stored without a copy of them.
    pub fn share(&mut self, bytes: Bytes) {
        if SharedBytes::admits(&bytes) {
            self.shared.hold(bytes);
        }
    }

    /// Shares the ownership of many elements, as [`share`](Graph::share) does that of bytes.
    pub fn share_elements(&mut self, elements: &Buffer) {
        if SharedBytes::admits(elements.as_bytes()) {
            self.share(elements.shared_bytes());
        }
    }

    /// The elements that a literal of this graph lists. Many are shared.
    pub fn literal_elements(&self, literal: &Literal<'_>) -> Buffer {
        self.shared.elements(literal)
    }

    /// The bytes of a literal of this graph, which outlive the graph. Large ones are not copied.
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
