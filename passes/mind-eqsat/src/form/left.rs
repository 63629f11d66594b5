//! The left side of a rule as a tree.

use std::ops::Range;

use mind_ir::opdef::OpDef;

use crate::egraph::optable::OpTable;
use crate::egraph::payload::AttrValue;
use crate::pattern::{AttrPattern, DimPattern, Instruction, Part, Pattern, ShapePattern};

/// What a rule looks for: ops over values, which are numbered; the root is value 0.
#[derive(Clone, Debug)]
pub struct Left<'r> {
    /// How many values there are, those equal by [`same`](Left::same) counted each.
    pub values: usize,
    /// The ops, each before those that compute its operands.
    pub ops: Vec<LeftOp<'r>>,
    /// Pairs of values that are one.
    pub same: Vec<(usize, usize)>,
    /// The types written for values.
    pub types: Vec<(usize, LeftType)>,
}

/// An op of a left side.
#[derive(Clone, Debug)]
pub struct LeftOp<'r> {
    /// Its row in the op table.
    pub def: &'static OpDef,
    /// The value it computes.
    pub result: usize,
    /// The values it reads.
    pub operands: Range<usize>,
    /// One attribute per row of the table entry.
    pub attrs: Vec<LeftAttr<'r>>,
}

/// An attribute of a left side.
#[derive(Clone, Copy, Debug)]
pub enum LeftAttr<'r> {
    /// Anything; what has one number is one value.
    Named(usize),
    /// This.
    Fixed(&'r AttrValue),
}

/// A type written for a value. What has one number is one dtype, extent or list of extents.
#[derive(Clone, Debug)]
pub struct LeftType {
    /// The dtype's number.
    pub dtype: Option<usize>,
    /// The extents; none where they are left open.
    pub shape: Option<Vec<LeftDim>>,
}

/// A part of a written shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeftDim {
    /// This extent.
    Fixed(i64),
    /// Any extent.
    Named(usize),
    /// Any number of extents.
    Rest(usize),
}

/// The tree behind the instructions of `pattern`.
pub(super) fn left<'r>(pattern: &'r Pattern, table: &OpTable) -> Left<'r> {
    let mut left = Left {
        values: pattern.registers,
        ops: Vec::new(),
        same: Vec::new(),
        types: Vec::new(),
    };
    for instruction in &pattern.instructions {
        match instruction {
            Instruction::Open {
                reg,
                op,
                attrs,
                out,
                ..
            } => {
                let first = usize::from(*out);
                // The registers of the operands end where those of the next op begin.
                if let Some(before) = left.ops.last_mut() {
                    before.operands.end = first;
                }
                left.ops.push(LeftOp {
                    def: table.def(*op),
                    result: usize::from(*reg),
                    operands: first..pattern.registers,
                    attrs: attrs.iter().map(attr).collect(),
                });
            }
            Instruction::Near { .. } => {}
            Instruction::Same(a, b) => left.same.push((usize::from(*a), usize::from(*b))),
            Instruction::Type { reg, ty } => {
                let ty = LeftType {
                    dtype: ty.dtype.map(slot),
                    shape: ty.shape.as_ref().map(shape),
                };
                left.types.push((usize::from(*reg), ty));
            }
        }
    }
    left
}

fn attr(pattern: &AttrPattern) -> LeftAttr<'_> {
    match pattern {
        AttrPattern::Bind(slot) | AttrPattern::Same(slot) => LeftAttr::Named(usize::from(*slot)),
        AttrPattern::Equals(value) => LeftAttr::Fixed(value),
    }
}

fn slot(part: Part) -> usize {
    match part {
        Part::Bind(slot) | Part::Same(slot) => usize::from(slot),
    }
}

fn shape(pattern: &ShapePattern) -> Vec<LeftDim> {
    let dim = |dim: &DimPattern| match *dim {
        DimPattern::Fixed(extent) => LeftDim::Fixed(extent),
        DimPattern::Part(part) => LeftDim::Named(slot(part)),
    };
    let front = pattern.front.iter().map(dim);
    let rest = pattern.rest.map(|part| LeftDim::Rest(slot(part)));
    front
        .chain(rest)
        .chain(pattern.back.iter().map(dim))
        .collect()
}
