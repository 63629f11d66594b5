//! Calls, and ops with closed regions. Values that regions read from outside become operands.

use mind_convert::{Bodies, Refusal, RegionOp};
use mind_core::region::Carried;
use mind_ir::ValueId;
use mind_ir::builder::Builder;
use mind_ir::graph::ValueDef;

use super::emit::{Cache, Emit, Many};
use super::node::Node;
use super::scope::{Captures, Scope};
use super::value::{Value, Values};
use super::{Importer, Place};
use crate::text::Block;

/// Emits the body of a region, given all of its arguments, and returns the values that it yields.
pub(crate) type Body<'b, 't> = Box<dyn FnMut(&mut Region<'_, 't>, &[ValueId]) -> Many + 'b>;

/// A region that is imported.
pub(crate) struct Region<'i, 't> {
    pub importer: &'i mut Importer<'t>,
    pub e: Emit<'i>,
    pub place: Place,
}

impl<'t> Region<'_, 't> {
    /// Imports a block and returns the values that it yields. The first arguments of the region are those of the block,
    /// followed by the captures.
    ///
    /// # Errors
    ///
    /// If one of its operations is refused, which is reported separately.
    pub fn block(
        &mut self,
        block: &'t Block<'t>,
        captures: &Captures<'t>,
        arguments: &[ValueId],
    ) -> Many {
        let all: Vec<usize> = (0..block.arguments.len()).collect();
        let values = self.block_without(block, &all, captures, arguments)?;
        values.iter().map(|value| self.e.value(value)).collect()
    }

    /// Imports a block and returns its results. The region has only the block arguments at the indices `kept`; the
    /// others are among the captures.
    ///
    /// # Errors
    ///
    /// As [`block`](Region::block).
    pub fn block_without(
        &mut self,
        block: &'t Block<'t>,
        kept: &[usize],
        captures: &Captures<'t>,
        arguments: &[ValueId],
    ) -> Values {
        let (own, captured) = arguments.split_at(kept.len().min(arguments.len()));
        let mut scope = captures.scope(captured);
        for (&at, &value) in kept.iter().zip(own) {
            if let Some(argument) = block.arguments.get(at) {
                scope.define_one(argument.name, Value::Op(value));
            }
        }
        let (place, e) = (self.place, &mut self.e);
        let found = self
            .importer
            .deeper(|own| own.block(block, &mut scope, place, e))?;
        found.ok_or_else(Refusal::inside)
    }
}

impl<'t> Node<'_, 't, '_> {
    /// Inlines the body of a function at the operation and returns its results.
    ///
    /// # Errors
    ///
    /// E4001 if the text does not have the function; E2007 for another number of arguments.
    pub fn called(&mut self, name: &str) -> Values {
        let Some(function) = self.importer.module.functions.get(name) else {
            return Err(Refusal::undefined(&format!("@{name}")));
        };
        let values = self.inputs.to_vec();
        self.inlined(&function.body, &values, Scope::default(), self.place)
    }

    /// Inlines a block at the operation and returns its results. It may use the names of `scope`, and its arguments are
    /// `values`.
    ///
    /// # Errors
    ///
    /// E2007 for another number of arguments.
    pub fn inlined(
        &mut self,
        block: &'t Block<'t>,
        values: &[Value],
        mut scope: Scope<'t>,
        place: Place,
    ) -> Values {
        define_arguments(&mut scope, block, values)?;
        let e = &mut self.e;
        let found = self
            .importer
            .deeper(|own| own.block(block, &mut scope, place, e))?;
        found.ok_or_else(Refusal::inside)
    }

    /// Returns the captures of regions.
    ///
    /// # Errors
    ///
    /// If a captured value is the result of a refused operation.
    pub fn captures(&self, blocks: &[&'t Block<'t>]) -> Result<Captures<'t>, Refusal> {
        Captures::of(blocks, self.scope)
    }
}

/// Emits an op with closed regions, one for each of `bodies`, and returns its results.
///
/// # Errors
///
/// Those of the bodies and of the op's shape rule.
pub(crate) fn closed<'t>(
    importer: &mut Importer<'t>,
    e: &mut Emit<'_>,
    op: RegionOp<'_>,
    bodies: &mut [Body<'_, 't>],
) -> Many {
    looped(importer, e, op, bodies, Carried::new(0, 0))
}

/// Emits a loop like [`closed`]. Its first operands are carried. If a step changes the extents of a carried value, the
/// loop is emitted once more. The cost is bounded, because the number of operations of a module is.
///
/// # Errors
///
/// Those of [`closed`].
pub(crate) fn looped<'t>(
    importer: &mut Importer<'t>,
    e: &mut Emit<'_>,
    op: RegionOp<'_>,
    bodies: &mut [Body<'_, 't>],
    carried: Carried,
) -> Many {
    op.create_loop(&mut e.b, carried, &mut Regions { importer, bodies })
}

/// The regions of an op, which are imported from blocks.
struct Regions<'r, 'b, 't> {
    importer: &'r mut Importer<'t>,
    bodies: &'r mut [Body<'b, 't>],
}

impl Bodies for Regions<'_, '_, '_> {
    fn emit(&mut self, region: usize, b: &mut Builder<'_>, arguments: &[ValueId]) -> Many {
        let mut cache = Cache::default();
        for &argument in arguments {
            cache.add_source(b.graph, argument);
        }
        let block = match arguments.first().map(|&first| b.graph.value_def(first)) {
            Some(ValueDef::Argument(block, _)) => Some(block),
            Some(ValueDef::Result(..)) | None => None,
        };
        let place = Place {
            block,
            is_pointwise: false,
        };
        let e = Emit {
            b: b.reborrow(),
            cache: &mut cache,
        };
        let mut inside = Region {
            importer: self.importer,
            e,
            place,
        };
        self.bodies[region](&mut inside, arguments)
    }
}

/// Binds the arguments of a block to `values`.
pub(crate) fn define_arguments<'t>(
    scope: &mut Scope<'t>,
    block: &'t Block<'t>,
    values: &[Value],
) -> Result<(), Refusal> {
    if block.arguments.len() != values.len() {
        let expected = format!(
            "{}, as many as the block or function has arguments",
            block.arguments.len()
        );
        return Err(Refusal::operands(values.len(), expected));
    }
    for (argument, value) in block.arguments.iter().zip(values) {
        scope.define_one(argument.name, value.clone());
    }
    Ok(())
}
