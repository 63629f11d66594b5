//! The verifier of vector IR.

use super::byte_product::{ByteProduct, WordRows};
use super::function::{Block, Function, IfAny, Loop, Statement};
use super::op::{Addr, Op, Value};
use super::print::statement_text;
use super::types::{Lane, Type};

/// Why a function is invalid.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum VerifyError {
    /// No target supports this number of lanes.
    #[error("a function has {0} lanes; expected a power of two up to 64")]
    Lanes(u32),
    /// A value is used where it is not defined.
    #[error("{user} uses {value}, which is not defined there")]
    Undefined {
        /// The value.
        value: Value,
        /// The statement, as text.
        user: String,
    },
    /// A value is defined twice.
    #[error("{0} is defined twice")]
    Redefined(Value),
    /// Operands have types that the operation does not take.
    #[error(
        "{value} = {op:?}: the operands have types {found:?}, which the operation does not take"
    )]
    Types {
        /// The result.
        value: Value,
        /// The operation.
        op: Op,
        /// The types of the operands.
        found: Vec<Type>,
    },
    /// A value does not have the expected type.
    #[error("{user}: {value} has type {found}; expected {expected}")]
    Expected {
        /// The value.
        value: Value,
        /// Its type.
        found: Type,
        /// The expected type, in words.
        expected: &'static str,
        /// The statement, as text.
        user: &'static str,
    },
    /// A statement with effects is in the body of an [`IfAny`].
    #[error("the body of an if-any only computes, and has: {0}")]
    Effect(String),
    /// A number in a statement is out of range.
    #[error("{what} is {found}; expected {expected}")]
    Number {
        /// The meaning of the number.
        what: &'static str,
        /// The number.
        found: i64,
        /// The expected range, in words.
        expected: &'static str,
    },
}

/// Checks types, that definitions dominate uses, and the numbers in statements.
///
/// # Errors
///
/// Returns every violation.
pub fn verify(function: &Function) -> Result<(), Vec<VerifyError>> {
    let mut check = Check {
        function,
        scopes: vec![Scope::Ahead; function.value_count()],
        defined: Vec::new(),
        errors: Vec::new(),
    };
    let lanes = function.lanes;
    if !lanes.is_power_of_two() || lanes > 64 {
        check.errors.push(VerifyError::Lanes(lanes));
    }
    for &param in &function.params {
        check.define(param);
        if !matches!(function.ty(param), Type::Ptr | Type::Index) {
            check.expected(param, "a pointer or an index", "parameter");
        }
    }
    for constant in &function.constants {
        check.define(constant.value);
        if !matches!(function.ty(constant.value), Type::Vector(_)) {
            check.expected(constant.value, "a vector", "constant");
        }
    }
    for &(param, _) in &function.buffers {
        if function.ty(param) != Type::Ptr {
            check.expected(param, "a pointer", "buffer");
        }
    }
    for &ptr in &function.streamed {
        if function.ty(ptr) != Type::Ptr {
            check.expected(ptr, "a pointer", "stream");
        }
    }
    check.block(&function.body, []);
    if check.errors.is_empty() {
        Ok(())
    } else {
        Err(check.errors)
    }
}

/// The position of a value's definition, relative to the statement being checked.
#[derive(Clone, Copy, PartialEq)]
enum Scope {
    /// It has not been reached.
    Ahead,
    /// It dominates the statement.
    Open,
    /// It was in a loop that has ended.
    Left,
}

struct Check<'a> {
    function: &'a Function,
    scopes: Vec<Scope>,
    /// The values defined in the open blocks, grouped by block.
    defined: Vec<Value>,
    errors: Vec<VerifyError>,
}

impl Check<'_> {
    fn define(&mut self, value: Value) {
        let before = std::mem::replace(&mut self.scopes[value.index()], Scope::Open);
        if before != Scope::Ahead {
            self.errors.push(VerifyError::Redefined(value));
        }
    }

    fn uses(&mut self, value: Value, user: impl FnOnce() -> String) {
        if self.scopes[value.index()] != Scope::Open {
            let user = user();
            self.errors.push(VerifyError::Undefined { value, user });
        }
    }

    fn expected(&mut self, value: Value, expected: &'static str, user: &'static str) {
        self.errors.push(VerifyError::Expected {
            value,
            found: self.function.ty(value),
            expected,
            user,
        });
    }

    fn index(&mut self, value: Value, user: &'static str) {
        self.uses(value, || user.to_owned());
        if self.function.ty(value) != Type::Index {
            self.expected(value, "an index", user);
        }
    }

    fn number(&mut self, fits: bool, what: &'static str, found: i64, expected: &'static str) {
        if !fits {
            self.errors.push(VerifyError::Number {
                what,
                found,
                expected,
            });
        }
    }

    /// Checks a block and its loop-carried values.
    fn block(&mut self, block: &Block, nexts: impl IntoIterator<Item = Value>) {
        let outside = self.defined.len();
        for statement in &block.statements {
            match statement {
                Statement::Let(value, op) => self.operation(*value, op),
                Statement::Store { value, addr, count } => {
                    self.store(*value, addr, "store");
                    if let Some(count) = count {
                        self.index(*count, "store");
                    }
                }
                Statement::StoreFirst { value, addr } => self.store(*value, addr, "store-first"),
                Statement::Prefetch(addr) => self.accessed(addr, "prefetch"),
                Statement::ByteProduct(product) => self.byte_product(product),
                Statement::Loop(node) => self.repeat(node),
                Statement::IfAny(node) => self.if_any(node),
            }
            statement.for_each_result(|value| {
                self.defined.push(value);
                self.define(value);
            });
        }
        for next in nexts {
            self.uses(next, || "next".to_owned());
        }
        for value in self.defined.drain(outside..) {
            self.scopes[value.index()] = Scope::Left;
        }
    }

    fn repeat(&mut self, node: &Loop) {
        self.index(node.lower, "loop");
        self.index(node.upper, "loop");
        self.number(
            node.step > 0 && node.step <= i64::from(i32::MAX),
            "the step of a loop",
            node.step,
            "1 to 2147483647",
        );
        let function = self.function;
        for carried in &node.carried {
            self.uses(carried.init, || "loop".to_owned());
            for value in [carried.param, carried.next, carried.result] {
                if function.ty(value) != function.ty(carried.init) {
                    self.expected(value, "the type of the initial value", "loop");
                }
            }
        }
        let params = node.carried.iter().map(|carried| carried.param);
        let params = params.chain([node.index]);
        params.clone().for_each(|param| self.define(param));
        let nexts = node.carried.iter().map(|carried| carried.next);
        self.block(&node.body, nexts);
        for param in params {
            self.scopes[param.index()] = Scope::Left;
        }
    }

    fn if_any(&mut self, node: &IfAny) {
        const USER: &str = "if-any";
        let function = self.function;
        self.uses(node.mask, || USER.to_owned());
        for merged in &node.merged {
            self.uses(merged.otherwise, || USER.to_owned());
            let ty = function.ty(merged.otherwise);
            let fits = matches!(ty, Type::Vector(lane) if function.ty(node.mask) == Type::Mask(lane.int()));
            if !fits {
                let expected = "a mask for lanes as wide as those of the values";
                self.expected(node.mask, expected, USER);
            }
            for value in [merged.computed, merged.result] {
                if function.ty(value) != ty {
                    self.expected(value, "the type of the other value", USER);
                }
            }
        }
        for statement in &node.body.statements {
            if has_effect(statement) {
                let statement = statement_text(function, statement);
                self.errors.push(VerifyError::Effect(statement));
            }
        }
        let computed = node.merged.iter().map(|merged| merged.computed);
        self.block(&node.body, computed);
    }

    fn store(&mut self, value: Value, addr: &Addr, user: &'static str) {
        self.uses(value, || user.to_owned());
        if !matches!(self.function.ty(value), Type::Vector(_)) {
            self.expected(value, "a vector", user);
        }
        self.accessed(addr, user);
    }

    fn accessed(&mut self, addr: &Addr, user: &'static str) {
        self.addr(addr);
        self.uses(addr.base, || user.to_owned());
        if self.function.ty(addr.base) != Type::Ptr {
            self.expected(addr.base, "a pointer", user);
        }
        if let Some(index) = addr.index {
            self.index(index, user);
        }
    }

    fn byte_product(&mut self, product: &ByteProduct) {
        for rows in product.matrices() {
            self.accessed(&rows.start, "byte-product");
            let (found, most) = (rows.stride, WordRows::MOST_STRIDE);
            let expected = "16777216 at most";
            self.number(found <= most, "the stride of rows", found.into(), expected);
        }
        for (what, found) in [
            ("the rows of a byte-product", product.rows),
            ("the columns of a byte-product", product.columns),
        ] {
            let fits = (1..=ByteProduct::MOST).contains(&found);
            self.number(fits, what, found.into(), "1 to 32");
        }
        let words = product.words;
        let fits = words > 0 && i32::try_from(words).is_ok();
        let expected = "1 to 2147483647";
        self.number(fits, "the words of a byte-product", words.into(), expected);
    }

    fn addr(&mut self, addr: &Addr) {
        self.number(
            matches!(addr.scale, 1 | 2 | 4 | 8),
            "the scale of an address",
            addr.scale.into(),
            "1, 2, 4 or 8",
        );
    }

    fn operation(&mut self, value: Value, op: &Op) {
        op.for_each_operand(|operand| self.uses(operand, || format!("{value} = {op:?}")));
        let function = self.function;
        match op.result_type(|operand| function.ty(operand)) {
            None => {
                let mut found = Vec::new();
                op.for_each_operand(|operand| found.push(function.ty(operand)));
                let op = *op;
                self.errors.push(VerifyError::Types { value, op, found });
            }
            Some(ty) if ty != function.ty(value) => {
                self.expected(value, "the type that its operation gives", "let");
            }
            Some(_) => self.numbers(op),
        }
    }

    /// Checks the numbers of an operation whose operand types are valid.
    fn numbers(&mut self, op: &Op) {
        match *op {
            Op::Address(addr)
            | Op::Load { addr, .. }
            | Op::LoadSplat { addr, .. }
            | Op::LoadStrided { addr, .. } => self.addr(&addr),
            Op::Shift(_, a, n) => {
                let bits = self.function.lane(a).bits();
                self.number(
                    n < bits,
                    "the shift",
                    n.into(),
                    "less than the lane has bits",
                );
            }
            Op::LanesDown(_, n) => {
                let fits = n.is_power_of_two() && n < self.function.lanes;
                let expected = "a power of two below the number of lanes";
                self.number(fits, "the distance of lanes-down", n.into(), expected);
            }
            Op::Transpose { block, .. } => {
                let fits = block.is_power_of_two() && block < self.function.lanes;
                let expected = "a power of two below the number of lanes";
                self.number(fits, "the block of a transposition", block.into(), expected);
            }
            Op::Gather { .. } if self.function.lanes * Lane::I32.bits() > 512 => {
                let lanes = self.function.lanes.into();
                self.number(
                    false,
                    "the number of lanes of a gather",
                    lanes,
                    "16 at most",
                );
            }
            _ => {}
        }
    }
}

/// Returns whether a statement has effects or depends on memory.
fn has_effect(statement: &Statement) -> bool {
    match statement {
        Statement::Let(_, op) => match op {
            Op::Load { .. }
            | Op::LoadSplat { .. }
            | Op::LoadStrided { .. }
            | Op::Gather { .. }
            | Op::IntDiv { .. } => true,
            Op::Index(_)
            | Op::IndexOp(..)
            | Op::Address(_)
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Fma(..)
            | Op::DotBytes(..)
            | Op::Below(..)
            | Op::Compare(..)
            | Op::MaskOp(..)
            | Op::Select(..)
            | Op::Shift(..)
            | Op::Convert(..)
            | Op::LanesDown(..)
            | Op::Splat(_)
            | Op::Transpose { .. } => false,
        },
        // Its own body is checked when it is visited.
        Statement::IfAny(_) => false,
        Statement::Store { .. }
        | Statement::StoreFirst { .. }
        | Statement::Prefetch(_)
        | Statement::ByteProduct(_)
        | Statement::Loop(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::op::{BinaryOp, Predicate, ShiftOp};
    use super::super::{LoopKind, Signature};
    use super::*;

    fn errors(function: &Function) -> Vec<String> {
        let errors = verify(function).expect_err("an invalid function");
        errors.iter().map(VerifyError::to_string).collect()
    }

    #[test]
    fn a_value_of_a_loop_is_gone_behind_it() {
        let mut signature = Signature::new("leak", 4);
        let (base, extent) = (signature.ptr(), signature.index());
        let mut b = signature.body();
        let start = b.index(0);
        let mut leaked = None;
        b.repeat(LoopKind::Rest, (start, extent), 4, &[], |b, round| {
            let addr = Addr::element(base, round.index, Lane::F32);
            leaked = Some(b.load(Lane::F32, addr, None));
            Vec::new()
        });
        let leaked = leaked.expect("the body was built");
        b.store(leaked, Addr::at(base), None);
        let function = b.finish();
        let expected = format!("store uses {leaked}, which is not defined there");
        assert_eq!(errors(&function), [expected]);
    }

    #[test]
    fn every_number_out_of_range_is_reported() {
        let mut signature = Signature::new("numbers", 3);
        let (base, extent) = (signature.ptr(), signature.index());
        let mut b = signature.body();
        let addr = Addr {
            scale: 3,
            ..Addr::element(base, extent, Lane::I32)
        };
        let x = b.load(Lane::I32, addr, None);
        b.shift(ShiftOp::Shl, x, 32);
        b.op(Op::LanesDown(x, 4));
        b.repeat(LoopKind::Whole, (extent, extent), 0, &[], |_, _| Vec::new());
        let expected = [
            "a function has 3 lanes; expected a power of two up to 64",
            "the scale of an address is 3; expected 1, 2, 4 or 8",
            "the shift is 32; expected less than the lane has bits",
            "the distance of lanes-down is 4; expected a power of two below the number of lanes",
            "the step of a loop is 0; expected 1 to 2147483647",
        ];
        assert_eq!(errors(&b.finish()), expected);
    }

    #[test]
    fn the_body_of_an_if_any_only_computes() {
        let mut signature = Signature::new("effects", 4);
        let (base, extent) = (signature.ptr(), signature.index());
        let mut b = signature.body();
        let x = b.f32(1.0);
        let n = b.constant(Lane::I32, 3);
        let mask = b.compare(Predicate::Lt, x, x);
        b.if_any(mask, &[x], |b| {
            let loaded = b.load(Lane::F32, Addr::at(base), None);
            b.store(x, Addr::at(base), None);
            b.op(Op::IntDiv {
                signed: false,
                lhs: n,
                rhs: n,
                count: None,
            });
            let bounds = (extent, extent);
            b.repeat(LoopKind::Rest, bounds, 1, &[], |_, _| Vec::new());
            let inner = b.if_any(mask, &[x], |b| {
                b.prefetch(Addr::at(base));
                vec![loaded]
            });
            vec![b.binary(BinaryOp::Add, inner[0], x)]
        });
        let found = errors(&b.finish());
        assert_eq!(found.len(), 5, "{found:?}");
        for (error, word) in found
            .iter()
            .zip(["load", "store", "int-div", "rest", "prefetch"])
        {
            assert!(
                error.starts_with("the body of an if-any only computes"),
                "{error}"
            );
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn values_of_an_if_any_fit_its_mask_and_each_other() {
        let mut b = Signature::new("types", 4).body();
        let (x, y) = (b.f32(1.0), b.f64(2.0));
        let mask = b.compare(Predicate::Lt, x, x);
        b.if_any(mask, &[x, y], |_| vec![y, y]);
        let mut leaked = None;
        b.if_any(mask, &[x], |b| {
            let sum = b.binary(BinaryOp::Add, x, x);
            leaked = Some(sum);
            vec![sum]
        });
        let leaked = leaked.expect("the body was built");
        let sum = b.binary(BinaryOp::Add, leaked, x);
        let expected = [
            format!("if-any: {y} has type f64; expected the type of the other value"),
            format!(
                "if-any: {mask} has type mask32; expected a mask for lanes as wide as those of the values"
            ),
            format!(
                "{sum} = Binary(Add, {leaked:?}, {x:?}) uses {leaked}, which is not defined there"
            ),
        ];
        assert_eq!(errors(&b.finish()), expected);
    }

    #[test]
    fn types_and_double_definitions_are_reported_together() {
        let mut b = Signature::new("types", 4).body();
        let (x, y) = (b.f32(1.0), b.f32(2.0));
        let sum = b.binary(BinaryOp::Add, x, y);
        let mut function = b.finish();
        let again = function.body.statements[0].clone();
        function.body.statements.push(again);
        function.types[y.index()] = Type::Vector(Lane::F64);
        let found = errors(&function);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("the operands have types [Vector(F32), Vector(F64)]"));
        assert_eq!(found[2], format!("{sum} is defined twice"));
    }
}
