//! Conditionals, loops and calls.

use mind_convert::{EmitCore, Refusal, RegionOp};
use mind_core::ops::compare::Direction;
use mind_core::ops::control::{If, While};
use mind_core::region::Carried;
use mind_diag::{Code, Span};
use mind_ir::ValueId;
use mind_ir::opdef::Op as _;
use mind_ir::types::DType;

use super::Row;
use crate::import::emit::{Emit, Many};
use crate::import::inputs::is_assertion;
use crate::import::node::Node;
use crate::import::region::{Body, closed, looped};
use crate::import::scope::{Captures, Scope};
use crate::import::value::{Compared, Extent, Value, Values};
use crate::import::{Importer, Place};
use crate::text::{Attr, Block};

pub(super) const ROWS: &[Row] = &[
    Row::values("call", call),
    Row::values("func.call", call),
    Row::values("stablehlo.composite", composite),
    Row::values("stablehlo.custom_call", custom_call),
    // A module runs on one device, which holds the whole tensor.
    Row::values("sdy.sharding_constraint", |n| {
        n.ignore(&["sharding"]);
        n.count(1)?;
        Ok(n.inputs.to_vec())
    }),
    Row::values("stablehlo.optimization_barrier", |n| Ok(n.inputs.to_vec())),
    Row::values("stablehlo.map", |n| {
        n.ignore(&["dimensions"]);
        let block = n.region(0)?;
        let captures = n.captures(&[block])?;
        let captured: Vec<ValueId> = n.values(captures.operands())?;
        let scope = captures.scope(&captured);
        let place = Place {
            is_pointwise: true,
            ..n.place
        };
        let values = n.inputs.to_vec();
        n.inlined(block, &values, scope, place)
    }),
    Row::values("stablehlo.if", |n| {
        n.count(1)?;
        let branches = [n.region(0)?, n.region(1)?];
        if let Value::Known(pred) = n.given(0)? {
            let chosen = usize::from(pred.number() == Some(0.0));
            return in_place(n, branches[chosen]);
        }
        let pred = n.input(0)?;
        choice(n, pred, &branches)
    }),
    Row::values("stablehlo.case", case),
    Row::values("stablehlo.while", repeat),
    Row::one("stablehlo.partition_id", |n| {
        Ok(n.e.number(DType::U32, 0.0))
    }),
    Row::one("stablehlo.replica_id", |n| Ok(n.e.number(DType::U32, 0.0))),
];

impl Node<'_, '_, '_> {
    /// The values of the module that `all` are.
    pub(super) fn values<'v>(&mut self, all: impl Iterator<Item = &'v Value>) -> Many {
        all.map(|value| self.e.value(value)).collect()
    }
}

fn of_module(values: Vec<ValueId>) -> Vec<Value> {
    values.into_iter().map(Value::Op).collect()
}

fn call(n: &mut Node<'_, '_, '_>) -> Values {
    let Some(Attr::Symbol(name)) = n.attr(&["callee"]) else {
        return Err(Refusal::missing("callee"));
    };
    n.called(name)
}

/// Imports a composite as the core function of its name, or through its decomposition.
fn composite(n: &mut Node<'_, '_, '_>) -> Values {
    n.ignore(&["composite_attributes", "decomposition", "version"]);
    let row = n.text(&["name"]).and_then(super::find);
    if let Some(row) = row.filter(|row| row.is_pointwise()) {
        return row.import(n);
    }
    let Some(Attr::Symbol(name)) = n.attr(&["decomposition"]) else {
        return Err(Refusal::missing("decomposition"));
    };
    n.called(name)
}

/// Imports custom calls: assertions about shapes are checked here, and identities return their operand.
fn custom_call(n: &mut Node<'_, '_, '_>) -> Values {
    n.ignore(&[
        "api_version",
        "backend_config",
        "called_computations",
        "has_side_effect",
        "operand_layouts",
        "output_operand_aliases",
        "result_layouts",
    ]);
    if is_assertion(n.op) {
        n.ignore(&["callee", "call_target_name"]);
        assertion(n)?;
        return Ok(Vec::new());
    }
    // Unknown calls were refused earlier, before their operands were read.
    let name = n.text(&["callee", "call_target_name"]).unwrap_or("");
    match known_call(name) {
        Some(Known::Row(row)) => row.import(n),
        Some(Known::TopK) => {
            let k = n.fields(&["mhlo.attributes"])?.int("k")?;
            Ok(of_module(super::sort::top_k(n, k)?))
        }
        Some(Known::Lapack(import)) => Ok(of_module(import(n)?)),
        Some(Known::Identity) | None => {
            n.count(1)?;
            Ok(n.inputs.to_vec())
        }
    }
}

/// A custom call with known semantics.
pub(super) enum Known {
    /// Returns its operand.
    Identity,
    /// A function of CHLO, as torch_xla and converters from MHLO write it.
    Row(&'static Row),
    TopK,
    Lapack(fn(&mut Node<'_, '_, '_>) -> super::Many),
}

/// Returns the semantics of a custom call; `None` if it is unknown.
pub(super) fn known_call(name: &str) -> Option<Known> {
    const WITHOUT_EFFECT: &[&str] = &[
        "LayoutConstraint",
        "MoveToDevice",
        "MoveToHost",
        "Sharding",
        "annotate_device_placement",
        "xla.sdy.FuncResultSharding",
    ];
    if WITHOUT_EFFECT.contains(&name) {
        return Some(Known::Identity);
    }
    if name == "mhlo.topk" {
        return Some(Known::TopK);
    }
    if let Some(import) = super::solve::lapack(name) {
        return Some(Known::Lapack(import));
    }
    let function = name.strip_prefix("mhlo.")?;
    let row = super::find(&format!("chlo.{function}"));
    row.filter(|row| row.is_pointwise()).map(Known::Row)
}

/// The common prefix of JAX's assertion messages.
const JAX_PREFIX: &str = "Input shapes do not match the polymorphic shapes specification. ";

/// Checks an assertion about extents. A true one is dropped, and so is the assertion that a named extent is at least 1,
/// which is the caller's responsibility. Other data-dependent assertions are refused.
fn assertion(n: &Node<'_, '_, '_>) -> Result<(), Refusal> {
    let message = n.text(&["error_message"]).unwrap_or("");
    let message = message.strip_prefix(JAX_PREFIX).unwrap_or(message);
    let message = message.split(". ").next().unwrap_or("");
    match n.given(0)? {
        Value::Known(known) if known.number() == Some(0.0) => Err(Refusal::new(
            Code(3003),
            format!("the extents break an assertion of the text: {message}"),
        )
        .help("give extents that the assertion allows")),
        Value::Known(_) => Ok(()),
        Value::Compared(own) if is_at_least_one(own) => Ok(()),
        Value::Op(_) | Value::Extents(_) | Value::Compared(_) => Err(Refusal::not_constant(
            "the condition of an assertion".to_owned(),
            format_args!("is not known: {message}"),
        )
        .help("`--dim NAME=EXTENT` gives extents")),
    }
}

/// Returns whether a comparison is `extent >= bound` with a named extent and a bound of at most 1.
fn is_at_least_one(own: &Compared) -> bool {
    let (Direction::Ge, Value::Extents(lhs), Value::Known(rhs)) =
        (own.direction, &own.lhs, &own.rhs)
    else {
        return false;
    };
    let is_small = rhs.number().is_some_and(|bound| bound <= 1.0);
    is_small && matches!(lhs.elements[..], [Extent::Named(_)])
}

/// Inlines a branch without arguments.
fn in_place<'t>(n: &mut Node<'_, 't, '_>, block: &'t Block<'t>) -> Values {
    let captures = n.captures(&[block])?;
    let captured = n.values(captures.operands())?;
    let scope: Scope<'t> = captures.scope(&captured);
    let place = n.place;
    n.inlined(block, &[], scope, place)
}

/// Imports a conditional with two branches, the first for a true predicate.
fn choice<'t>(n: &mut Node<'_, 't, '_>, pred: ValueId, branches: &[&'t Block<'t>; 2]) -> Values {
    let captures = n.captures(branches)?;
    let operands = [vec![pred], n.values(captures.operands())?].concat();
    let count = n.op.types.len();
    let mut bodies = branches.map(|block| body(block, &captures));
    let op = RegionOp {
        def: If::DEF,
        attrs: &[],
        operands: &operands,
        results: count,
    };
    let made = closed(n.importer, &mut n.e, op, &mut bodies)?;
    Ok(of_module(made))
}

fn body<'b, 't: 'b>(block: &'t Block<'t>, captures: &'b Captures<'t>) -> Body<'b, 't> {
    Box::new(move |region, arguments| region.block(block, captures, arguments))
}

/// Imports `case`: the branch selected by an index, or the last one if the index is out of range.
fn case(n: &mut Node<'_, '_, '_>) -> Values {
    n.count(1)?;
    let branches: Vec<&Block<'_>> = n.op.regions.iter().collect();
    let Some((last, others)) = branches.split_last() else {
        return Err(Refusal::parts("the op", "no branch", "1 or more"));
    };
    if let Value::Known(index) = n.given(0)? {
        let index = index.number().unwrap_or(-1.0);
        let chosen = (0..others.len()).find(|&at| at as f64 == index);
        return in_place(n, chosen.map_or(*last, |at| others[at]));
    }
    if others.is_empty() {
        return in_place(n, last);
    }
    let index = n.input(0)?;
    if let ([first], Some(pred)) = (others, n.e.cast_truth(index)) {
        return choice(n, pred, &[last, first]);
    }
    let captures = n.captures(&branches)?;
    let captured = n.values(captures.operands())?;
    let count = n.op.types.len();
    let values = [&[index][..], &captured].concat();
    let chosen = Chosen {
        branches: &branches,
        captures: &captures,
        count,
    };
    let made = chosen.from(0, n.importer, &mut n.e, &values)?;
    Ok(of_module(made))
}

/// Branches selected by an index.
#[derive(Clone, Copy)]
struct Chosen<'b, 't> {
    branches: &'b [&'t Block<'t>],
    captures: &'b Captures<'t>,
    /// The number of results.
    count: usize,
}

impl<'t> Chosen<'_, 't> {
    /// Returns a chain of conditionals over the branches from `at` on; `values` are the index and the captures.
    fn from(
        self,
        at: usize,
        importer: &mut Importer<'t>,
        e: &mut Emit<'_>,
        values: &[ValueId],
    ) -> Many {
        let number = e.number(e.dtype(values[0]), at as f64);
        let pred = e.compare(Direction::Eq, values[0], number)?;
        let operands = [&[pred], values].concat();
        let first: Body<'_, 't> = Box::new(move |region, arguments| {
            region.block(self.branches[at], self.captures, &arguments[1..])
        });
        let second: Body<'_, 't> = Box::new(move |region, arguments| {
            if at + 2 < self.branches.len() {
                let mut e = region.e.at(region.place.block, Span::FILE);
                let importer = &mut region.importer;
                return importer.deeper(|own| self.from(at + 1, own, &mut e, arguments))?;
            }
            region.block(self.branches[at + 1], self.captures, &arguments[1..])
        });
        let op = RegionOp {
            def: If::DEF,
            attrs: &[],
            operands: &operands,
            results: self.count,
        };
        closed(importer, e, op, &mut [first, second])
    }
}

/// Imports `while`. Loop-invariant variables are captured instead of carried.
fn repeat(n: &mut Node<'_, '_, '_>) -> Values {
    let regions = [n.region(0)?, n.region(1)?];
    let count = n.inputs.len();
    let last = regions[1].ops.last().filter(|op| op.is_return());
    let yields = last.map_or(0, |op| op.operands.len());
    if regions.iter().any(|own| own.arguments.len() != count) || yields != count {
        let found = format!(
            "regions of {} and {} arguments, of which the second returns {yields}",
            regions[0].arguments.len(),
            regions[1].arguments.len()
        );
        return Err(Refusal::parts(
            "the op",
            found,
            format_args!("{count}, as many as it has operands"),
        ));
    }
    let is_kept = |at: &usize| {
        let yielded = last.and_then(|op| op.operands.get(*at));
        yielded.is_none_or(|own| (own.name, own.index) != (regions[1].arguments[*at].name, 0))
    };
    let kept: Vec<usize> = (0..count).filter(is_kept).collect();
    if kept.is_empty() {
        return Err(Refusal::unsupported(
            "its body returns all of its arguments unchanged",
            "a loop that changes nothing does not end: check the body",
        ));
    }
    let mut captures = n.captures(&regions)?;
    for at in (0..count).filter(|at| !kept.contains(at)) {
        let names = regions.map(|own| own.arguments[at].name);
        captures.add(names[0], n.inputs[at].clone());
        if names[1] != names[0] {
            captures.add(names[1], n.inputs[at].clone());
        }
    }
    let mut operands = Vec::with_capacity(count);
    for &at in &kept {
        operands.push(n.input(at)?);
    }
    operands.extend(n.values(captures.operands())?);
    let attrs = While::attrs(kept.len() as i64);
    let (kept, captures) = (&kept, &captures);
    let mut bodies = regions.map(|block| -> Body<'_, '_> {
        let is_body = std::ptr::eq(block, regions[1]);
        Box::new(move |region, arguments| {
            let values = region.block_without(block, kept, captures, arguments)?;
            let own = values.iter().enumerate();
            let own = own.filter(|(at, _)| !is_body || kept.contains(at));
            own.map(|(_, value)| region.e.value(value)).collect()
        })
    });
    let op = RegionOp {
        def: While::DEF,
        attrs: &attrs,
        operands: &operands,
        results: kept.len(),
    };
    let carried = Carried::new(kept.len(), 1);
    let made = looped(n.importer, &mut n.e, op, &mut bodies, carried)?;
    let mut results = n.inputs.to_vec();
    for (&at, value) in kept.iter().zip(made) {
        results[at] = Value::Op(value);
    }
    Ok(results)
}
