//! Text that explains why a pattern did not match.

use egg::Id;
use mind_ir::opdef::OpDef;

use crate::egraph::language::{Head, Node};
use crate::egraph::payload::AttrId;
use crate::search::egraph::InEgraph;
use mind_rules::OpIx;
use mind_rules::expr::{ExplainedMatch, Scope, attr_text};
use mind_rules::matching::matcher::Failed;
use mind_rules::matching::pattern::{
    AttrPattern, DimPattern, Instruction, Rule, ShapePattern, SlotUse, TypePattern,
};
use mind_rules::matching::slots::{Reg, Slots};

/// The most ops of a class that are named.
const NAMED: usize = 4;

/// The state of a failed match, at the step that failed.
pub(crate) struct Mismatch<'a, 'r> {
    pub(crate) subject: InEgraph<'a, 'r>,
    pub(crate) rule: &'a Rule,
    pub(crate) registers: &'a [Id],
    pub(crate) slots: &'a Slots<Id, AttrId>,
}

impl Mismatch<'_, '_> {
    fn def(&self, op: OpIx) -> &'static OpDef {
        self.subject.egraph.analysis.store.ops.def(op)
    }

    /// Explains why the match fails at `step`.
    pub(crate) fn reason(&self, step: Failed<'_, &Node>) -> String {
        let instruction = match step {
            Failed::Instruction(instruction) => instruction,
            Failed::Op(Instruction::Open { op, attrs, .. }, node)
            | Failed::Op(Instruction::OpenList { op, attrs, .. }, node) => {
                return self.attrs(*op, attrs, node);
            }
            Failed::Op(instruction, _) => instruction,
        };
        match instruction {
            Instruction::Open { reg, op, .. } | Instruction::OpenList { reg, op, .. } => {
                self.op(*reg, *op)
            }
            Instruction::Near { reg, value } => self.near(*reg, *value),
            Instruction::Same(a, b) => self.same(*a, *b),
            Instruction::Type { reg, ty } => self.ty(*reg, ty),
            Instruction::SameList(..) => "two lists of values differ".to_owned(),
            Instruction::First { .. } => "a list of values is empty, or too long".to_owned(),
            Instruction::Start { .. } | Instruction::Each(_) => {
                "a value of a list does not match".to_owned()
            }
        }
    }

    /// Explains that the class in `reg` has no e-node of `op`.
    fn op(&self, reg: Reg, op: OpIx) -> String {
        let (place, wanted) = (self.place(reg), self.def(op).name);
        format!("{place} is {}, not `{wanted}`", self.contents(reg))
    }

    /// Explains that the attributes of `node` differ from `patterns`.
    fn attrs(&self, op: OpIx, patterns: &[AttrPattern], node: &Node) -> String {
        let store = &self.subject.egraph.analysis.store;
        let attrs = store.payload(node.payload).attrs.iter();
        let def = self.def(op);
        for ((pattern, &attr), row) in patterns.iter().zip(attrs).zip(def.attrs) {
            let found = attr_text(store.attr(attr), store.symbols());
            let wanted = match pattern {
                AttrPattern::Equals(value) if store.attr(attr) != value => {
                    attr_text(value, store.symbols())
                }
                AttrPattern::Same(slot) => match self.slots.attrs[usize::from(*slot)] {
                    Some(bound) if bound != attr => attr_text(store.attr(bound), store.symbols()),
                    _ => continue,
                },
                _ => continue,
            };
            return format!(
                "attribute `{}` of `{}` is {found}, not {wanted}",
                row.name, def.name
            );
        }
        format!("`{}` has {} operands", def.name, node.children.len())
    }

    /// Explains that the registers hold different classes.
    fn same(&self, a: Reg, b: Reg) -> String {
        let name = self.rule.names.value(a).unwrap_or_else(|| self.place(a));
        format!("{name} and {} are two values", self.place(b))
    }

    /// Explains that the value in `reg` is not a constant near `wanted`.
    fn near(&self, reg: Reg, wanted: f64) -> String {
        let place = self.place(reg);
        format!(
            "{place} is {}, not a constant near {wanted}",
            self.contents(reg)
        )
    }

    /// Explains that the class in `reg` does not have the type `ty`.
    fn ty(&self, reg: Reg, ty: &TypePattern) -> String {
        let found = self.subject.egraph[self.subject.egraph.find(self.registers[usize::from(reg)])]
            .data
            .ty;
        let found = self.subject.egraph.analysis.store.type_text(found);
        let name = self
            .rule
            .names
            .value(reg)
            .unwrap_or_else(|| self.place(reg));
        format!(
            "{name} has type {found}, which is not `{}`",
            self.type_pattern(ty)
        )
    }

    /// Explains why the condition does not hold.
    pub(crate) fn condition(&self) -> String {
        let scope = Scope {
            subject: &self.subject,
            registers: self.registers,
            slots: self.slots,
        };
        let shown = ExplainedMatch {
            scope: &scope,
            symbols: self.subject.egraph.analysis.store.symbols(),
            names: &self.rule.names,
        };
        let condition = self.rule.condition.as_ref();
        condition.map_or_else(String::new, |condition| shown.failure(condition))
    }

    /// Describes the position of the value in `reg` in the pattern, for example "operand `lhs` of `core.add`".
    fn place(&self, reg: Reg) -> String {
        for instruction in &self.rule.pattern.instructions {
            let Instruction::Open { op, out, .. } = instruction else {
                continue;
            };
            let def = self.def(*op);
            let index = usize::from(reg).checked_sub(usize::from(*out));
            if let Some(operand) = index.and_then(|index| def.operands.get(index)) {
                return format!("operand `{}` of `{}`", operand.name, def.name);
            }
        }
        "the op".to_owned()
    }

    /// Describes the e-nodes of the class in `reg`.
    fn contents(&self, reg: Reg) -> String {
        let class = self.subject.egraph.find(self.registers[usize::from(reg)]);
        let mut names: Vec<String> = Vec::new();
        for node in &self.subject.egraph[class].nodes {
            let name = match node.head {
                Head::Leaf => "a value from outside".to_owned(),
                Head::Const => "a constant".to_owned(),
                Head::Op(op) => format!("`{}`", self.def(op).name),
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let more = names.len() > NAMED;
        names.truncate(NAMED);
        let more = if more { " and others" } else { "" };
        format!("{}{more}", names.join(" or "))
    }

    fn type_pattern(&self, ty: &TypePattern) -> String {
        let dtype = ty.dtype.map_or_else(String::new, |part| {
            format!("'{}", part_name(&self.rule.names.dtypes, part))
        });
        let shape = ty
            .shape
            .as_ref()
            .map_or_else(String::new, |shape| self.shape_pattern(shape));
        format!("{dtype}{shape}")
    }

    fn shape_pattern(&self, shape: &ShapePattern) -> String {
        let names = &self.rule.names;
        let dim = |dim: &DimPattern| match *dim {
            DimPattern::Fixed(extent) => extent.to_string(),
            DimPattern::Named(part) => part_name(&names.dims, part),
        };
        let rest = shape
            .rest
            .map(|part| format!("..{}", part_name(&names.shapes, part)));
        let dims = shape.front.iter().map(dim).chain(rest);
        let dims: Vec<String> = dims.chain(shape.back.iter().map(dim)).collect();
        format!("[{}]", dims.join(", "))
    }
}

fn part_name(names: &[String], part: SlotUse) -> String {
    let (SlotUse::Bind(slot) | SlotUse::Same(slot)) = part;
    names.get(usize::from(slot)).cloned().unwrap_or_default()
}
