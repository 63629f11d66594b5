//! Computes the nodes of a kernel for the lanes of one vector.

use mind_ir::scalar::ScalarFn;
use mind_ir::types::DType;

use crate::lower::scalar::round;
use crate::lower::{apply, constant, convert};
use mind_vir::ir::{Builder, Value};

use super::plan::{Location, Plan};
use super::program::Node;
use super::quotient::Divisor;

/// The nodes of a kernel, and their assignment to passes.
#[derive(Clone, Copy)]
pub(super) struct Body<'a> {
    pub nodes: &'a [Node],
    pub plan: &'a Plan,
}

/// Supplies the operands of a vector.
pub(super) trait Operands {
    /// Returns elements of an input, widened.
    fn input(&self, b: &mut Builder, input: usize) -> Value;
    /// Returns elements of `dtype` that an earlier pass stored, widened.
    fn load_stored(&self, b: &mut Builder, dtype: DType, place: Location) -> Value;
    /// Returns the number of active lanes; `None` if all are active.
    fn count(&self) -> Option<Value>;
    /// Returns the reciprocal used instead of dividing by `node`, if there is one.
    fn divisor(&self, node: usize) -> Option<Divisor>;
}

impl Body<'_> {
    /// Returns the value of `node` in a pass. `known` holds values that are available, and receives those that are
    /// computed.
    ///
    /// # Panics
    ///
    /// Panics if the result of a reduction is needed and not in `known`.
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
        let value = match (self.stored_before(node, pass), &self.nodes[node]) {
            (_, &Node::Input(input)) => from.input(b, input),
            (_, &Node::Constant { dtype, bits }) => constant(b, dtype, bits),
            (Some(place), stored @ (Node::Apply { .. } | Node::Convert { .. })) => {
                let dtype = stored.dtype().expect("not an input");
                from.load_stored(b, dtype, place)
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

    /// Returns the location where an earlier pass stored the values of `node`, if one did.
    fn stored_before(&self, node: usize, pass: usize) -> Option<Location> {
        let stored = self.plan.stored[node]?;
        (stored.pass < pass).then_some(stored.place)
    }

    /// Returns the nodes that a pass computes for `roots`: varying ones, and the uniform ones that they read.
    pub fn needs(&self, pass: usize, roots: &[usize]) -> Needs {
        let (mut seen, mut pending) = (vec![false; self.nodes.len()], roots.to_vec());
        let mut needs = Needs::default();
        while let Some(node) = pending.pop() {
            if std::mem::replace(&mut seen[node], true) {
                continue;
            }
            if !self.plan.varies[node] {
                needs.uniform.push(node);
            } else if self.stored_before(node, pass).is_none() {
                needs.varying.push(node);
                pending.extend(self.nodes[node].args());
            }
        }
        needs
    }
}

/// Returns the node that `function` divides by, if it is a division.
pub(super) fn divisor_of(function: ScalarFn, args: &[usize]) -> Option<usize> {
    match (function, args) {
        (ScalarFn::Div, &[_, by]) => Some(by),
        _ => None,
    }
}

/// The nodes that a pass needs.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// Nodes that it computes for each vector.
    pub varying: Vec<usize>,
    /// Uniform nodes that it reads.
    pub uniform: Vec<usize>,
}
