//! The matching machine: runs a pattern's instructions over an e-graph.

use egg::Id;
use mind_ir::Ty;
use mind_ir::types::{DType, Dim};

use crate::egraph::analysis::Eg;
use crate::egraph::language::{Head, Node};
use crate::egraph::payload::AttrId;
use crate::expr::{Scope, is_near};
use crate::pattern::{AttrPattern, DimPattern, Instruction, Part, Rule, ShapePattern, TypePattern};
use crate::slots::Slots;

/// Where a rule's pattern was found.
#[derive(Clone, Debug)]
pub(crate) struct Match {
    /// The register file: e-classes, the root first.
    pub(crate) registers: Box<[Id]>,
    /// Bound attributes, dtypes, extents.
    pub(crate) slots: Slots,
    /// The e-nodes matched, each with its class, in the order of the pattern's terms.
    pub(crate) nodes: Box<[(Id, Node)]>,
}

/// Finds the matches of `rule` at the classes `roots`, in their order, up to `limit` of them.
pub(crate) fn search(
    egraph: &Eg<'_>,
    uses: &[u32],
    rule: &Rule,
    roots: &[Id],
    limit: usize,
) -> Vec<Match> {
    let condition = rule.condition.as_ref();
    search_if(egraph, uses, rule, roots, limit, |scope| {
        condition.is_none_or(|condition| condition.holds(scope) == Some(true))
    })
}

/// As [`search`], with `accepts` in place of the rule's condition.
pub(crate) fn search_if(
    egraph: &Eg<'_>,
    uses: &[u32],
    rule: &Rule,
    roots: &[Id],
    limit: usize,
    accepts: impl Fn(&Scope<'_, '_>) -> bool,
) -> Vec<Match> {
    let pattern = &rule.pattern;
    let mut machine = Machine {
        egraph,
        uses,
        rule,
        accepts: &accepts,
        registers: vec![Id::from(0); pattern.registers],
        slots: Slots {
            attrs: vec![0; pattern.attrs],
            dtypes: vec![None; pattern.dtypes],
            dims: vec![Dim::Dynamic; pattern.dims],
            shapes: vec![Vec::new(); pattern.shapes],
        },
        nodes: Vec::new(),
        limit,
        found: Vec::new(),
    };
    for &root in roots {
        machine.registers[0] = egraph.find(root);
        machine.run(0);
        if machine.found.len() >= limit {
            break;
        }
    }
    machine.found
}

struct Machine<'m, 'r> {
    egraph: &'m Eg<'r>,
    uses: &'m [u32],
    rule: &'m Rule,
    accepts: &'m dyn Fn(&Scope<'_, '_>) -> bool,
    registers: Vec<Id>,
    slots: Slots,
    nodes: Vec<(Id, &'m Node)>,
    limit: usize,
    found: Vec<Match>,
}

impl<'m> Machine<'m, '_> {
    /// Runs from instruction `at` on. The depth is that of the instruction list, which is bounded.
    fn run(&mut self, at: usize) {
        if self.found.len() >= self.limit {
            return;
        }
        let rule = self.rule;
        match rule.pattern.instructions.get(at) {
            None => self.accept(),
            Some(Instruction::Same(a, b)) => {
                if self.class(*a) == self.class(*b) {
                    self.run(at + 1);
                }
            }
            Some(Instruction::Near { reg, value }) => {
                let constants = &self.egraph.analysis.store.constants;
                let constant = self.egraph[self.class(*reg)].data.constant;
                if constant.is_some_and(|constant| is_near(constants.get(constant), *value)) {
                    self.run(at + 1);
                }
            }
            Some(Instruction::Type { reg, ty }) => {
                let found = self.egraph[self.class(*reg)].data.ty;
                if self.matches_type(ty, found) {
                    self.run(at + 1);
                }
            }
            Some(Instruction::Open {
                reg,
                op,
                attrs,
                arity,
                out,
                swap,
            }) => {
                let class = self.class(*reg);
                let nodes: &'m [Node] = &self.egraph[class].nodes;
                let from = nodes.partition_point(|node| node.head < Head::Op(*op));
                for node in nodes[from..]
                    .iter()
                    .take_while(|node| node.head == Head::Op(*op))
                {
                    if node.children.len() != *arity || !self.matches_attrs(attrs, node) {
                        continue;
                    }
                    let out = usize::from(*out);
                    self.nodes.push((class, node));
                    self.registers[out..out + node.children.len()].copy_from_slice(&node.children);
                    self.run(at + 1);
                    if *swap && node.children[0] != node.children[1] {
                        self.registers[out] = node.children[1];
                        self.registers[out + 1] = node.children[0];
                        self.run(at + 1);
                    }
                    self.nodes.pop();
                }
            }
        }
    }

    fn class(&self, reg: u8) -> Id {
        self.egraph.find(self.registers[usize::from(reg)])
    }

    fn accept(&mut self) {
        let scope = Scope {
            egraph: self.egraph,
            uses: self.uses,
            registers: &self.registers,
            slots: &self.slots,
        };
        if (self.accepts)(&scope) {
            self.found.push(Match {
                registers: self
                    .registers
                    .iter()
                    .map(|&id| self.egraph.find(id))
                    .collect(),
                slots: self.slots.clone(),
                nodes: self
                    .nodes
                    .iter()
                    .map(|&(class, node)| (class, node.clone()))
                    .collect(),
            });
        }
    }

    fn matches_attrs(&mut self, patterns: &[AttrPattern], node: &Node) -> bool {
        let store = &self.egraph.analysis.store;
        let attrs: &[AttrId] = &store.payload(node.payload).attrs;
        patterns
            .iter()
            .zip(attrs)
            .all(|(pattern, &attr)| match pattern {
                AttrPattern::Bind(slot) => {
                    self.slots.attrs[usize::from(*slot)] = attr;
                    true
                }
                AttrPattern::Same(slot) => self.slots.attrs[usize::from(*slot)] == attr,
                AttrPattern::Equals(value) => store.attr(attr) == value,
            })
    }

    fn matches_type(&mut self, pattern: &TypePattern, ty: Ty) -> bool {
        let found = self.egraph.analysis.store.ty(ty);
        let dtype: DType = found.dtype;
        match pattern.dtype {
            Some(Part::Bind(slot)) => self.slots.dtypes[usize::from(slot)] = Some(dtype),
            Some(Part::Same(slot)) if self.slots.dtypes[usize::from(slot)] != Some(dtype) => {
                return false;
            }
            Some(Part::Same(_)) | None => {}
        }
        let shape: &[Dim] = found.shape;
        pattern
            .shape
            .as_ref()
            .is_none_or(|pattern| matches_shape(&mut self.slots, pattern, shape))
    }
}

fn matches_shape(slots: &mut Slots, pattern: &ShapePattern, shape: &[Dim]) -> bool {
    let (front, back) = (pattern.front.len(), pattern.back.len());
    let Some(middle) = shape.len().checked_sub(front + back) else {
        return false;
    };
    if pattern.rest.is_none() && middle > 0 {
        return false;
    }
    let mut dim = |pattern: &DimPattern, dim: Dim| match *pattern {
        DimPattern::Fixed(extent) => dim == Dim::Fixed(extent),
        DimPattern::Part(Part::Bind(slot)) => {
            slots.dims[usize::from(slot)] = dim;
            true
        }
        DimPattern::Part(Part::Same(slot)) => slots.dims[usize::from(slot)].surely_equals(dim),
    };
    let ends = pattern.front.iter().zip(shape).all(|(p, &d)| dim(p, d))
        && pattern
            .back
            .iter()
            .zip(&shape[front + middle..])
            .all(|(p, &d)| dim(p, d));
    let rest = &shape[front..front + middle];
    ends && match pattern.rest {
        None => true,
        Some(Part::Bind(slot)) => {
            slots.shapes[usize::from(slot)] = rest.to_vec();
            true
        }
        Some(Part::Same(slot)) => {
            let bound = &slots.shapes[usize::from(slot)];
            bound.len() == rest.len() && bound.iter().zip(rest).all(|(a, b)| a.surely_equals(*b))
        }
    }
}
