//! Applies edits.

use std::collections::HashMap;

use mind_ir::graph::{InsertPoint, Preamble};
use mind_ir::opdef::Registry;
use mind_ir::verify::{VerifyConfig, verify};
use mind_ir::{Graph, OpId, ValueId};

use super::edit::{Edit, NewStatement, Place};
use super::error::PatchError;
use super::values::{no_attribute, set_attribute};

/// Applies `edits` to the verified module `g` and verifies the result.
///
/// Edits are applied in order, and each sees the results of the previous ones. Ops are erased after the last edit, so
/// that later edits may change their users. Ids that no edit names do not change.
///
/// # Errors
///
/// Errors if an edit cannot be applied, if a deleted op still has users, or if the verifier rejects the result.
pub fn apply(
    g: &Graph,
    edits: &[Edit],
    registry: &Registry,
    config: &VerifyConfig,
) -> Result<Graph, PatchError> {
    let mut patch = Patch {
        values: HashMap::new(),
        doomed: Vec::new(),
        g: g.clone(),
        registry,
    };
    // Declarations of the old text may not match the new module.
    patch.g.preamble = Preamble::default();
    patch.index();
    for (number, edit) in (1..).zip(edits) {
        let made = patch.make(number, edit);
        made.map_err(|problem| PatchError::Edit {
            number,
            edit: edit.describe(),
            problem,
        })?;
    }
    patch.bury()?;
    let found = verify(&mut patch.g, config);
    if found.has_errors() {
        Err(PatchError::Invalid(found))
    } else {
        Ok(patch.g)
    }
}

pub(super) struct Patch<'r> {
    pub(super) g: Graph,
    pub(super) registry: &'r Registry,
    /// The values by id.
    values: HashMap<u64, ValueId>,
    /// The ops to erase, with the number of the edit and the id it names.
    doomed: Vec<(usize, u64, OpId)>,
}

impl Patch<'_> {
    fn index(&mut self) {
        let g = &self.g;
        let results = g.walk().flat_map(|op| g.results(op));
        let blocks = g
            .walk()
            .flat_map(|op| g.regions(op).iter().map(|&region| g.block(region)));
        let arguments = blocks.flat_map(|block| g.arguments(block));
        self.values = results
            .chain(arguments)
            .map(|value| (g.label(value), value))
            .collect();
    }

    fn make(&mut self, number: usize, edit: &Edit) -> Result<(), String> {
        match edit {
            Edit::Insert { statement, place } => {
                let at = self.place(*place)?;
                let op = self.statement(statement, at, None)?;
                self.name(op, statement.id)
            }
            Edit::Delete { id, instead } => {
                let op = self.op(*id)?;
                if let Some(instead) = instead {
                    let (old, new) = (self.value(*id)?, self.value(*instead)?);
                    if self.g.defining_op(new) == Some(op) {
                        return Err(format!("{instead} is a result of the deleted op"));
                    }
                    self.g.replace_all_uses(old, new);
                }
                self.doomed.push((number, *id, op));
                Ok(())
            }
            Edit::Replace { id, statement } => self.replace(*id, statement),
            Edit::SetAttribute { id, name, value } => {
                let op = self.op(*id)?;
                let def = self.g.def(op);
                let index = def
                    .attr_index(name)
                    .ok_or_else(|| no_attribute(def, name))?;
                set_attribute(&mut self.g, op, index, &def.attrs[index], value)
            }
            Edit::SetType { id, ty } => {
                let value = self.value(*id)?;
                match ty {
                    Some(ty) => self.declare(value, ty)?,
                    None => self.g.undeclare(value),
                }
                Ok(())
            }
            Edit::Rename { id, to } => {
                let value = self.value(*id)?;
                self.free(*to)?;
                self.g.set_label(value, *to);
                self.values.remove(id);
                self.values.insert(*to, value);
                Ok(())
            }
            Edit::SetOutputs(ids) => {
                let values: Result<Vec<ValueId>, String> =
                    ids.iter().map(|&id| self.value(id)).collect();
                let end = self.g.terminator(self.g.body());
                end.ok_or("the module has no outputs")?;
                self.g.set_outputs(&values?);
                Ok(())
            }
        }
    }

    fn replace(&mut self, id: u64, statement: &NewStatement) -> Result<(), String> {
        let (old, op) = (self.value(id)?, self.op(id)?);
        if self.g.results(op).len() != 1 {
            return Err("an op of several results cannot be replaced as one".to_owned());
        }
        let new = self.statement(statement, InsertPoint::Before(op), Some(old))?;
        if self.g.results(new).len() != 1 {
            return Err("an op with several results cannot replace one value".to_owned());
        }
        let value = self.g.result(new);
        self.g.replace_all_uses(old, value);
        // The labels are swapped, so that the value keeps its id.
        self.g.swap_labels(old, value);
        self.values.insert(id, value);
        self.g.erase(op);
        Ok(())
    }

    /// Erases the deleted ops.
    ///
    /// # Errors
    ///
    /// Errors if one of them still has users.
    fn bury(&mut self) -> Result<(), PatchError> {
        let ops: Vec<OpId> = self.doomed.iter().map(|&(_, _, op)| op).collect();
        for &(number, id, op) in &self.doomed {
            let results = self.g.results(op).into_iter();
            let users = results
                .flat_map(|value| self.g.uses(value))
                .map(|(user, _)| user);
            let mut readers: Vec<String> = users
                .filter(|user| !ops.contains(user))
                .map(|user| reader(&self.g, user))
                .collect();
            readers.sort();
            readers.dedup();
            if !readers.is_empty() {
                let several = readers.len() > 1;
                return Err(PatchError::Dependents {
                    number,
                    id,
                    readers: readers.join(", "),
                    several,
                });
            }
        }
        // Operands are dropped first, because deleted ops may use each other in any order.
        for &op in &ops {
            self.g.set_operands(op, &[]);
        }
        ops.into_iter().for_each(|op| self.g.erase(op));
        Ok(())
    }

    pub(super) fn value(&self, id: u64) -> Result<ValueId, String> {
        self.values
            .get(&id)
            .copied()
            .ok_or_else(|| format!("no value has the id {id}"))
    }

    fn op(&self, id: u64) -> Result<OpId, String> {
        let value = self.value(id)?;
        let op = self.g.defining_op(value);
        let op =
            op.ok_or_else(|| format!("{id} is the argument of a body, which no op defines"))?;
        if self.doomed.iter().any(|&(_, _, own)| own == op) {
            Err(format!("{id} is deleted already"))
        } else {
            Ok(op)
        }
    }

    fn free(&self, id: u64) -> Result<(), String> {
        if self.values.contains_key(&id) {
            Err(format!("the id {id} is taken"))
        } else {
            Ok(())
        }
    }

    fn place(&self, place: Place) -> Result<InsertPoint, String> {
        let g = &self.g;
        let end = |block| match g.terminator(block) {
            Some(end) => InsertPoint::Before(end),
            None => InsertPoint::End(block),
        };
        match place {
            Place::Before(id) => Ok(InsertPoint::Before(self.op(id)?)),
            Place::After(id) => {
                let op = self.op(id)?;
                let block = g.parent(op).unwrap_or(g.body());
                Ok(g.next(op).map_or_else(|| end(block), InsertPoint::Before))
            }
            Place::End => Ok(end(g.body())),
        }
    }

    /// Assigns an id to the first result of a new op; other results get the next free ids.
    pub(super) fn name(&mut self, op: OpId, id: Option<u64>) -> Result<(), String> {
        for (index, value) in self.g.results(op).into_iter().enumerate() {
            self.name_value(value, id.filter(|_| index == 0))?;
        }
        Ok(())
    }

    /// Assigns an id to a new value.
    pub(super) fn name_value(&mut self, value: ValueId, id: Option<u64>) -> Result<(), String> {
        if let Some(id) = id {
            self.free(id)?;
            self.g.set_label(value, id);
        }
        self.values.insert(self.g.label(value), value);
        Ok(())
    }
}

/// Names a user in an error: the id of its result, or the list of outputs.
fn reader(g: &Graph, op: OpId) -> String {
    match g.results(op).into_iter().next() {
        Some(value) => g.label(value).to_string(),
        None => "the list of outputs".to_owned(),
    }
}
