//! One function of vector IR as one C function.

use rustc_hash::FxHashSet;

use crate::error::CompileError;
use crate::ir::{ByteProduct, Function, IfAny, IndexOp, Merged, Op, Type, Value};

use super::facts::Facts;
use super::lane;
use super::plan::{Lanes, Piece, Plan, Store, StoreExtent};
use super::symbol::Symbol;
use super::template::{marked, plain};
use super::writer::Writer;

/// Appends `function` to `out` as a static function called `symbol`.
///
/// Its parameters are those of `function`, pointers as `unsigned char *` and indices as `int64_t`; it returns the bits
/// of the [`Status`](crate::ir::Status) as `uint64_t`. It calls helpers of the [`prelude`](super::prelude).
///
/// # Errors
///
/// Errors if the function is invalid.
pub fn function(
    function: &Function,
    symbol: &Symbol,
    out: &mut String,
) -> Result<(), CompileError> {
    let definition = definition(function)?;
    let definition = plain(&definition);
    *out += &format!("{DECLARATION} {symbol}{definition}");
    Ok(())
}

/// The text before the name of a function.
pub(super) const DECLARATION: &str = "MIND_TARGET static uint64_t";

/// Returns the text after the name of `function`: its parameters and its body. Numbers that could be parameters are
/// [`marked`](super::template::marked).
///
/// # Errors
///
/// Errors if the function is invalid.
pub(super) fn definition(function: &Function) -> Result<String, CompileError> {
    crate::ir::verify(function).map_err(CompileError::Invalid)?;
    let facts = Facts::of(function);
    let mut out = String::new();
    let mut writer = Writer {
        function,
        plan: Plan::of(function, &facts),
        facts: &facts,
        out: &mut out,
        depth: 0,
    };
    writer.definition();
    Ok(out)
}

impl<'f> Writer<'f, '_> {
    fn definition(&mut self) {
        let function = self.function;
        let params = function
            .params()
            .iter()
            .map(|&param| match function.ty(param) {
                Type::Ptr => format!("unsigned char *{param}"),
                _ => format!("int64_t {param}"),
            });
        let params: Vec<String> = params.collect();
        let params = if params.is_empty() {
            "void".to_owned()
        } else {
            params.join(", ")
        };
        let pieces = std::mem::take(&mut self.plan.pieces);
        self.braced(format_args!("({params})"), |this| {
            for &param in function.params() {
                if !this.facts.is_live(param) {
                    this.line(format_args!("(void){param};"));
                }
            }
            if this.facts.has_division {
                this.line(format_args!("uint64_t status = 0;"));
            }
            for constant in function.constants() {
                if this.facts.is_live(constant.value) {
                    this.constant(constant.value, constant.bits);
                }
            }
            this.pieces(&pieces);
            let status = if this.facts.has_division {
                "status"
            } else {
                "0"
            };
            this.line(format_args!("return {status};"));
        });
    }

    fn constant(&mut self, value: Value, bits: u64) {
        let lane = self.function.lane(value);
        let (ty, number) = (lane::c_type(lane), lane::constant(lane, bits));
        match lane::remark(lane, bits) {
            Some(remark) => self.line(format_args!(
                "const {ty} {value} = {number}; /* {remark} */"
            )),
            None => self.line(format_args!("const {ty} {value} = {number};")),
        }
    }

    pub(super) fn pieces(&mut self, pieces: &[Piece<'f>]) {
        for piece in pieces {
            match piece {
                Piece::Scalar(value, op) => self.scalar(*value, op),
                Piece::Lanes(lanes) => self.lanes(lanes),
                Piece::ByteProduct(product) => self.byte_product(product),
                Piece::Loop(node, body) => self.repeat(node, body),
                Piece::IfAny(node, merged, body) => self.if_any(node, merged, body),
            }
        }
    }

    fn scalar(&mut self, value: Value, op: &Op) {
        let ty = self.c_type(value);
        let text = match op {
            Op::IndexOp(op, a, b) => {
                let (a, b) = (self.name(*a), self.name(*b));
                match op {
                    IndexOp::Add => format!("mind_add({a}, {b})"),
                    IndexOp::Sub => format!("mind_sub({a}, {b})"),
                    IndexOp::Mul => format!("mind_mul({a}, {b})"),
                    IndexOp::Min => format!("{a} < {b} ? {a} : {b}"),
                    IndexOp::Max => format!("{a} < {b} ? {b} : {a}"),
                }
            }
            Op::Address(addr) => self.distance(addr),
            Op::LoadSplat { lane, addr } => {
                format!("mind_load_{}({})", lane::suffix(*lane), self.address(addr))
            }
            _ => self.expression(op, &|operand| self.name(operand)),
        };
        self.line(format_args!("const {ty} {value} = {text};"));
    }

    fn byte_product(&mut self, product: &ByteProduct) {
        let matrices = product.matrices().map(|rows| {
            let start = self.address(&rows.start);
            format!("{start}, {}", marked(rows.stride.to_string()))
        });
        let numbers = [product.rows, product.columns, product.words];
        let numbers = numbers.map(|number| marked(number.to_string()));
        let signs = product
            .signs
            .map(|is_signed| if is_signed { "1" } else { "0" });
        let operands = [matrices.join(", "), numbers.join(", "), signs.join(", ")];
        self.line(format_args!("mind_byte_product({});", operands.join(", ")));
    }

    fn if_any(&mut self, node: &IfAny, merged: &[&Merged], body: &[Piece<'f>]) {
        for merged in merged {
            self.array(merged.result);
        }
        let (count, mask) = (self.function.lanes(), self.element(node.mask, "l"));
        let needed = format!("any{}", merged[0].result.index());
        self.line(format_args!("_Bool {needed} = 0;"));
        self.braced(format_args!("mind_lanes(l, {count})"), |this| {
            for merged in merged {
                let otherwise = this.element(merged.otherwise, "l");
                this.line(format_args!("a{}[l] = {otherwise};", merged.result.index()));
            }
            this.line(format_args!("{needed} |= {mask};"));
        });
        self.braced(format_args!("if ({needed})"), |this| {
            this.pieces(body);
            this.braced(format_args!("mind_lanes(l, {count})"), |this| {
                for merged in merged {
                    let (result, computed) =
                        (merged.result.index(), this.element(merged.computed, "l"));
                    let text = format!("{mask} ? {computed} : a{result}[l]");
                    this.line(format_args!("a{result}[l] = {text};"));
                }
            });
        });
    }

    fn lanes(&mut self, lanes: &Lanes<'f>) {
        for &(value, _) in &lanes.ops {
            if self.plan.has_array(value) {
                self.array(value);
            }
        }
        let count = self.function.lanes();
        if !lanes.ops.is_empty() {
            self.braced(format_args!("mind_lanes(l, {count})"), |this| {
                let mut here = FxHashSet::default();
                for &(value, op) in &lanes.ops {
                    let text = this.expression(op, &|operand| {
                        if here.contains(&operand) {
                            operand.to_string()
                        } else {
                            this.element(operand, "l")
                        }
                    });
                    let ty = this.c_type(value);
                    if matches!(op, Op::IntDiv { .. }) && !this.is_needed(value, lanes) {
                        this.line(format_args!("(void)({text});"));
                        continue;
                    }
                    this.line(format_args!("const {ty} {value} = {text};"));
                    if this.plan.has_array(value) {
                        this.line(format_args!("a{}[l] = {value};", value.index()));
                    }
                    here.insert(value);
                }
                for (param, next) in &lanes.write_backs {
                    this.line(format_args!("a{}[l] = {next};", param.index()));
                }
            });
        }
        for store in &lanes.stores {
            self.store(store);
        }
    }

    /// Returns whether the quotient of a division is used, and not only its status.
    fn is_needed(&self, value: Value, lanes: &Lanes<'f>) -> bool {
        let mut is_operand = false;
        for (_, op) in &lanes.ops {
            op.for_each_operand(|operand| is_operand |= operand == value);
        }
        let mut write_backs = lanes.write_backs.iter();
        is_operand || self.plan.has_array(value) || write_backs.any(|&(_, next)| next == value)
    }

    fn store(&mut self, store: &Store) {
        let lane = self.function.lane(store.value);
        let (suffix, at) = (lane::suffix(lane), self.address(&store.addr));
        let bytes = lane.bytes();
        let condition = match store.extent {
            StoreExtent::First => {
                let first = self.element(store.value, "0");
                self.line(format_args!("mind_store_{suffix}({at}, {first});"));
                return;
            }
            StoreExtent::All => String::new(),
            StoreExtent::Below(count) => format!("if (l < {}) ", self.name(count)),
        };
        let (value, lanes) = (self.element(store.value, "l"), self.function.lanes());
        self.braced(format_args!("mind_lanes(l, {lanes})"), |this| {
            this.line(format_args!(
                "{condition}mind_store_{suffix}({at} + {bytes} * l, {value});"
            ));
        });
    }
}
