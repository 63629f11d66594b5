//! The text form, for humans.

use std::fmt::{self, Display, Formatter};

use super::byte_product::{ByteProduct, WordRows};
use super::function::{Block, Function, LoopKind, Merged, Statement};
use super::op::{Addr, Op, Value};

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.index())
    }
}

impl Display for Addr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "[{}", self.base)?;
        if let Some(index) = self.index {
            write!(f, " + {index}*{}", self.scale)?;
        }
        if self.offset != 0 {
            write!(f, " + {}", self.offset)?;
        }
        f.write_str("]")
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "func {}<{}>(", self.name, self.lanes)?;
        for (position, &param) in self.params.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            write!(f, "{comma}{param}: {}", self.ty(param))?;
            if let Some(bytes) = self.buffer_bytes(param) {
                write!(f, "[{bytes}]")?;
            }
        }
        writeln!(f, ") {{")?;
        for constant in &self.constants {
            let ty = self.ty(constant.value);
            writeln!(f, "  {}: {ty} = const {:#x}", constant.value, constant.bits)?;
        }
        for ptr in &self.streamed {
            writeln!(f, "  stream {ptr}")?;
        }
        block(self, &self.body, 1, f)?;
        writeln!(f, "}}")
    }
}

fn block(function: &Function, body: &Block, depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
    for statement in &body.statements {
        one(function, statement, depth, f)?;
    }
    Ok(())
}

/// The text of a statement and of those inside it.
pub(super) fn statement_text(function: &Function, statement: &Statement) -> String {
    struct StatementText<'f>(&'f Function, &'f Statement);
    impl Display for StatementText<'_> {
        fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
            one(self.0, self.1, 0, f)
        }
    }
    StatementText(function, statement)
        .to_string()
        .trim_end()
        .to_owned()
}

fn one(
    function: &Function,
    statement: &Statement,
    depth: usize,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    write!(f, "{:1$}", "", 2 * depth)?;
    match statement {
        Statement::Let(value, op) => {
            write!(f, "{value}: {} = ", function.ty(*value))?;
            operation(op, f)?;
            writeln!(f)?;
        }
        Statement::Store { value, addr, count } => {
            write!(f, "store {value}, {addr}")?;
            first(*count, f)?;
            writeln!(f)?;
        }
        Statement::StoreFirst { value, addr } => writeln!(f, "store-first {value}, {addr}")?,
        Statement::Prefetch(addr) => writeln!(f, "prefetch {addr}")?,
        Statement::ByteProduct(product) => writeln!(f, "{product}")?,
        Statement::Loop(node) => {
            let kind = match node.kind {
                LoopKind::Whole => "whole",
                LoopKind::Rest => "rest",
            };
            write!(f, "{}", node.last)?;
            for carried in &node.carried {
                write!(f, ", {}", carried.result)?;
            }
            let (index, lower, upper) = (node.index, node.lower, node.upper);
            write!(
                f,
                " = {kind} {index} in {lower}..{upper} step {}",
                node.step
            )?;
            for carried in &node.carried {
                write!(f, ", {} = {}", carried.param, carried.init)?;
            }
            writeln!(f, " {{")?;
            block(function, &node.body, depth + 1, f)?;
            if !node.carried.is_empty() {
                write!(f, "{:1$}next", "", 2 * depth + 2)?;
                for (position, carried) in node.carried.iter().enumerate() {
                    let comma = if position == 0 { " " } else { ", " };
                    write!(f, "{comma}{}", carried.next)?;
                }
                writeln!(f)?;
            }
            writeln!(f, "{:1$}}}", "", 2 * depth)?;
        }
        Statement::IfAny(node) => {
            let list = |f: &mut Formatter<'_>, of: fn(&Merged) -> Value| {
                for (position, merged) in node.merged.iter().enumerate() {
                    let comma = if position == 0 { "" } else { ", " };
                    write!(f, "{comma}{}", of(merged))?;
                }
                Ok(())
            };
            list(f, |merged| merged.result)?;
            write!(f, " = if-any {}, else ", node.mask)?;
            list(f, |merged| merged.otherwise)?;
            writeln!(f, " {{")?;
            block(function, &node.body, depth + 1, f)?;
            write!(f, "{:1$}give ", "", 2 * depth + 2)?;
            list(f, |merged| merged.computed)?;
            writeln!(f)?;
            writeln!(f, "{:1$}}}", "", 2 * depth)?;
        }
    }
    Ok(())
}

impl Display for WordRows {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {}", self.start, self.stride)
    }
}

impl Display for ByteProduct {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [left, right] = self
            .signs
            .map(|is_signed| if is_signed { 's' } else { 'u' });
        let ByteProduct { to, lhs, rhs, .. } = self;
        write!(f, "byte-product.{left}{right} {to}, {lhs}, {rhs}")?;
        let ByteProduct {
            rows,
            columns,
            words,
            ..
        } = self;
        write!(f, ": {rows} rows, {columns} columns, {words} words")
    }
}

fn first(count: Option<Value>, f: &mut Formatter<'_>) -> fmt::Result {
    count.map_or(Ok(()), |count| write!(f, ", first {count}"))
}

fn operation(op: &Op, f: &mut Formatter<'_>) -> fmt::Result {
    match op {
        Op::Index(n) => write!(f, "index {n}"),
        Op::IndexOp(op, a, b) => write!(f, "index.{} {a}, {b}", Lower(op)),
        Op::Address(addr) => write!(f, "address {addr}"),
        Op::Load { addr, count, .. } => {
            write!(f, "load {addr}")?;
            first(*count, f)
        }
        Op::LoadSplat { addr, .. } => write!(f, "load-splat {addr}"),
        Op::LoadStrided {
            addr,
            stride,
            count,
            ..
        } => {
            write!(f, "load-strided {addr}, by {stride}")?;
            first(*count, f)
        }
        Op::Gather {
            base,
            places,
            count,
            ..
        } => {
            write!(f, "gather [{base}], at {places}")?;
            first(*count, f)
        }
        Op::Unary(op, a) => write!(f, "{} {a}", Lower(op)),
        Op::Binary(op, a, b) => write!(f, "{} {a}, {b}", Lower(op)),
        Op::Fma(a, b, c) => write!(f, "fma {a}, {b}, {c}"),
        Op::DotBytes(a, b, c) => write!(f, "dotbytes {a}, {b}, {c}"),
        Op::IntDiv {
            signed,
            lhs,
            rhs,
            count,
        } => {
            let sign = if *signed { 's' } else { 'u' };
            write!(f, "int-div.{sign} {lhs}, {rhs}")?;
            first(*count, f)
        }
        Op::Below(_, count) => write!(f, "below {count}"),
        Op::Compare(predicate, a, b) => write!(f, "compare.{} {a}, {b}", Lower(predicate)),
        Op::MaskOp(op, a, b) => write!(f, "mask.{} {a}, {b}", Lower(op)),
        Op::Select(mask, a, b) => write!(f, "select {mask}, {a}, {b}"),
        Op::Shift(op, a, n) => write!(f, "{} {a}, {n}", Lower(op)),
        Op::Convert(op, _, a) => write!(f, "convert.{} {a}", Lower(op)),
        Op::LanesDown(a, n) => write!(f, "lanes-down {a}, {n}"),
        Op::Splat(a) => write!(f, "splat {a}"),
        Op::Transpose {
            odd,
            block,
            first,
            second,
        } => {
            let which = if *odd { "odd" } else { "even" };
            write!(f, "transpose.{which} {first}, {second}, by {block}")
        }
    }
}

/// The name of a variant in lower case.
struct Lower<'a, T>(&'a T);

impl<T: fmt::Debug> Display for Lower<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{:?}", self.0).to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::super::op::{Addr, BinaryOp, Predicate};
    use super::super::{Lane, LoopKind, Signature};

    #[test]
    fn the_text_shows_what_few_lanes_need() {
        let mut b = Signature::new("f", 8).body();
        let (x, y) = (b.f32(1.0), b.f32(2.0));
        let mask = b.compare(Predicate::Lt, x, y);
        b.if_any(mask, &[x, y], |b| {
            let sum = b.binary(BinaryOp::Add, x, y);
            vec![sum, x]
        });
        let expected = "\
func f<8>() {
  v0: f32 = const 0x3f800000
  v1: f32 = const 0x40000000
  v2: mask32 = compare.lt v0, v1
  v4, v5 = if-any v2, else v0, v1 {
    v3: f32 = add v0, v1
    give v3, v0
  }
}
";
        assert_eq!(b.finish().to_string(), expected);
    }

    #[test]
    fn the_text_shows_types_bounds_and_carried_values() {
        let mut signature = Signature::new("sum", 8);
        let (base, extent) = (signature.ptr(), signature.index());
        let mut b = signature.body();
        let (start, zero) = (b.index(0), b.f32(0.0));
        let bounds = (start, extent);
        let (last, sums) = b.repeat(LoopKind::Whole, bounds, 8, &[zero], |b, round| {
            let x = b.load(Lane::F32, Addr::element(base, round.index, Lane::F32), None);
            vec![b.binary(BinaryOp::Add, round.carried[0], x)]
        });
        b.store(sums[0], Addr::at(base).plus(-32), Some(last));
        let expected = "\
func sum<8>(v0: ptr, v1: index) {
  v3: f32 = const 0x0
  v2: index = index 0
  v8, v9 = whole v4 in v2..v1 step 8, v5 = v3 {
    v6: f32 = load [v0 + v4*4]
    v7: f32 = add v5, v6
    next v7
  }
  store v9, [v0 + -32], first v8
}
";
        assert_eq!(b.finish().to_string(), expected);
    }
}
