//! Turns a choice of e-nodes into ops of the module.

use mind_diag::Span;
use mind_ir::builder::Builder;
use mind_ir::graph::{Graph, InsertPoint};
use mind_ir::listener::{Listener, Rewrite, Step};
use mind_ir::opdef::{OpDef, Trait};
use mind_ir::types::TensorType;
use mind_ir::{OpId, ValueId};
use smallvec::SmallVec;

use crate::context::Context;
use crate::egraph::language::Head;
use crate::egraph::store::Store;
use crate::extract::{ClassIx, DenseNode, NodeContent};
use crate::fusion::body::Source;
use crate::fusion::build::insert;
use crate::report::{Change, Replacement, Report};
use crate::writeback::changes::{ChosenForm, Plan, PlannedChange, class_text, plan, resolve};
use crate::writeback::placement::{NOWHERE, anchors, inlined};
use mind_rewrite::end_body;
use mind_rules::OpIx;

/// Makes the changes of `found` that `listener` admits; returns whether there were any. `cost` is that of the region as
/// it is.
pub(crate) fn rewrite(
    g: &mut Graph,
    cx: &Context<'_>,
    found: &ChosenForm<'_, '_>,
    cost: u64,
    report: &mut Report,
    listener: &mut dyn Listener,
) -> bool {
    let ChosenForm {
        loaded,
        dense,
        choice,
        ..
    } = *found;
    let plan = plan(g, cx, found, cost, listener);
    if plan.changes.is_empty() {
        return false;
    }
    let anchors = anchors(dense, choice, loaded);
    let mut order: Vec<ClassIx> = (0..dense.classes.len() as ClassIx)
        .filter(|&class| choice.needs(class) && anchors[class as usize] != NOWHERE)
        .collect();
    order.sort_by_key(|&class| (anchors[class as usize], dense.class(class).rank, class));
    let values = vec![None; dense.classes.len()];
    let mut rewriter = Rewriter {
        g,
        cx,
        found,
        plan: &plan,
        values,
        hoisted: 0,
        report,
    };
    for class in order {
        let value = rewriter.value(class, anchors[class as usize]);
        rewriter.values[class as usize] = value;
    }
    rewriter.replace(listener);
    true
}

struct Rewriter<'a, 'r> {
    g: &'a mut Graph,
    cx: &'a Context<'a>,
    found: &'a ChosenForm<'a, 'r>,
    plan: &'a Plan,
    values: Vec<Option<ValueId>>,
    /// Inputs of the module before this position of the program were hoisted already.
    hoisted: usize,
    report: &'a mut Report,
}

impl<'r> Rewriter<'_, 'r> {
    fn store(&self) -> &Store<'r> {
        &self.found.loaded.egraph.analysis.store
    }

    /// Returns the op at a position of the region.
    fn op_at(&self, position: u32) -> OpId {
        self.found.program.ops[self.found.start + position as usize - 1]
    }

    /// Returns the value of `class`: a new one, computed before the op at `anchor`, if a change needs it; else the
    /// program's own.
    fn value(&mut self, class: ClassIx, anchor: u32) -> Option<ValueId> {
        if self.plan.emitted[class as usize] {
            return self.emit(class, anchor);
        }
        let own = self.found.dense.class(class).program?;
        Some(self.found.loaded.ops[own as usize].result)
    }

    /// Emits the ops of `class` before the op at `anchor`.
    fn emit(&mut self, class: ClassIx, anchor: u32) -> Option<ValueId> {
        let number = self.found.choice.node(class)?;
        let node = self.found.dense.node(number);
        let before = self.op_at(anchor);
        match node.content {
            NodeContent::Node {
                head: Head::Leaf,
                payload,
            } => {
                let value = self.found.loaded.leaves[payload as usize].0;
                self.hoist(value, anchor);
                Some(value)
            }
            NodeContent::Node {
                head: Head::Const,
                payload,
            } => Some(self.constant(payload, before)),
            NodeContent::Node {
                head: Head::Op(op),
                payload,
            } => {
                let operands: SmallVec<[ValueId; 4]> = self.operands(&node.children)?;
                let value =
                    self.create(op, payload, &operands, InsertPoint::Before(before), before);
                self.rename(class, value);
                Some(value)
            }
            NodeContent::Group(group) => {
                let value = self.fused(group, node, before)?;
                self.rename(class, value);
                Some(value)
            }
        }
    }

    /// Moves an input of the module before the op at `anchor`, with all inputs between them, so that inputs keep their
    /// order. Anchors must not decrease from call to call.
    fn hoist(&mut self, value: ValueId, anchor: u32) {
        let defined = self.found.program.definition(self.g, value);
        let start = self.found.start + anchor as usize - 1;
        let Some(end) = defined.filter(|&end| end >= start) else {
            return;
        };
        let before = self.op_at(anchor);
        for at in start.max(self.hoisted)..=end {
            let op = self.found.program.ops[at];
            if self.g.def(op).has(Trait::Interface) {
                self.g.move_before(op, before);
            }
        }
        self.hoisted = self.hoisted.max(end + 1);
    }

    fn operands(&self, classes: &[ClassIx]) -> Option<SmallVec<[ValueId; 4]>> {
        classes
            .iter()
            .map(|&class| self.values[class as usize])
            .collect()
    }

    /// Gives a new value the label and declared type of the value that it replaces.
    fn rename(&mut self, class: ClassIx, value: ValueId) {
        let Some(op) = self.found.dense.class(class).program else {
            return;
        };
        let old = self.found.loaded.ops[op as usize].result;
        let label = self.g.label(old);
        self.g.set_label(value, label);
        if let Some(declared) = self.g.declared(old) {
            self.g.declare(value, declared);
        }
    }

    fn create(
        &mut self,
        op: OpIx,
        payload: u32,
        operands: &[ValueId],
        at: InsertPoint,
        replaced: OpId,
    ) -> ValueId {
        let store = &self.found.loaded.egraph.analysis.store;
        let def: &'static OpDef = store.ops.def(op);
        let payload = store.payload(payload);
        let attrs = store.borrow_attrs(&payload.attrs);
        let span = self.g.span(replaced);
        let created = Builder::new(self.g, at, span).create(def, operands, &attrs);
        let op = created.expect("the shape rule took these types in the scratch graph");
        let value = self.g.result(op);
        // A declared type may be more specific than the inferred one.
        let ty: TensorType = store.ty(payload.ty).to_owned();
        let ty = self.g.intern_type(ty.view());
        self.g.set_type(value, ty);
        value
    }

    /// Returns the value of a constant, which is defined before the op `before`.
    fn constant(&mut self, number: u32, before: OpId) -> ValueId {
        if let Some(&op) = self.found.loaded.constants.get(&number) {
            let here = self.found.program.position(before);
            if self.found.program.position(op) >= here && self.g.parent(op) == self.g.parent(before)
            {
                self.g.move_before(op, before);
            }
            return self.g.result(op);
        }
        let span = self.g.span(before);
        self.new_constant(number, InsertPoint::Before(before), span)
    }

    fn new_constant(&mut self, number: u32, at: InsertPoint, span: Span) -> ValueId {
        let found = self.found;
        let store = &found.loaded.egraph.analysis.store;
        let constant = store.constants.get(number);
        let builder = &mut Builder::new(self.g, at, span);
        self.cx.make_constant(builder, store, constant)
    }

    /// Builds a fused op with the group's ops as its body.
    fn fused(&mut self, number: u32, node: &DenseNode, before: OpId) -> Option<ValueId> {
        let group = &self.found.groups[number as usize];
        let span = self.g.span(before);
        let inlined = inlined(self.found.loaded, self.found.dense, self.found.choice, node);
        let children = node.children.iter().zip(&inlined);
        let outer: SmallVec<[ClassIx; 4]> = children
            .filter(|(_, inlined)| !**inlined)
            .map(|(&class, _)| class)
            .collect();
        let operands = self.operands(&outer)?;
        let (op, block) = insert(self.g, self.cx, group.kind, &operands, 1, before);
        let arguments = self.g.arguments(block);
        let at = InsertPoint::End(block);
        let sources: SmallVec<[ValueId; 4]> = node
            .children
            .iter()
            .map(|&class| match outer.iter().position(|&own| own == class) {
                Some(position) => arguments.get(position),
                None => match self
                    .found
                    .choice
                    .node(class)
                    .map(|node| self.found.dense.node(node).content)
                {
                    Some(NodeContent::Node { payload, .. }) => self.new_constant(payload, at, span),
                    _ => unreachable!("only constants are inlined"),
                },
            })
            .collect();
        let mut results: Vec<ValueId> = Vec::with_capacity(group.members.len());
        for member in &group.members {
            let inner = self.found.dense.node(member.node);
            let NodeContent::Node {
                head: Head::Op(op),
                payload,
            } = inner.content
            else {
                return None;
            };
            let operands: SmallVec<[ValueId; 4]> = member
                .operands
                .iter()
                .map(|&source| match source {
                    Source::Operand(operand) => sources[operand],
                    Source::Member(earlier) => results[earlier],
                })
                .collect();
            let program = self.found.dense.class(inner.class).program;
            let replaced = program.map_or(before, |own| self.found.loaded.ops[own as usize].op);
            results.push(self.create(op, payload, &operands, at, replaced));
        }
        let last = *results.last()?;
        end_body(self.g, op, block, &[last]);
        Some(self.g.result(op))
    }

    /// Replaces all uses of the changed values, and erases dead ops.
    fn replace(mut self, listener: &mut dyn Listener) {
        for change in &self.plan.changes {
            let own = self.found.loaded.ops[change.at];
            let Some(value) = self.values[change.class as usize] else {
                continue;
            };
            self.note(change, value);
            self.g.replace_all_uses(own.result, value);
            self.notify(change, value, listener);
        }
        let mut constants: Vec<OpId> = Vec::new();
        for own in self.found.loaded.ops.iter().rev() {
            if !self.g.uses(own.result).is_empty() {
                continue;
            }
            let read = self
                .g
                .operands(own.op)
                .iter()
                .filter_map(|&value| self.g.defining_op(value));
            constants.extend(read.filter(|&op| self.g.def(op).has(Trait::Constant)));
            self.g.erase(own.op);
        }
        for op in constants {
            let unread = self
                .g
                .results(op)
                .iter()
                .all(|value| self.g.uses(value).is_empty());
            if self.g.parent(op).is_some() && unread {
                self.g.erase(op);
            }
        }
    }

    fn notify(&self, change: &PlannedChange, value: ValueId, listener: &mut dyn Listener) {
        let rules = self.cx.rules;
        let classes = change.steps.iter().map(|&step| class_text(rules, step));
        let classes: SmallVec<[String; 4]> = classes.collect();
        let steps = change.steps.iter().zip(&classes);
        let steps: SmallVec<[Step<'_>; 4]> = steps
            .map(|(&step, class)| resolve(rules, step, class))
            .collect();
        let made = change.made.iter();
        let made = made.filter_map(|&class| self.values[class as usize]);
        let helpers: SmallVec<[ValueId; 4]> = made.filter(|&made| made != value).collect();
        let rewrite = Rewrite {
            op: self.found.loaded.ops[change.at].op,
            values: &[value],
            helpers: &helpers,
            steps: &steps,
            cost: Some(change.cost),
        };
        listener.applied(self.g, &rewrite);
    }

    fn note(&mut self, change: &PlannedChange, value: ValueId) {
        let own = self.found.loaded.ops[change.at];
        let first = self.found.dense.class(change.class).program == Some(change.at as u32);
        let node = self
            .found
            .choice
            .node(change.class)
            .map(|node| self.found.dense.node(node).content);
        let to = match node {
            Some(NodeContent::Group(group)) if first => {
                Replacement::Fused(self.found.groups[group as usize].kind)
            }
            Some(NodeContent::Node {
                head: Head::Op(op), ..
            }) if first => Replacement::Op(self.store().ops.def(op).name),
            Some(NodeContent::Node {
                head: Head::Const, ..
            }) => Replacement::Constant,
            _ => Replacement::Value(self.g.label(value)),
        };
        self.report.count_change(&change.steps, change.cost);
        let (span, from) = (self.g.span(own.op), self.g.def(own.op).name);
        self.report.changes.push(Change {
            span,
            from,
            to,
            rules: change.steps.clone(),
            cost: change.cost,
        });
    }
}
