//! The values of a program at the lanes of one vector.

use mind_ir::scalar::ScalarFn;
use mind_ir::types::DType;

use crate::lower::scalar::round;
use crate::lower::{apply, constant, convert};
use mind_vir::ir::{Builder, Value};

use super::plan::{Location, Plan};
use super::program::Node;
use super::quotient::Divisor;

/// The nodes of a program, and how they are spread over passes.
#[derive(Clone, Copy)]
pub(super) struct Body<'a> {
    pub nodes: &'a [Node],
    pub plan: &'a Plan,
}

/// Where a vector gets what it does not compute.
pub(super) trait Operands {
    /// Elements of an input, widened.
    fn input(&self, b: &mut Builder, input: usize) -> Value;
    /// Elements of `dtype` that an earlier pass has kept, widened.
    fn kept(&self, b: &mut Builder, dtype: DType, place: Location) -> Value;
    /// How many lanes hold elements, where not all do.
    fn count(&self) -> Option<Value>;
    /// What stands in for dividing by the value of `node`, if anything does.
    fn divisor(&self, node: usize) -> Option<Divisor>;
}

impl Body<'_> {
    /// The value of `node` in a pass; `known` has those that are there already, and gets those that are
    /// computed on the way.
    ///
    /// # Panics
    ///
    /// If the result of a reduction is needed and not known.
    pub fn value(
        &self,
        b: &mut Builder,
        pass: usize,
        known: &mut [Option<Value>],
        from: &impl Operands,
        node: usize,
    ) -> Value {
        if let Some(value) = known[node] {
            return value;
        }
        let value = match (self.kept_before(node, pass), &self.nodes[node]) {
            (_, &Node::Input(input)) => from.input(b, input),
            (_, &Node::Constant { dtype, bits }) => constant(b, dtype, bits),
            (Some(place), kept @ (Node::Apply { .. } | Node::Convert { .. })) => {
                let dtype = kept.dtype().expect("it is no input");
                from.kept(b, dtype, place)
            }
            (
                None,
                Node::Apply {
                    function,
                    dtype,
                    args,
                },
            ) => {
                let values = args
                    .iter()
                    .map(|&arg| self.value(b, pass, known, from, arg));
                let values: Vec<Value> = values.collect();
                match divisor_of(*function, args).and_then(|by| from.divisor(by)) {
                    Some(divisor) => {
                        let quotient = divisor.divide(b, values[0]);
                        round(b, *dtype, quotient)
                    }
                    None => apply(b, *function, *dtype, &values, from.count()),
                }
            }
            (
                None,
                &Node::Convert {
                    from: dtype,
                    to,
                    arg,
                },
            ) => {
                let arg = self.value(b, pass, known, from, arg);
                convert(b, dtype, to, arg)
            }
            (_, Node::Reduce { .. }) => panic!("a reduction ends before its result is used"),
        };
        known[node] = Some(value);
        value
    }

    /// Where an earlier pass has kept the values of `node`, if one has.
    fn kept_before(&self, node: usize, pass: usize) -> Option<Location> {
        let kept = self.plan.kept[node]?;
        (kept.pass < pass).then_some(kept.place)
    }

    /// What a pass computes itself for `roots`: nodes that vary, and those that do not and are read by them.
    pub fn needs(&self, pass: usize, roots: &[usize]) -> Needs {
        let (mut seen, mut pending) = (vec![false; self.nodes.len()], roots.to_vec());
        let mut needs = Needs::default();
        while let Some(node) = pending.pop() {
            if std::mem::replace(&mut seen[node], true) {
                continue;
            }
            if !self.plan.varies[node] {
                needs.uniform.push(node);
            } else if self.kept_before(node, pass).is_none() {
                needs.varying.push(node);
                pending.extend(self.nodes[node].args());
            }
        }
        needs
    }
}

/// The node that `function` divides by, if it does.
pub(super) fn divisor_of(function: ScalarFn, args: &[usize]) -> Option<usize> {
    match (function, args) {
        (ScalarFn::Div, &[_, by]) => Some(by),
        _ => None,
    }
}

/// What a pass needs of the nodes of a program.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// Nodes that it computes at each position.
    pub varying: Vec<usize>,
    /// Nodes that it takes from outside.
    pub uniform: Vec<usize>,
}
