//! Vector register pressure of a function, without its constants.

use crate::ir::{Block, Function, IfAny, Loop, Op, Statement, Type, Value};

/// Returns the largest number of vectors and vector masks that are live at once, without constants and without values
/// that are live only inside an [`IfAny`].
pub(crate) fn peak(function: &Function, masks_are_vectors: bool) -> usize {
    let mut scan = Scan {
        function,
        masks_are_vectors,
        clock: 0,
        entry: 0,
        ends: vec![0; function.value_count()],
        starts: vec![None; function.value_count()],
        outer: Vec::new(),
    };
    scan.block(function.body());
    // At one point in time live ranges end before others start.
    let mut changes = vec![0; scan.clock as usize + 2];
    for (start, end) in scan.starts.iter().zip(&scan.ends) {
        if let Some(start) = start {
            changes[*start as usize] += 1;
            changes[(*end).max(*start + 1) as usize] -= 1;
        }
    }
    let mut live = 0;
    let lives = changes.into_iter().map(|change: i32| {
        live += change;
        live
    });
    lives.max().unwrap_or(0) as usize
}

struct Scan<'a> {
    function: &'a Function,
    masks_are_vectors: bool,
    clock: u32,
    /// The start of the innermost open loop.
    entry: u32,
    starts: Vec<Option<u32>>,
    ends: Vec<u32>,
    /// Values from outside that the open loops read, grouped by loop.
    outer: Vec<Value>,
}

impl Scan<'_> {
    fn define(&mut self, value: Value) {
        let counts = match self.function.ty(value) {
            Type::Vector(_) => true,
            Type::Mask(_) => self.masks_are_vectors,
            Type::Index | Type::Ptr => false,
        };
        if counts {
            self.starts[value.index()] = Some(self.clock);
        }
    }

    fn use_at(&mut self, value: Value, clock: u32) {
        let end = &mut self.ends[value.index()];
        *end = clock.max(*end);
        if self.starts[value.index()].is_some_and(|start| start < self.entry) {
            self.outer.push(value);
        }
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            self.clock += 1;
            match statement {
                Statement::Let(value, op) => {
                    self.operands(op);
                    self.define(*value);
                }
                Statement::Store { value, .. } | Statement::StoreFirst { value, .. } => {
                    self.use_at(*value, self.clock);
                }
                Statement::Prefetch(_) | Statement::ByteProduct(_) => {}
                Statement::Loop(node) => self.repeat(node),
                Statement::IfAny(node) => self.if_any(node),
            }
        }
    }

    /// The whole statement is one point in time.
    fn if_any(&mut self, node: &IfAny) {
        self.reads(node);
        for merged in &node.merged {
            self.define(merged.result);
        }
    }

    /// Records the reads of a statement without effects, and those of its body.
    fn reads(&mut self, node: &IfAny) {
        let clock = self.clock;
        self.use_at(node.mask, clock);
        for merged in &node.merged {
            self.use_at(merged.otherwise, clock);
            self.use_at(merged.computed, clock);
        }
        for statement in &node.body.statements {
            match statement {
                Statement::Let(_, op) => self.operands(op),
                Statement::IfAny(inner) => self.reads(inner),
                Statement::Store { .. }
                | Statement::StoreFirst { .. }
                | Statement::Prefetch(_)
                | Statement::ByteProduct(_)
                | Statement::Loop(_) => unreachable!("a verified body only computes"),
            }
        }
    }

    fn operands(&mut self, op: &Op) {
        let clock = self.clock;
        op.for_each_operand(|operand| self.use_at(operand, clock));
    }

    fn repeat(&mut self, node: &Loop) {
        let entry = self.clock;
        for carried in &node.carried {
            self.use_at(carried.init, entry);
            self.define(carried.param);
        }
        let around = std::mem::replace(&mut self.entry, entry);
        let first = self.outer.len();
        self.block(&node.body);
        self.clock += 1;
        let exit = self.clock;
        // A value from outside is live throughout the loop; one from outside of the enclosing loop stays in the list.
        let mut kept = first;
        for at in first..self.outer.len() {
            let value = self.outer[at];
            let is_new = std::mem::replace(&mut self.ends[value.index()], exit) != exit;
            if is_new && self.starts[value.index()].is_some_and(|start| start < around) {
                self.outer[kept] = value;
                kept += 1;
            }
        }
        self.outer.truncate(kept);
        self.entry = around;
        for carried in &node.carried {
            self.use_at(carried.next, exit);
            self.define(carried.result);
        }
    }
}
