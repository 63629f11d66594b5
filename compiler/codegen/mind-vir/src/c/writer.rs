//! Writes lines, and names values in them.

use std::fmt::{Arguments, Write};

use crate::ir::{Addr, Function, Op, Type, Value};

use super::facts::Facts;
use super::lane;
use super::plan::Plan;
use super::template::marked;

/// The state of writing a function.
pub(super) struct Writer<'f, 'o> {
    pub(super) function: &'f Function,
    pub(super) facts: &'o Facts,
    pub(super) plan: Plan<'f>,
    pub(super) out: &'o mut String,
    pub(super) depth: usize,
}

impl<'f> Writer<'f, '_> {
    pub(super) fn line(&mut self, text: Arguments<'_>) {
        // Writing to a string is infallible.
        let _ = writeln!(self.out, "{:1$}{text}", "", 4 * self.depth);
    }

    /// Writes indented lines between braces.
    pub(super) fn braced(&mut self, head: Arguments<'_>, body: impl FnOnce(&mut Self)) {
        self.line(format_args!("{head} {{"));
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.line(format_args!("}}"));
    }

    /// Returns the C type of a value, or of its lanes.
    pub(super) fn c_type(&self, value: Value) -> &'static str {
        match self.function.ty(value) {
            Type::Vector(lane) => lane::c_type(lane),
            Type::Mask(_) => "_Bool",
            Type::Index | Type::Ptr => "int64_t",
        }
    }

    pub(super) fn is_vector(&self, value: Value) -> bool {
        matches!(self.function.ty(value), Type::Vector(_) | Type::Mask(_))
    }

    /// Returns the name of an index, or of a uniform vector.
    pub(super) fn name(&self, value: Value) -> String {
        match self.facts.literal(value) {
            Some(n) => marked(lane::index(n)),
            None => self.facts.home(value).to_string(),
        }
    }

    /// Returns an expression for lane `l` of a vector, outside of the piece that computes it.
    pub(super) fn element(&self, value: Value, l: &str) -> String {
        if self.facts.is_uniform(value) {
            return value.to_string();
        }
        format!("a{}[{l}]", self.facts.home(value).index())
    }

    /// Returns an expression for the distance in bytes between `pointer` and its root.
    pub(super) fn offset(&self, pointer: Value) -> Option<String> {
        let root = self.facts.root(pointer);
        (self.facts.home(pointer) != root).then(|| self.name(pointer))
    }

    /// Returns an expression for the distance in bytes between `addr` and the root of its base.
    pub(super) fn distance(&self, addr: &Addr) -> String {
        let mut distance = match (addr.index, addr.offset) {
            (None, 0) => "0".to_owned(),
            (None, offset) => marked(offset.to_string()),
            (Some(index), offset) => {
                let offset = marked(offset.to_string());
                format!("mind_at({}, {}, {offset})", self.name(index), addr.scale)
            }
        };
        if let Some(base) = self.offset(addr.base) {
            distance = if distance == "0" {
                base
            } else {
                format!("mind_add({base}, {distance})")
            };
        }
        distance
    }

    pub(super) fn address(&self, addr: &Addr) -> String {
        let (root, distance) = (self.facts.root(addr.base), self.distance(addr));
        if distance == "0" {
            root.to_string()
        } else {
            format!("{root} + {distance}")
        }
    }

    pub(super) fn array(&mut self, value: Value) {
        let (ty, lanes) = (self.c_type(value), self.function.lanes());
        self.line(format_args!("{ty} a{}[{lanes}];", value.index()));
    }

    /// Returns whether a loop-carried value is a pointer variable.
    pub(super) fn is_root(&self, param: Value) -> bool {
        self.function.ty(param) == Type::Ptr && self.facts.root(param) == param
    }

    /// Returns an expression for lane `l` of the result of `op`; `operand` returns the expression of a vector operand.
    pub(super) fn expression(&self, op: &Op, operand: &dyn Fn(Value) -> String) -> String {
        let lane_of = |value: Value| self.function.lane(value);
        let guarded = |count: Option<Value>, text: String| match count {
            Some(count) => format!("l < {} ? {text} : 0", self.name(count)),
            None => text,
        };
        match *op {
            Op::Load { lane, addr, count } => {
                let (suffix, bytes) = (lane::suffix(lane), lane.bytes());
                let at = self.address(&addr);
                guarded(count, format!("mind_load_{suffix}({at} + {bytes} * l)"))
            }
            Op::LoadStrided {
                lane,
                addr,
                stride,
                count,
            } => {
                let (suffix, bytes) = (lane::suffix(lane), lane.bytes());
                let (root, start) = (self.facts.root(addr.base), self.distance(&addr));
                let ahead = format!("mind_at(mind_mul(l, {}), {bytes}, 0)", self.name(stride));
                guarded(
                    count,
                    format!("mind_load_{suffix}({root} + mind_add({start}, {ahead}))"),
                )
            }
            Op::Gather {
                lane,
                base,
                places,
                count,
            } => {
                let (suffix, bytes) = (lane::suffix(lane), lane.bytes());
                let (root, start) = (self.facts.root(base), self.distance(&Addr::at(base)));
                let ahead = format!("mind_at((int32_t){}, {bytes}, 0)", operand(places));
                guarded(
                    count,
                    format!("mind_load_{suffix}({root} + mind_add({start}, {ahead}))"),
                )
            }
            Op::Unary(op, a) => lane::unary(op, lane_of(a), &operand(a)),
            Op::Binary(op, a, b) => lane::binary(op, lane_of(a), &operand(a), &operand(b)),
            Op::Fma(a, b, c) => {
                let suffix = lane::suffix(lane_of(a));
                format!(
                    "mind_fma_{suffix}({}, {}, {})",
                    operand(a),
                    operand(b),
                    operand(c)
                )
            }
            Op::DotBytes(a, b, c) => lane::dot_bytes([a, b, c].map(operand)),
            Op::IntDiv {
                signed,
                lhs,
                rhs,
                count,
            } => {
                let lane = lane_of(lhs);
                guarded(
                    count,
                    lane::divide(signed, lane, &operand(lhs), &operand(rhs)),
                )
            }
            Op::Below(_, count) => format!("l < {}", self.name(count)),
            Op::Compare(how, a, b) => lane::compare(how, lane_of(a), &operand(a), &operand(b)),
            Op::MaskOp(op, a, b) => lane::mask(op, &operand(a), &operand(b)),
            Op::Select(mask, a, b) => {
                format!("{} ? {} : {}", operand(mask), operand(a), operand(b))
            }
            Op::Shift(op, a, n) => lane::shift(op, lane_of(a), &operand(a), n),
            Op::Convert(op, to, a) => lane::convert(op, lane_of(a), to, &operand(a)),
            Op::LanesDown(a, n) => {
                let (lanes, ahead) = (self.function.lanes(), self.element(a, &format!("l + {n}")));
                format!("l + {n} < {lanes} ? {ahead} : 0")
            }
            Op::Splat(a) => self.element(a, "0"),
            Op::Transpose {
                odd,
                block,
                first,
                second,
            } => {
                let (pair, ahead) = (2 * block, if odd { block } else { 0 });
                let from = format!("l / {pair} * {pair} + l % {block} + {ahead}");
                let (first, second) = (self.element(first, &from), self.element(second, &from));
                format!("l % {pair} < {block} ? {first} : {second}")
            }
            Op::Index(_) | Op::IndexOp(..) | Op::Address(_) | Op::LoadSplat { .. } => {
                unreachable!("{op:?} has no lanes of its own")
            }
        }
    }
}
