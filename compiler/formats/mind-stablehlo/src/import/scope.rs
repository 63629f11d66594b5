//! The names of a block, and which of its operations count.

use mind_convert::Refusal;
use mind_ir::ValueId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::value::Value;
use crate::text::{Block, Op, Use};

/// What the names of a block stand for.
#[derive(Default)]
pub(crate) struct Scope<'t> {
    /// The results that a name stands for; none for what was refused.
    values: FxHashMap<&'t str, Option<Vec<Value>>>,
}

/// What a name stands for.
pub(crate) enum Named {
    /// A value.
    Value(Value),
    /// A value that a refused operation would have made.
    Refused,
    /// Nothing.
    Nothing,
}

impl<'t> Scope<'t> {
    /// Gives results their names.
    pub fn define(&mut self, names: &[(&'t str, usize)], values: Vec<Value>) {
        let mut values = values.into_iter();
        for &(name, count) in names {
            let own = values.by_ref().take(count).collect();
            self.values.insert(name, Some(own));
        }
    }

    pub fn define_one(&mut self, name: &'t str, value: Value) {
        self.values.insert(name, Some(vec![value]));
    }

    pub fn refuse(&mut self, names: &[(&'t str, usize)]) {
        for &(name, _) in names {
            self.values.insert(name, None);
        }
    }

    /// The value of a name, if it has one.
    pub fn value(&self, of: &Use<'_>) -> Option<&Value> {
        self.values.get(of.name)?.as_ref()?.get(of.index)
    }

    pub fn get(&self, of: &Use<'_>) -> Named {
        match self.values.get(of.name) {
            Some(Some(values)) => match values.get(of.index) {
                Some(value) => Named::Value(value.clone()),
                None => Named::Nothing,
            },
            Some(None) => Named::Refused,
            None => Named::Nothing,
        }
    }
}

/// What regions read from outside of them.
pub(crate) struct Captures<'t> {
    /// Names with what they stand for.
    named: Vec<(&'t str, Vec<Value>)>,
}

impl<'t> Captures<'t> {
    /// The captures of blocks.
    ///
    /// # Errors
    ///
    /// A value that a refused operation would have made.
    pub fn of(blocks: &[&'t Block<'t>], scope: &Scope<'t>) -> Result<Captures<'t>, Refusal> {
        let mut names = Vec::new();
        let mut seen = FxHashSet::default();
        for block in blocks {
            free_names(block, &mut |name| {
                if seen.insert(name) {
                    names.push(name);
                }
            });
        }
        let mut named = Vec::new();
        for name in names {
            match scope.values.get(name) {
                Some(Some(values)) => named.push((name, values.clone())),
                Some(None) => return Err(Refusal::following(name)),
                // What reads it reports it.
                None => {}
            }
        }
        Ok(Captures { named })
    }

    /// Captures a value under another name, too.
    pub fn add(&mut self, name: &'t str, value: Value) {
        self.named.push((name, vec![value]));
    }

    fn each(&self) -> impl Iterator<Item = &Value> {
        self.named.iter().flat_map(|(_, values)| values)
    }

    /// The captures that are operands of an op with closed regions.
    pub fn operands(&self) -> impl Iterator<Item = &Value> {
        self.each().filter(|value| is_operand(value))
    }

    /// The names inside of a region, where `arguments` stand for the operands.
    pub fn scope(&self, arguments: &[ValueId]) -> Scope<'t> {
        let mut arguments = arguments.iter();
        let mut scope = Scope::default();
        for (name, values) in &self.named {
            let own = values.iter().map(|value| match is_operand(value) {
                true => arguments
                    .next()
                    .map_or(value.clone(), |own| Value::Op(*own)),
                false => value.clone(),
            });
            let own = own.collect();
            scope.values.insert(name, Some(own));
        }
        scope
    }
}

/// Whether only an operand brings a value into a closed region: named extents and constants are the same everywhere.
fn is_operand(value: &Value) -> bool {
    use super::value::Extent;
    match value {
        Value::Op(_) | Value::Compared(_) => true,
        Value::Known(_) => false,
        Value::Extents(extents) => {
            let mut all = extents.elements.iter();
            all.any(|own| matches!(own, Extent::Computed(_)))
        }
    }
}

/// Calls `found` with the names that a block reads from outside of it.
fn free_names<'t>(block: &'t Block<'t>, found: &mut dyn FnMut(&'t str)) {
    let mut own: FxHashSet<&str> = block.arguments.iter().map(|own| own.name).collect();
    for op in &block.ops {
        let mut inner = Vec::new();
        read_names(op, &mut |name| inner.push(name));
        let free = inner.into_iter().filter(|name| !own.contains(name));
        free.for_each(&mut *found);
        own.extend(op.results.iter().map(|(name, _)| *name));
    }
}

/// Calls `found` with the names that an operation reads.
fn read_names<'t>(op: &'t Op<'t>, found: &mut dyn FnMut(&'t str)) {
    for operand in &op.operands {
        found(operand.name);
    }
    for block in &op.regions {
        free_names(block, found);
    }
}

/// Whether each operation of a block counts: its results are read, or it does something else.
pub(crate) fn needed(block: &Block<'_>) -> Vec<bool> {
    let mut read: FxHashSet<&str> = FxHashSet::default();
    let mut needed = vec![false; block.ops.len()];
    for (at, op) in block.ops.iter().enumerate().rev() {
        let is_read = op.results.iter().any(|(name, _)| read.contains(name));
        needed[at] = op.is_return() || op.results.is_empty() || is_read || has_effects(op);
        if needed[at] {
            read_names(op, &mut |name| {
                read.insert(name);
            });
        }
    }
    needed
}

/// Whether the text says that an operation does more than making results.
fn has_effects(op: &Op<'_>) -> bool {
    let mut attrs = op.attrs.iter();
    attrs.any(|(name, value)| {
        *name == "has_side_effect" && matches!(value, crate::text::Attr::Bool(true))
    })
}
