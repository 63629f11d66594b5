//! The names of a block, and liveness of its operations.

use mind_convert::Refusal;
use mind_ir::ValueId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::value::Value;
use crate::text::{Block, Op, Use};

/// The values of the names of a block.
#[derive(Default)]
pub(crate) struct Scope<'t> {
    /// The results with each name; `None` if their operation was refused.
    values: FxHashMap<&'t str, Option<Vec<Value>>>,
}

/// The result of a look-up of a name.
pub(crate) enum Named {
    /// A value.
    Value(Value),
    /// The result of a refused operation.
    Refused,
    /// The name is not defined.
    Nothing,
}

impl<'t> Scope<'t> {
    /// Binds names to results. Each name has a number of results.
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

    /// Returns the value of a name; `None` if it is not defined or was refused.
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

/// The values that regions read from enclosing blocks.
pub(crate) struct Captures<'t> {
    /// The names and their values.
    named: Vec<(&'t str, Vec<Value>)>,
}

impl<'t> Captures<'t> {
    /// Returns the captures of blocks.
    ///
    /// # Errors
    ///
    /// If a captured value is the result of a refused operation.
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
                // Undefined names are reported by the operations that read them.
                None => {}
            }
        }
        Ok(Captures { named })
    }

    /// Captures a value under an additional name.
    pub fn add(&mut self, name: &'t str, value: Value) {
        self.named.push((name, vec![value]));
    }

    fn each(&self) -> impl Iterator<Item = &Value> {
        self.named.iter().flat_map(|(_, values)| values)
    }

    /// Returns the captures that are operands of an op with closed regions.
    pub fn operands(&self) -> impl Iterator<Item = &Value> {
        self.each().filter(|value| is_operand(value))
    }

    /// Returns the scope inside of a region, whose block arguments `arguments` replace the captured operands.
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

/// Returns whether a captured value must be an operand of the op. Constants and named extents need not be, because they
/// are the same in every region.
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

/// Calls `found` with the free names of a block.
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

/// Calls `found` with the names that an operation reads, including its regions.
fn read_names<'t>(op: &'t Op<'t>, found: &mut dyn FnMut(&'t str)) {
    for operand in &op.operands {
        found(operand.name);
    }
    for block in &op.regions {
        free_names(block, found);
    }
}

/// Returns, for each operation of a block, whether it is live: its results are read, it has side effects, or it
/// returns.
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

/// Returns whether the text declares that an operation has side effects.
fn has_effects(op: &Op<'_>) -> bool {
    let mut attrs = op.attrs.iter();
    attrs.any(|(name, value)| {
        *name == "has_side_effect" && matches!(value, crate::text::Attr::Bool(true))
    })
}
