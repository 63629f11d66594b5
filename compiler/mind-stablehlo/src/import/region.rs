//! Calls, and ops with closed regions. What regions read from outside becomes operands.

use mind_convert::Refusal;
use mind_core::region::Carried;
use mind_ir::ValueId;
use mind_ir::attr::Attr;
use mind_ir::builder::Builder;
use mind_ir::graph::ValueDef;
use mind_ir::opdef::OpDef;
use mind_ir::types::Dim;
use mind_ir::verify::VerifyError;

use super::emit::{Cache, Emit};
use super::node::Node;
use super::scope::{Captures, Scope};
use super::value::Value;
use super::{Importer, Place};
use crate::text::Block;

/// What is imported, or `None` if something inside was refused, which is reported by itself.
pub(crate) type Inner<T> = Result<Option<T>, Refusal>;

/// What a region yields, given all of its arguments.
pub(crate) type Body<'b, 't> =
    Box<dyn FnMut(&mut Importer<'t>, &mut Emit<'_>, Place, &[ValueId]) -> Inner<Vec<ValueId>> + 'b>;

impl<'t> Node<'_, 't, '_> {
    /// The body of a function in the place of the operation.
    ///
    /// # Errors
    ///
    /// A function that the text does not have, another number of arguments.
    pub fn called(&mut self, name: &str) -> Inner<Vec<Value>> {
        let Some(function) = self.importer.module.functions.get(name) else {
            return Err(Refusal::undefined(&format!("@{name}")));
        };
        let values = self.inputs.to_vec();
        self.inlined(&function.body, &values, Scope::default(), self.place)
    }

    /// A block in the place of the operation, with names of `scope` and `values` for its arguments.
    ///
    /// # Errors
    ///
    /// Another number of arguments.
    pub fn inlined(
        &mut self,
        block: &'t Block<'t>,
        values: &[Value],
        mut scope: Scope<'t>,
        place: Place,
    ) -> Inner<Vec<Value>> {
        define_arguments(&mut scope, block, values)?;
        let e = &mut self.e;
        self.importer
            .deeper(|own| own.block(block, &mut scope, place, e))
    }

    /// The captures of regions; `None` if one reads what was refused.
    pub fn captures(&self, blocks: &[&'t Block<'t>]) -> Option<Captures<'t>> {
        Captures::of(blocks, self.scope)
    }
}

/// An op with closed regions, one for each of `bodies`, which get its operands as arguments.
///
/// # Errors
///
/// Those of the bodies and of the op's shape rule.
pub(crate) fn closed<'t>(
    importer: &mut Importer<'t>,
    e: &mut Emit<'_>,
    (def, attrs): (&'static OpDef, &[Attr<'_>]),
    operands: &[ValueId],
    results: usize,
    bodies: &mut [Body<'_, 't>],
) -> Inner<Vec<ValueId>> {
    let mut carried = Carried::new(0, 0);
    once(
        importer,
        e,
        (def, attrs),
        operands,
        results,
        (bodies, &mut carried),
    )
}

/// As [`closed`], for a loop whose first operands are carried. Where a step changes the extents of one, the loop is imported again
/// with open ones. The cost is bounded, because the operations of a module are.
///
/// # Errors
///
/// Those of [`closed`].
pub(crate) fn looped<'t>(
    importer: &mut Importer<'t>,
    e: &mut Emit<'_>,
    op: (&'static OpDef, &[Attr<'_>]),
    operands: &[ValueId],
    bodies: &mut [Body<'_, 't>],
    mut carried: Carried,
) -> Inner<Vec<ValueId>> {
    loop {
        carried.changes = false;
        let results = carried.count();
        let made = once(
            importer,
            e,
            op,
            operands,
            results,
            (&mut *bodies, &mut carried),
        );
        if !carried.changes {
            return made;
        }
        let first = made.ok().flatten().and_then(|own| own.first().copied());
        if let Some(op) = first.and_then(|own| e.g().defining_op(own)) {
            e.b.graph.erase(op);
        }
    }
}

fn once<'t>(
    importer: &mut Importer<'t>,
    e: &mut Emit<'_>,
    (def, attrs): (&'static OpDef, &[Attr<'_>]),
    operands: &[ValueId],
    results: usize,
    (bodies, carried): (&mut [Body<'_, 't>], &mut Carried),
) -> Inner<Vec<ValueId>> {
    let mut ended = Ok(());
    let fill = |region: usize, b: &mut Builder<'_>, arguments: &[ValueId]| {
        carried.open(b.graph, region, arguments);
        let mut cache = Cache::default();
        for &argument in arguments {
            for (axis, &dim) in b.graph.ty(argument).shape.iter().enumerate() {
                if let Dim::Symbol(name) = dim {
                    cache.sources.entry(name).or_insert((argument, axis));
                }
            }
        }
        let block = match arguments.first().map(|&first| b.graph.value_def(first)) {
            Some(ValueDef::Argument(block, _)) => Some(block),
            Some(ValueDef::Result(..)) | None => None,
        };
        let place = Place {
            block,
            is_pointwise: false,
        };
        let mut e = Emit {
            b: b.reborrow(),
            cache: &mut cache,
        };
        let stopped = || {
            Box::new(VerifyError::Structure {
                problem: String::new(),
            })
        };
        match bodies[region](importer, &mut e, place, arguments) {
            Ok(Some(values)) => {
                carried.widen(e.g(), region, arguments, &values);
                Ok(values)
            }
            Ok(None) => {
                ended = Err(None);
                Err(stopped())
            }
            Err(refused) => {
                ended = Err(Some(refused));
                Err(stopped())
            }
        }
    };
    let op = e.b.create_with_bodies(def, operands, attrs, results, fill);
    match (op, ended) {
        (_, Err(None)) => Ok(None),
        (_, Err(Some(refused))) => Err(refused),
        (Ok(op), Ok(())) => Ok(Some(e.g().results(op).into_iter().collect())),
        (Err(error), Ok(())) => Err(error.into()),
    }
}

/// A block of the text as what a region yields; its first arguments are those of the block, the others stand for the
/// captures.
pub(crate) fn body_of<'t>(
    block: &'t Block<'t>,
    captures: &Captures<'t>,
    importer: &mut Importer<'t>,
    e: &mut Emit<'_>,
    place: Place,
    arguments: &[ValueId],
) -> Inner<Vec<ValueId>> {
    let kept: Vec<usize> = (0..block.arguments.len()).collect();
    let values = body_of_some(block, (&kept, captures), importer, e, place, arguments)?;
    let Some(values) = values else {
        return Ok(None);
    };
    let values = values.iter().map(|value| e.value(value));
    values.collect::<Result<_, _>>().map(Some)
}

/// The same, for a region that gets only those arguments of the block that are `kept`; the captures have the others.
pub(crate) fn body_of_some<'t>(
    block: &'t Block<'t>,
    (kept, captures): (&[usize], &Captures<'t>),
    importer: &mut Importer<'t>,
    e: &mut Emit<'_>,
    place: Place,
    arguments: &[ValueId],
) -> Inner<Vec<Value>> {
    let (own, captured) = arguments.split_at(kept.len().min(arguments.len()));
    let mut scope = captures.scope(captured);
    for (&at, &value) in kept.iter().zip(own) {
        if let Some(argument) = block.arguments.get(at) {
            scope.define_one(argument.name, Value::Op(value));
        }
    }
    importer.deeper(|importer| importer.block(block, &mut scope, place, e))
}

/// Gives the arguments of a block their values.
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
