//! Declared ranks of values, for operators whose result has a data-dependent rank.
//!
//! Declarations are propagated backwards through operators that keep ranks, because exporters often declare only the
//! outputs of a graph.

use super::scope::Scope;
use crate::operators;
use crate::proto::{NodeProto, ValueInfoProto};

/// The rank of an operator's first result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RankRule {
    /// The rank of the first input.
    First,
    /// The highest rank of the inputs, which are broadcast to one shape.
    Broadcast,
    /// Any other rule.
    Other,
}

/// Returns the rank that `info` declares, if there is one.
pub(crate) fn declared_rank(info: &ValueInfoProto) -> Option<usize> {
    let ty = info.r#type.as_ref()?.tensor_type.as_ref()?;
    Some(ty.shape.as_ref()?.dim.len())
}

impl<'n> Scope<'n> {
    /// Records the ranks that a graph or function declares.
    pub(super) fn declare_ranks(&mut self, infos: impl Iterator<Item = &'n ValueInfoProto>) {
        for info in infos {
            if let Some(rank) = declared_rank(info) {
                self.declare_rank(&info.name, rank);
            }
        }
    }

    /// Propagates declared ranks from results to inputs. `order` is topological.
    pub(super) fn carry_ranks_back(&mut self, order: &[&'n NodeProto]) {
        for node in order.iter().rev() {
            let Some(rank) = node.output.first().and_then(|own| self.rank(own)) else {
                continue;
            };
            let rule = operators::find(&node.domain, &node.op_type)
                .map_or(RankRule::Other, operators::Operator::rank_rule);
            let input = match rule {
                RankRule::First => node.input.first(),
                RankRule::Broadcast => self.widest_input(node, rank),
                RankRule::Other => None,
            };
            if let Some(input) = input.filter(|own| self.rank(own).is_none()) {
                self.declare_rank(input, rank);
            }
        }
    }

    /// Returns the input that must have the rank of the result, because all others are declared with lower ranks.
    fn widest_input(&self, node: &'n NodeProto, rank: usize) -> Option<&'n String> {
        let is_lower = |name: &&String| self.rank(name).is_some_and(|own| own < rank);
        let mut others = node.input.iter().filter(|name| !is_lower(name));
        others.next().filter(|_| others.next().is_none())
    }
}
