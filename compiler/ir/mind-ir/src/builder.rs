//! Creation of typed and checked ops.

use mind_diag::Span;
use rustc_hash::FxHashMap;

use crate::attr::Attr;
use crate::builtin::Yield;
use crate::entity::{BlockId, OpId, Ty, ValueId};
use crate::graph::{Graph, InsertPoint, NewOp};
use crate::opdef::{Op, OpDef, Trait};
use crate::verify::{VerifyError, infer_op};

/// The result of a new op, or the first rule that it breaks.
pub type Built = Result<ValueId, Box<VerifyError>>;

/// A destination for new ops, which their constructors take: a builder, or a type that has one.
pub trait Build {
    /// Returns a builder at the insertion point.
    fn builder(&mut self) -> Builder<'_>;
}

impl Build for Builder<'_> {
    #[inline]
    fn builder(&mut self) -> Builder<'_> {
        self.reborrow()
    }
}

/// Creates typed and checked ops at an insertion point.
pub struct Builder<'g> {
    /// The graph that the ops are added to.
    pub graph: &'g mut Graph,
    at: InsertPoint,
    span: Span,
}

impl<'g> Builder<'g> {
    /// Returns a builder that inserts at `at`. New ops get the source location `span`.
    pub fn new(graph: &'g mut Graph, at: InsertPoint, span: Span) -> Builder<'g> {
        Builder { graph, at, span }
    }

    /// Returns a builder at the end of the module. Its ops have no source location.
    pub fn at_end(graph: &'g mut Graph) -> Builder<'g> {
        let end = InsertPoint::End(graph.body());
        Builder::new(graph, end, Span::FILE)
    }

    /// Returns a builder that inserts before `op`. New ops get the source location of `op`.
    pub fn before(graph: &'g mut Graph, op: OpId) -> Builder<'g> {
        let span = graph.span(op);
        Builder::new(graph, InsertPoint::Before(op), span)
    }

    /// Returns a builder with the same insertion point, which borrows this one.
    pub fn reborrow(&mut self) -> Builder<'_> {
        Builder::new(self.graph, self.at, self.span)
    }

    /// Creates an op whose result types are inferred by its shape rule.
    ///
    /// # Errors
    ///
    /// If the shape rule fails. The graph is then unchanged, except that some ids are unused.
    ///
    /// # Panics
    ///
    /// If the number of results depends on a region; see [`create_with_body`](Builder::create_with_body).
    pub fn create(
        &mut self,
        def: &'static OpDef,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
    ) -> Result<OpId, Box<VerifyError>> {
        let Some(results) = def.results.count() else {
            panic!("{} is created with its region", def.name);
        };
        let op = self.push(def, operands, attrs, results);
        match infer_op(self.graph, op) {
            Ok(types) => {
                self.graph.set_types(op, &types);
                Ok(op)
            }
            Err(error) => {
                self.graph.erase(op);
                Err(error)
            }
        }
    }

    /// Creates an op with one result, as [`create`](Builder::create) does, and returns the result.
    ///
    /// # Errors
    ///
    /// If the shape rule fails. The graph is then unchanged, except that some ids are unused.
    pub fn one(&mut self, def: &'static OpDef, operands: &[ValueId], attrs: &[Attr<'_>]) -> Built {
        let op = self.create(def, operands, attrs)?;
        Ok(self.graph.result(op))
    }

    /// Creates an op whose results have the given types, for example an input or a constant.
    pub fn create_typed(
        &mut self,
        def: &'static OpDef,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
        types: &[Ty],
    ) -> OpId {
        let op = self.push(def, operands, attrs, types.len());
        self.graph.set_types(op, types);
        if def.has(Trait::DeclaresType) {
            for (value, &ty) in self.graph.results(op).into_iter().zip(types) {
                self.graph.declare(value, ty);
            }
        }
        op
    }

    /// Creates an op with one closed body and `results` results, whose types are inferred by its shape rule.
    ///
    /// `fill` takes a builder at the end of the body and the block arguments, and returns the values that the body
    /// yields.
    ///
    /// # Errors
    ///
    /// If `fill`, the rule for the arguments or the shape rule fails. The graph is then unchanged, except that some ids
    /// are unused.
    pub fn create_with_body(
        &mut self,
        def: &'static OpDef,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
        results: usize,
        fill: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Result<Vec<ValueId>, Box<VerifyError>>,
    ) -> Result<OpId, Box<VerifyError>> {
        let mut fill = Some(fill);
        let once = |_, inner: &mut Builder<'_>, arguments: &[ValueId]| {
            let fill = fill.take().expect("the op has one body");
            fill(inner, arguments)
        };
        assert_eq!(def.regions, 1, "{} has one body", def.name);
        self.create_with_bodies(def, operands, attrs, results, once)
    }

    /// Creates an op with any number of closed bodies, as [`Builder::create_with_body`] does. `fill` also takes the
    /// index of the region.
    ///
    /// # Errors
    ///
    /// If `fill`, the rule for the arguments or the shape rule fails. The graph is then unchanged, except that some ids
    /// are unused.
    pub fn create_with_bodies(
        &mut self,
        def: &'static OpDef,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
        results: usize,
        mut fill: impl FnMut(
            usize,
            &mut Builder<'_>,
            &[ValueId],
        ) -> Result<Vec<ValueId>, Box<VerifyError>>,
    ) -> Result<OpId, Box<VerifyError>> {
        assert!(def.has_closed_body(), "{} has closed bodies", def.name);
        let op = self.push(def, operands, attrs, results);
        let mut filled = (0..def.regions).try_for_each(|region| {
            let types = self.graph.argument_types(op, region)?;
            let block = self.graph.block(self.graph.regions(op)[region]);
            let arguments = self.graph.add_arguments(block, types.len());
            for (argument, ty) in arguments.into_iter().zip(types) {
                self.graph.set_type(argument, ty);
            }
            let arguments: Vec<ValueId> = arguments.into_iter().collect();
            let mut inner = Builder::new(self.graph, InsertPoint::End(block), self.span);
            let yielded = fill(region, &mut inner, &arguments)?;
            inner.push(Yield::DEF, &yielded, &[], 0);
            Ok(())
        });
        if let Ok(()) = filled {
            filled = infer_op(self.graph, op).map(|types| self.graph.set_types(op, &types));
        }
        match filled {
            Ok(()) => Ok(op),
            Err(error) => {
                self.graph.erase(op);
                Err(error)
            }
        }
    }

    /// Creates an op with the table entry and attributes of `op`, which has one result and no regions, on other
    /// operands, whose types may differ. Returns its result.
    ///
    /// # Errors
    ///
    /// If the shape rule fails. The graph is then unchanged, except that some ids are unused.
    pub fn again(&mut self, op: OpId, operands: &[ValueId]) -> Built {
        let (def, attrs) = (self.graph.def(op), self.graph.stored_attrs(op));
        self.one(def, operands, &attrs)
    }

    /// Creates a copy of an op, with its regions, on other operands of the same types.
    pub fn copy(&mut self, op: OpId, operands: &[ValueId]) -> OpId {
        self.graph.copy(self.at, op, operands)
    }

    /// Creates copies of the ops of a block and returns the replacements of its yielded values. `copies` maps values,
    /// for example the block arguments, to their replacements.
    pub fn copy_block(
        &mut self,
        block: BlockId,
        copies: FxHashMap<ValueId, ValueId>,
    ) -> Vec<ValueId> {
        let ops: Vec<OpId> = self.graph.ops(block).collect();
        self.copy_ops(&ops, copies)
    }

    /// Copies some ops of a block, in order, as [`copy_block`](Builder::copy_block) does.
    pub fn copy_ops(
        &mut self,
        ops: &[OpId],
        mut copies: FxHashMap<ValueId, ValueId>,
    ) -> Vec<ValueId> {
        for &op in ops {
            let operands = self.graph.operands(op).iter();
            let operands = operands.map(|value| copies.get(value).copied().unwrap_or(*value));
            let operands: Vec<ValueId> = operands.collect();
            if self.graph.def(op).has(Trait::Terminator) {
                return operands;
            }
            let copy = self.copy(op, &operands);
            let results = self.graph.results(op).into_iter();
            copies.extend(results.zip(self.graph.results(copy)));
        }
        Vec::new()
    }

    fn push(
        &mut self,
        def: &'static OpDef,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
        results: usize,
    ) -> OpId {
        self.graph.insert(
            self.at,
            NewOp {
                def,
                operands,
                attrs,
                results,
                span: self.span,
            },
        )
    }
}
