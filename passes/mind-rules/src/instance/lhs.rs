//! The left side of a rule as a tree.

use std::ops::Range;

use mind_ir::opdef::OpDef;

use crate::attr_value::AttrValue;
use crate::matching::pattern::{
    AttrPattern, DimPattern, Each, Instruction, Item, Pattern, ShapePattern, SlotUse,
};
use crate::matching::slots::Reg;
use crate::op_table::{OpIx, OpTable};

/// The left side of a rule: ops over numbered values; the root is value 0.
#[derive(Clone, Debug)]
pub struct Lhs<'r> {
    /// The number of values; values that [`same`](Lhs::same) equates are counted separately.
    pub values: usize,
    /// The ops, each before the ops that compute its operands.
    pub ops: Vec<LhsOp<'r>>,
    /// Pairs of equal values.
    pub same: Vec<(usize, usize)>,
    /// The types written for values.
    pub types: Vec<(usize, LhsType)>,
}

/// An op of a left side.
#[derive(Clone, Debug)]
pub struct LhsOp<'r> {
    /// Its definition.
    pub def: &'static OpDef,
    /// The index of the matched result.
    pub nth: usize,
    /// The number of the matched result.
    pub result: usize,
    /// The operands.
    pub operands: Range<usize>,
    /// One pattern for each attribute of the op's definition.
    pub attrs: Vec<LhsAttr<'r>>,
}

/// An attribute of a left side.
#[derive(Clone, Copy, Debug)]
pub enum LhsAttr<'r> {
    /// Any value; attributes with the same number must be equal.
    Named(usize),
    /// Exactly this value.
    Fixed(&'r AttrValue),
}

/// A type written for a value. Equal numbers denote the same dtype, extent or list of extents.
#[derive(Clone, Debug)]
pub struct LhsType {
    /// The dtype's number.
    pub dtype: Option<usize>,
    /// The extents; `None` if the type leaves the shape open.
    pub shape: Option<Vec<LhsDim>>,
}

/// A part of a written shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LhsDim {
    /// Exactly this extent.
    Fixed(i64),
    /// Any extent.
    Named(usize),
    /// Any number of extents.
    Rest(usize),
}

/// Reconstructs the tree from the instructions of `pattern`, with `listed` values for each of its lists, and returns
/// these values for each list.
pub(super) fn left<'r>(
    pattern: &'r Pattern,
    table: &OpTable,
    listed: usize,
) -> (Lhs<'r>, Vec<Vec<usize>>) {
    let mut builder = LeftBuilder {
        table,
        listed,
        left: Lhs {
            values: pattern.registers,
            ops: Vec::new(),
            same: Vec::new(),
            types: Vec::new(),
        },
        lists: vec![Vec::new(); pattern.lists],
        registers: (0..pattern.registers).collect(),
    };
    builder.code(&pattern.instructions);
    (builder.left, builder.lists)
}

struct LeftBuilder<'r, 't> {
    table: &'t OpTable,
    listed: usize,
    left: Lhs<'r>,
    lists: Vec<Vec<usize>>,
    /// The value in each register. Registers are reused for each value of a list.
    registers: Vec<usize>,
}

impl<'r> LeftBuilder<'r, '_> {
    fn code(&mut self, code: &'r [Instruction]) {
        for instruction in code {
            match instruction {
                Instruction::Open {
                    reg,
                    op,
                    attrs,
                    out,
                    operands,
                    ..
                } => {
                    let outs = usize::from(*out)..usize::from(*out) + usize::from(*operands);
                    // Operands have consecutive numbers, also where their registers are reused.
                    let first = self.registers.get(outs.start).copied();
                    let first = first.unwrap_or(self.left.values);
                    let row = outs.clone().zip(first..);
                    let in_a_row = row.clone().all(|(reg, value)| self.registers[reg] == value);
                    debug_assert!(in_a_row, "an op opens registers in a row");
                    self.op(*reg, *op, attrs, first..first + outs.len());
                }
                Instruction::OpenList {
                    reg,
                    op,
                    attrs,
                    items,
                } => {
                    let first = self.left.values;
                    for item in items {
                        match item {
                            Item::One(reg) => {
                                let value = self.new_values(1).start;
                                self.left.same.push((self.value(*reg), value));
                            }
                            Item::Many(list) => {
                                self.lists[usize::from(*list)] =
                                    self.new_values(self.listed).collect();
                            }
                        }
                    }
                    self.op(*reg, *op, attrs, first..self.left.values);
                }
                Instruction::Near { .. } => {}
                Instruction::Same(a, b) => {
                    self.left.same.push((self.value(*a), self.value(*b)));
                }
                Instruction::SameList(a, b) => {
                    let (a, b) = (&self.lists[usize::from(*a)], &self.lists[usize::from(*b)]);
                    let pairs = a.iter().copied().zip(b.iter().copied());
                    self.left.same.extend(pairs);
                }
                Instruction::First { list, reg } => {
                    let first = self.lists[usize::from(*list)].first().copied();
                    let own = self.value(*reg);
                    self.left.same.extend(first.map(|first| (own, first)));
                }
                Instruction::Start { reg, list } => {
                    self.lists[usize::from(*list)] = vec![self.value(*reg)];
                }
                Instruction::Each(each) => self.each(each),
                Instruction::Type { reg, ty } => {
                    let ty = LhsType {
                        dtype: ty.dtype.map(slot),
                        shape: ty.shape.as_ref().map(shape),
                    };
                    self.left.types.push((self.value(*reg), ty));
                }
            }
        }
    }

    /// Adds the pattern of each value of a list after the first.
    fn each(&mut self, each: &'r Each) {
        let values = self.lists[usize::from(each.list)].clone();
        for value in values.into_iter().skip(1) {
            let own = self.new_values(1).start;
            self.registers[usize::from(each.reg)] = own;
            self.left.same.push((own, value));
            for instruction in &each.body {
                if let Instruction::Open { out, operands, .. } = instruction {
                    let out = usize::from(*out);
                    let fresh = self.new_values(usize::from(*operands));
                    for (reg, value) in (out..).zip(fresh) {
                        self.registers[reg] = value;
                    }
                }
            }
            self.code(&each.body);
            for &(reg, list) in &each.collect {
                let value = self.value(reg);
                self.lists[usize::from(list)].push(value);
            }
        }
    }

    fn op(&mut self, reg: Reg, op: OpIx, attrs: &'r [AttrPattern], operands: Range<usize>) {
        self.left.ops.push(LhsOp {
            def: self.table.def(op),
            nth: self.table.result(op),
            result: self.value(reg),
            operands,
            attrs: attrs.iter().map(attr).collect(),
        });
    }

    fn value(&self, reg: Reg) -> usize {
        self.registers[usize::from(reg)]
    }

    fn new_values(&mut self, count: usize) -> Range<usize> {
        let first = self.left.values;
        self.left.values += count;
        first..self.left.values
    }
}

fn attr(pattern: &AttrPattern) -> LhsAttr<'_> {
    match pattern {
        AttrPattern::Bind(slot) | AttrPattern::Same(slot) => LhsAttr::Named(usize::from(*slot)),
        AttrPattern::Equals(value) => LhsAttr::Fixed(value),
    }
}

fn slot(part: SlotUse) -> usize {
    match part {
        SlotUse::Bind(slot) | SlotUse::Same(slot) => usize::from(slot),
    }
}

fn shape(pattern: &ShapePattern) -> Vec<LhsDim> {
    let dim = |dim: &DimPattern| match *dim {
        DimPattern::Fixed(extent) => LhsDim::Fixed(extent),
        DimPattern::Named(part) => LhsDim::Named(slot(part)),
    };
    let front = pattern.front.iter().map(dim);
    let rest = pattern.rest.map(|part| LhsDim::Rest(slot(part)));
    front
        .chain(rest)
        .chain(pattern.back.iter().map(dim))
        .collect()
}
