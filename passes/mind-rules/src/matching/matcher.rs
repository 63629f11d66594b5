//! The matching machine: runs the instructions of a pattern over an e-graph or a module.

use mind_ir::types::Dim;

use crate::expr::is_near;
use crate::matching::pattern::{
    AttrPattern, DimPattern, Each, Instruction, Item, Pattern, ShapePattern, SlotUse, TypePattern,
};
use crate::matching::slots::{Reg, Slot, Slots};
use crate::matching::subject::Subject;
use crate::op_table::OpIx;

/// Maximum number of operands of an op that are matched individually or split in several ways.
const MAX_OPERANDS: usize = 128;

/// A match.
pub struct Match<'f, S: Subject> {
    /// The register file, the root first.
    pub registers: &'f [S::Value],
    /// Bound attributes, dtypes, extents and lists of values.
    pub slots: &'f Slots<S::Value, S::Attr>,
    /// The matched ops, each with its value, in the order of the pattern's terms.
    pub ops: &'f [(S::Value, S::Op)],
}

/// A failed attempt to match.
pub struct Failure<'f, S: Subject> {
    /// The number of instructions that succeeded.
    pub depth: usize,
    /// The instruction that failed.
    pub step: Failed<'f, S::Op>,
    /// The register file; only registers set by earlier instructions are meaningful.
    pub registers: &'f [S::Value],
    /// The slots bound by earlier instructions.
    pub slots: &'f Slots<S::Value, S::Attr>,
}

/// The step at which a match failed.
#[derive(Clone, Copy)]
pub enum Failed<'f, O> {
    /// An instruction that no op or value satisfies.
    Instruction(&'f Instruction),
    /// An op of the expected definition with other attributes or another number of operands.
    Op(&'f Instruction, O),
}

/// Callback for failures.
pub type OnFailure<'a, S> = dyn FnMut(Failure<'_, S>) + 'a;

/// Callback for matches; the search continues while it returns true.
pub type Accept<'a, S> = dyn FnMut(Match<'_, S>) -> bool + 'a;

/// Reusable memory of the machine.
pub struct Workspace<V, A, O> {
    registers: Vec<V>,
    slots: Slots<V, A>,
    ops: Vec<(V, O)>,
}

/// The workspace for searches in subjects of type `S`.
pub type WorkspaceFor<S> =
    Workspace<<S as Subject>::Value, <S as Subject>::Attr, <S as Subject>::Op>;

impl<V, A, O> Default for Workspace<V, A, O> {
    fn default() -> Workspace<V, A, O> {
        Workspace {
            registers: Vec::new(),
            slots: Slots::default(),
            ops: Vec::new(),
        }
    }
}

impl<V: Copy, A: Copy, O> Workspace<V, A, O> {
    /// Sizes the memory for `pattern`, with `root` in every register.
    fn prepared(mut self, pattern: &Pattern, root: V) -> Workspace<V, A, O> {
        self.registers.clear();
        self.registers.resize(pattern.registers, root);
        self.ops.clear();
        let slots = &mut self.slots;
        slots.attrs.clear();
        slots.attrs.resize(pattern.attrs, None);
        slots.dtypes.clear();
        slots.dtypes.resize(pattern.dtypes, None);
        slots.dims.clear();
        slots.dims.resize(pattern.dims, Dim::Dynamic);
        slots.shapes.iter_mut().for_each(Vec::clear);
        slots.shapes.resize(pattern.shapes, Vec::new());
        slots.lists.iter_mut().for_each(Vec::clear);
        slots.lists.resize(pattern.lists, Vec::new());
        self
    }
}

/// Passes each match of `pattern` at the value `root` to `accept`. Returns false if `accept` stopped the search.
pub fn search<S: Subject>(
    subject: &S,
    pattern: &Pattern,
    root: S::Value,
    workspace: &mut WorkspaceFor<S>,
    accept: &mut Accept<'_, S>,
) -> bool {
    let mut machine = Machine::new(subject, pattern, root, std::mem::take(workspace), accept);
    machine.run(&pattern.instructions, &Then::Accept);
    *workspace = Workspace {
        registers: machine.registers,
        slots: machine.slots,
        ops: machine.ops,
    };
    !machine.done
}

/// Like [`search`], but the root of the pattern matches only `op`, and `on_failure` is called for each failure.
pub fn attempt<S: Subject>(
    subject: &S,
    pattern: &Pattern,
    (root, op): (S::Value, S::Op),
    accept: &mut Accept<'_, S>,
    on_failure: &mut OnFailure<'_, S>,
) {
    let workspace = Workspace::default();
    let mut machine = Machine::new(subject, pattern, root, workspace, accept);
    machine.first = Some(op);
    machine.on_failure = Some(on_failure);
    machine.run(&pattern.instructions, &Then::Accept);
}

impl<'m, 'a, S: Subject> Machine<'m, 'a, S> {
    fn new(
        subject: &'m S,
        pattern: &Pattern,
        root: S::Value,
        workspace: WorkspaceFor<S>,
        accept: &'m mut Accept<'a, S>,
    ) -> Machine<'m, 'a, S> {
        let Workspace {
            registers,
            slots,
            ops,
        } = workspace.prepared(pattern, subject.canonical(root));
        Machine {
            subject,
            registers,
            slots,
            ops,
            accept,
            opens_constants: pattern.opens_constants,
            done: false,
            depth: 0,
            first: None,
            on_failure: None,
        }
    }

    /// Reports a failure to the listener, if there is one.
    fn fails(&mut self, step: Failed<'_, S::Op>) {
        if let Some(on_failure) = &mut self.on_failure {
            on_failure(Failure {
                depth: self.depth,
                step,
                registers: &self.registers,
                slots: &self.slots,
            });
        }
    }
}

struct Machine<'m, 'a, S: Subject> {
    subject: &'m S,
    registers: Vec<S::Value>,
    slots: Slots<S::Value, S::Attr>,
    ops: Vec<(S::Value, S::Op)>,
    accept: &'m mut Accept<'a, S>,
    /// Whether ops that compute a constant may match.
    opens_constants: bool,
    done: bool,
    /// The number of instructions executed on the current path.
    depth: usize,
    /// The only op that may match the root, if restricted.
    first: Option<S::Op>,
    on_failure: Option<&'m mut OnFailure<'a, S>>,
}

/// Continuation after the current instructions.
enum Then<'t> {
    Accept,
    /// The next value of a list; `rest` after the last value.
    Next {
        each: &'t Each,
        at: usize,
        rest: &'t [Instruction],
        then: &'t Then<'t>,
    },
}

impl<S: Subject> Machine<'_, '_, S> {
    /// Runs the instructions and the continuation. The recursion depth is bounded by the length of the pattern and
    /// [`MAX_OPERANDS`].
    fn run(&mut self, instructions: &[Instruction], then: &Then<'_>) {
        if self.done {
            return;
        }
        let Some((first, rest)) = instructions.split_first() else {
            return self.end(then);
        };
        self.depth += 1;
        self.step(first, rest, then);
        self.depth -= 1;
    }

    fn step(&mut self, first: &Instruction, rest: &[Instruction], then: &Then<'_>) {
        let goes_on = match first {
            Instruction::Same(a, b) => self.value(*a) == self.value(*b),
            Instruction::Near { reg, value } => {
                let constant = self.subject.constant(S::number(self.value(*reg)));
                constant.is_some_and(|constant| is_near(constant, *value))
            }
            Instruction::SameList(a, b) => self.list(*a) == self.list(*b),
            Instruction::Type { reg, ty } => self.matches_type(ty, self.value(*reg)),
            Instruction::First { list, reg } => match self.list(*list).first() {
                Some(&value) => {
                    self.set(*reg, value);
                    self.list(*list).len() <= MAX_OPERANDS
                }
                None => false,
            },
            Instruction::Start { reg, list } => {
                let value = self.value(*reg);
                let slot = &mut self.slots.lists[usize::from(*list)];
                slot.clear();
                slot.push(value);
                true
            }
            Instruction::Each(each) => return self.each(each, 1, rest, then),
            Instruction::Open {
                reg,
                op,
                attrs,
                out,
                operands,
                swap,
            } => {
                let value = self.value(*reg);
                let mut nth = 0;
                while let Some(op) = self.op(value, *op, nth) {
                    nth += 1;
                    if self.depth == 1 && self.first.is_some_and(|first| first != op) {
                        continue;
                    }
                    let found = self.subject.operands(op);
                    if found.len() != usize::from(*operands) || !self.matches_attrs(attrs, op) {
                        self.fails(Failed::Op(first, op));
                        continue;
                    }
                    self.ops.push((value, op));
                    self.open(*out, found);
                    self.run(rest, then);
                    if *swap && found[0] != found[1] {
                        self.open(*out, &[found[1], found[0]]);
                        self.run(rest, then);
                    }
                    self.ops.pop();
                }
                nth > 0
            }
            Instruction::OpenList {
                reg,
                op,
                attrs,
                items,
            } => {
                let value = self.value(*reg);
                let mut nth = 0;
                while let Some(op) = self.op(value, *op, nth) {
                    nth += 1;
                    if self.depth == 1 && self.first.is_some_and(|first| first != op) {
                        continue;
                    }
                    if !self.matches_attrs(attrs, op) {
                        self.fails(Failed::Op(first, op));
                        continue;
                    }
                    self.ops.push((value, op));
                    self.distribute(items, self.subject.operands(op), rest, then);
                    self.ops.pop();
                }
                nth > 0
            }
        };
        let opens = matches!(
            first,
            Instruction::Open { .. } | Instruction::OpenList { .. }
        );
        match (goes_on, opens) {
            (true, false) => self.run(rest, then),
            (true, true) => {}
            (false, _) => self.fails(Failed::Instruction(first)),
        }
    }

    /// Runs the continuation after the last instruction of a pattern or of the body of an [`Each`].
    fn end(&mut self, then: &Then<'_>) {
        match *then {
            Then::Accept => {
                let found = Match {
                    registers: &self.registers,
                    slots: &self.slots,
                    ops: &self.ops,
                };
                self.done |= !(self.accept)(found);
            }
            Then::Next {
                each,
                at,
                rest,
                then,
            } => {
                for &(reg, list) in &each.collect {
                    let value = self.value(reg);
                    self.slots.lists[usize::from(list)].push(value);
                }
                // Saved because the values that follow use the same registers.
                let registers = self.registers.clone();
                self.each(each, at + 1, rest, then);
                self.registers = registers;
                for &(_, list) in &each.collect {
                    self.slots.lists[usize::from(list)].pop();
                }
            }
        }
    }

    /// Matches the values of a list from index `at`.
    fn each(&mut self, each: &Each, at: usize, rest: &[Instruction], then: &Then<'_>) {
        match self.list(each.list).get(at).copied() {
            None => self.run(rest, then),
            Some(value) => {
                self.set(each.reg, value);
                let next = Then::Next {
                    each,
                    at,
                    rest,
                    then,
                };
                self.run(&each.body, &next);
            }
        }
    }

    /// Distributes operands over the items of a pattern, in every possible way.
    fn distribute(
        &mut self,
        items: &[Item],
        operands: &[S::Value],
        rest: &[Instruction],
        then: &Then<'_>,
    ) {
        let single = |items: &[Item]| {
            let one = |item: &&Item| matches!(item, Item::One(_));
            items.iter().filter(one).count()
        };
        match items.split_first() {
            None if operands.is_empty() => self.run(rest, then),
            None => {}
            Some((Item::One(reg), items)) => {
                if let Some((&first, operands)) = operands.split_first() {
                    self.set(*reg, first);
                    self.distribute(items, operands, rest, then);
                }
            }
            Some((Item::Many(list), items)) => {
                let Some(most) = operands.len().checked_sub(single(items)) else {
                    return;
                };
                let last = items.len() == single(items);
                if !last && operands.len() > MAX_OPERANDS {
                    return;
                }
                let least = if last { most } else { 0 };
                for taken in least..=most {
                    let taken = operands.split_at(taken);
                    let slot = &mut self.slots.lists[usize::from(*list)];
                    slot.clear();
                    slot.extend_from_slice(taken.0);
                    self.distribute(items, taken.1, rest, then);
                }
            }
        }
    }

    /// Returns the `nth` op of definition `op` that computes `value`; `None` if the pattern may not look through a
    /// constant.
    fn op(&self, value: S::Value, op: OpIx, nth: usize) -> Option<S::Op> {
        let is_open = || self.opens_constants || self.subject.constant(S::number(value)).is_none();
        let op = self.subject.op(value, op, nth)?;
        (nth > 0 || is_open()).then_some(op)
    }

    fn value(&self, reg: Reg) -> S::Value {
        self.subject.canonical(self.registers[usize::from(reg)])
    }

    fn set(&mut self, reg: Reg, value: S::Value) {
        self.registers[usize::from(reg)] = self.subject.canonical(value);
    }

    fn open(&mut self, out: Reg, values: &[S::Value]) {
        for (reg, &value) in (out..).zip(values) {
            self.set(reg, value);
        }
    }

    fn list(&self, list: Slot) -> &[S::Value] {
        &self.slots.lists[usize::from(list)]
    }

    fn matches_attrs(&mut self, patterns: &[AttrPattern], op: S::Op) -> bool {
        let subject = self.subject;
        let slots = &mut self.slots.attrs;
        patterns.iter().enumerate().all(|(index, pattern)| {
            let attr = subject.op_attr(op, index);
            match pattern {
                AttrPattern::Bind(slot) => {
                    slots[usize::from(*slot)] = Some(attr);
                    true
                }
                AttrPattern::Same(slot) => {
                    slots[usize::from(*slot)].is_some_and(|bound| subject.same_attr(bound, attr))
                }
                AttrPattern::Equals(value) => subject.attr_is(attr, value),
            }
        })
    }

    fn matches_type(&mut self, pattern: &TypePattern, value: S::Value) -> bool {
        let found = self.subject.ty(value);
        let slots = &mut self.slots;
        match pattern.dtype {
            Some(SlotUse::Bind(slot)) => slots.dtypes[usize::from(slot)] = Some(found.dtype),
            Some(SlotUse::Same(slot)) if slots.dtypes[usize::from(slot)] != Some(found.dtype) => {
                return false;
            }
            Some(SlotUse::Same(_)) | None => {}
        }
        pattern
            .shape
            .as_ref()
            .is_none_or(|pattern| matches_shape(slots, pattern, found.shape))
    }
}

fn matches_shape<V, A>(slots: &mut Slots<V, A>, pattern: &ShapePattern, shape: &[Dim]) -> bool {
    let (front, back) = (pattern.front.len(), pattern.back.len());
    let Some(middle) = shape.len().checked_sub(front + back) else {
        return false;
    };
    if pattern.rest.is_none() && middle > 0 {
        return false;
    }
    let mut dim = |pattern: &DimPattern, dim: Dim| match *pattern {
        DimPattern::Fixed(extent) => dim == Dim::Fixed(extent),
        DimPattern::Named(SlotUse::Bind(slot)) => {
            slots.dims[usize::from(slot)] = dim;
            true
        }
        DimPattern::Named(SlotUse::Same(slot)) => slots.dims[usize::from(slot)].surely_equals(dim),
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
        Some(SlotUse::Bind(slot)) => {
            slots.shapes[usize::from(slot)] = rest.to_vec();
            true
        }
        Some(SlotUse::Same(slot)) => {
            let bound = &slots.shapes[usize::from(slot)];
            bound.len() == rest.len() && bound.iter().zip(rest).all(|(a, b)| a.surely_equals(*b))
        }
    }
}
