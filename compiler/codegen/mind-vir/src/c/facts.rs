//! Analyses of a function before its text is written.

use crate::ir::{Block, Carried, Function, IfAny, Loop, Merged, Op, Statement, Type, Value};

/// Facts about each value, by its index.
pub(super) struct Facts {
    /// Whether the value is live: an observable effect depends on it.
    is_live: Vec<bool>,
    /// Whether all lanes are equal, so that the value is a scalar in C.
    is_uniform: Vec<bool>,
    /// For a pointer, the parameter or loop-carried pointer that it is an offset from.
    roots: Vec<Value>,
    /// For the result of a loop, the loop-carried value; for others the value itself.
    homes: Vec<Value>,
    /// The values of constant indices.
    literals: Vec<Option<i64>>,
    /// Whether a division can set bits of the status.
    pub(super) has_division: bool,
}

impl Facts {
    pub(super) fn of(function: &Function) -> Facts {
        let count = function.value_count();
        let itself: Vec<Value> = (0..count as u32).map(Value).collect();
        let mut facts = Facts {
            is_live: vec![false; count],
            is_uniform: vec![false; count],
            roots: itself.clone(),
            homes: itself,
            literals: vec![None; count],
            has_division: false,
        };
        let mut defs = vec![Def::Given; count];
        let mut wanted = Vec::new();
        facts.collect(function.body(), &mut defs, &mut wanted);
        facts.mark_live(&defs, wanted);
        for constant in function.constants() {
            facts.is_uniform[constant.value.index()] = true;
        }
        facts.mark_uniform(function.body());
        // A loop-carried pointer that is an offset from different parameters in different iterations is a root itself.
        // Finding one changes the roots of others, so this iterates to a fixed point; each iteration but the last finds
        // at least one.
        let mut mixed = vec![false; count];
        while facts.find_roots(function, function.body(), &mut mixed) {}
        facts
    }

    pub(super) fn is_live(&self, value: Value) -> bool {
        self.is_live[value.index()]
    }

    pub(super) fn is_uniform(&self, value: Value) -> bool {
        self.is_uniform[value.index()]
    }

    pub(super) fn root(&self, pointer: Value) -> Value {
        self.roots[pointer.index()]
    }

    pub(super) fn home(&self, value: Value) -> Value {
        self.homes[value.index()]
    }

    /// Returns the value of a constant index; `None` if it is not a constant.
    pub(super) fn literal(&self, value: Value) -> Option<i64> {
        self.literals[value.index()]
    }

    /// Collects definitions, and the roots of liveness in `wanted`: observable values and loop bounds.
    fn collect<'f>(&mut self, block: &'f Block, defs: &mut [Def<'f>], wanted: &mut Vec<Value>) {
        for statement in &block.statements {
            match statement {
                Statement::Let(value, op) => {
                    defs[value.index()] = Def::Op(op);
                    match op {
                        Op::IntDiv { .. } => {
                            self.has_division = true;
                            wanted.push(*value);
                        }
                        Op::Index(n) => self.literals[value.index()] = Some(*n),
                        _ => {}
                    }
                }
                Statement::Store { value, addr, count } => {
                    wanted.extend([*value, addr.base]);
                    wanted.extend(addr.index.iter().chain(count));
                }
                Statement::StoreFirst { value, addr } => {
                    wanted.extend([*value, addr.base]);
                    wanted.extend(addr.index);
                }
                Statement::Prefetch(_) => {}
                Statement::ByteProduct(product) => {
                    for rows in product.matrices() {
                        wanted.push(rows.start.base);
                        wanted.extend(rows.start.index);
                    }
                }
                Statement::Loop(node) => {
                    wanted.extend([node.lower, node.upper]);
                    for carried in &node.carried {
                        defs[carried.param.index()] = Def::Carried(carried);
                        defs[carried.result.index()] = Def::Carried(carried);
                        self.homes[carried.result.index()] = carried.param;
                    }
                    self.collect(&node.body, defs, wanted);
                }
                Statement::IfAny(node) => {
                    for merged in &node.merged {
                        defs[merged.result.index()] = Def::Merged(node, merged);
                    }
                    self.collect(&node.body, defs, wanted);
                }
            }
        }
    }

    fn mark_live(&mut self, defs: &[Def<'_>], mut wanted: Vec<Value>) {
        while let Some(value) = wanted.pop() {
            if std::mem::replace(&mut self.is_live[value.index()], true) {
                continue;
            }
            match defs[value.index()] {
                Def::Given => {}
                Def::Op(op) => op.for_each_operand(|operand| wanted.push(operand)),
                Def::Carried(carried) => {
                    wanted.extend([carried.param, carried.init, carried.next, carried.result]);
                }
                Def::Merged(node, merged) => {
                    wanted.extend([node.mask, merged.otherwise, merged.computed]);
                }
            }
        }
    }

    fn mark_uniform(&mut self, block: &Block) {
        for statement in &block.statements {
            match statement {
                Statement::Let(value, op) => {
                    self.is_uniform[value.index()] = match op {
                        Op::LoadSplat { .. } => true,
                        _ if is_lanewise(op) => {
                            let mut all = true;
                            op.for_each_operand(|operand| all &= self.is_uniform(operand));
                            all
                        }
                        _ => false,
                    };
                }
                Statement::Loop(node) => self.mark_uniform(&node.body),
                Statement::IfAny(node) => self.mark_uniform(&node.body),
                Statement::Store { .. }
                | Statement::StoreFirst { .. }
                | Statement::Prefetch(_)
                | Statement::ByteProduct(_) => {}
            }
        }
    }

    /// Computes the roots of pointers; returns whether a loop-carried pointer turned out to be mixed.
    fn find_roots(&mut self, function: &Function, block: &Block, mixed: &mut [bool]) -> bool {
        let mut changed = false;
        for statement in &block.statements {
            match statement {
                Statement::Let(value, Op::Address(addr)) => {
                    self.roots[value.index()] = self.root(addr.base);
                }
                Statement::Loop(node) => changed |= self.loop_roots(function, node, mixed),
                Statement::IfAny(node) => changed |= self.find_roots(function, &node.body, mixed),
                _ => {}
            }
        }
        changed
    }

    fn loop_roots(&mut self, function: &Function, node: &Loop, mixed: &mut [bool]) -> bool {
        let pointers = node.carried.iter();
        let pointers = pointers.filter(|carried| function.ty(carried.init) == Type::Ptr);
        for carried in pointers.clone() {
            let is_mixed = mixed[carried.param.index()];
            let root = if is_mixed {
                carried.param
            } else {
                self.root(carried.init)
            };
            self.roots[carried.param.index()] = root;
            self.roots[carried.result.index()] = root;
        }
        let mut changed = self.find_roots(function, &node.body, mixed);
        for carried in pointers {
            let is_mixed = &mut mixed[carried.param.index()];
            if !*is_mixed && self.root(carried.next) != self.root(carried.param) {
                *is_mixed = true;
                changed = true;
            }
        }
        changed
    }
}

/// The definition of a value.
#[derive(Clone, Copy)]
enum Def<'f> {
    /// A parameter, a constant, or the index of a loop.
    Given,
    Op(&'f Op),
    Carried(&'f Carried),
    Merged(&'f IfAny, &'f Merged),
}

/// Returns whether each lane of the result depends only on that lane of the operands, not on memory or a count.
fn is_lanewise(op: &Op) -> bool {
    match op {
        Op::Unary(..)
        | Op::Binary(..)
        | Op::Fma(..)
        | Op::DotBytes(..)
        | Op::Compare(..)
        | Op::MaskOp(..)
        | Op::Select(..)
        | Op::Shift(..)
        | Op::Convert(..) => true,
        Op::Index(_)
        | Op::IndexOp(..)
        | Op::Address(_)
        | Op::Load { .. }
        | Op::LoadSplat { .. }
        | Op::LoadStrided { .. }
        | Op::Gather { .. }
        | Op::IntDiv { .. }
        | Op::Below(..)
        | Op::LanesDown(..)
        | Op::Splat(_)
        | Op::Transpose { .. } => false,
    }
}

/// Whether the operation reads memory.
pub(super) fn reads(op: &Op) -> bool {
    matches!(
        op,
        Op::Load { .. } | Op::LoadSplat { .. } | Op::LoadStrided { .. } | Op::Gather { .. }
    )
}
