//! Making edits.

use std::collections::HashMap;

use mind_diag::Span;
use mind_ir::attr::Attr;
use mind_ir::graph::{InsertPoint, NewOp, Preamble};
use mind_ir::opdef::{OpDef, Registry, Results, Trait, nearest};
use mind_ir::verify::{VerifyConfig, verify};
use mind_ir::{Graph, OpId, ValueId};

use super::edit::{Edit, NewStatement, Place};
use super::error::PatchError;
use super::values::{parse_type, placeholder, set_attribute};

/// The verified module `g` after `edits`, verified again.
///
/// Edits are made in order, and each sees what those before it made. Deleted ops go when all edits are made, so
/// that their readers may be edited after them. Ids that no edit names stay as they are.
///
/// Errors: the first edit that cannot be made; a deleted op that is still read; the rules that the result breaks.
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
    // Declarations of the text may not fit what it says now.
    patch.g.preamble = Preamble {
        positional: g.preamble.positional,
        ..Preamble::default()
    };
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
    match found.has_errors() {
        true => Err(PatchError::Invalid(found)),
        false => Ok(patch.g),
    }
}

struct Patch<'r> {
    g: Graph,
    registry: &'r Registry,
    /// Values by id.
    values: HashMap<u64, ValueId>,
    /// Ops to be deleted, with the edits that say so and the ids they name.
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
                        return Err(format!("{instead} is what is deleted"));
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
                let end = self
                    .g
                    .terminator(self.g.body())
                    .ok_or("the module has no outputs")?;
                self.g.set_operands(end, &values?);
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
        let value = self.g.result(new);
        self.g.replace_all_uses(old, value);
        let free = self.g.label(value);
        // The ids change places, so that the value keeps its own.
        self.g.set_label(old, free);
        self.g.set_label(value, id);
        self.values.insert(id, value);
        self.g.erase(op);
        Ok(())
    }

    /// Deletes what is to be deleted.
    ///
    /// Errors: something that is still read.
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
        // Readers first, whatever order they were named in.
        for &op in &ops {
            self.g.set_operands(op, &[]);
        }
        ops.into_iter().for_each(|op| self.g.erase(op));
        Ok(())
    }

    fn value(&self, id: u64) -> Result<ValueId, String> {
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
        match self.doomed.iter().any(|&(_, _, own)| own == op) {
            true => Err(format!("{id} is deleted already")),
            false => Ok(op),
        }
    }

    fn free(&self, id: u64) -> Result<(), String> {
        match self.values.contains_key(&id) {
            true => Err(format!("the id {id} is taken")),
            false => Ok(()),
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

    /// Gives the result of a new op its id.
    fn name(&mut self, op: OpId, id: Option<u64>) -> Result<(), String> {
        let value = self.g.result(op);
        if let Some(id) = id {
            self.free(id)?;
            self.g.set_label(value, id);
        }
        self.values.insert(self.g.label(value), value);
        Ok(())
    }

    /// A new op; where its type must be written and is not, it is that of `like`.
    fn statement(
        &mut self,
        new: &NewStatement,
        at: InsertPoint,
        like: Option<ValueId>,
    ) -> Result<OpId, String> {
        let def = self.def(&new.op)?;
        if def.regions > 0 || def.results != Results::One {
            return Err(format!(
                "`{}` has a body or not one result; write it in the module's text",
                new.op
            ));
        }
        let operands: Result<Vec<ValueId>, String> =
            new.operands.iter().map(|&id| self.value(id)).collect();
        if let Some((name, _)) = new
            .attributes
            .iter()
            .find(|(name, _)| def.attr_index(name).is_none())
        {
            return Err(no_attribute(def, name));
        }
        let placeholders: Vec<Attr<'static>> = def.attrs.iter().map(placeholder).collect();
        let (operands, span) = (operands?, Span::FILE);
        let op = self.g.insert(
            at,
            NewOp {
                def,
                operands: &operands,
                attrs: &placeholders,
                results: 1,
                span,
            },
        );
        for (index, row) in def.attrs.iter().enumerate() {
            let given = new.attributes.iter().find(|(name, _)| name == row.name);
            match (given, row.default) {
                (Some((_, value)), _) => set_attribute(&mut self.g, op, index, row, value)?,
                (None, Some(default)) => self.g.set_attr(op, index, default),
                (None, None) => {
                    return Err(format!("`{}` needs the attribute `{}`", new.op, row.name));
                }
            }
        }
        let value = self.g.result(op);
        let inherited = like.and_then(|like| self.g.declared(like).or(self.g.type_id(like)));
        match (&new.ty, inherited) {
            (Some(ty), _) => self.declare(value, ty)?,
            (None, Some(ty)) if def.has(Trait::DeclaresType) => self.g.declare(value, ty),
            (None, _) => {}
        }
        Ok(op)
    }

    fn declare(&mut self, value: ValueId, text: &str) -> Result<(), String> {
        let ty = parse_type(&mut self.g, text)?;
        let ty = self.g.intern_type(ty.view());
        self.g.declare(value, ty);
        Ok(())
    }

    /// The op that some format calls `name`.
    fn def(&self, name: &str) -> Result<&'static OpDef, String> {
        let called = |def: &&OpDef| {
            let names = [
                Some(def.name),
                def.names.core,
                def.names.mic1,
                def.names.mic2,
            ];
            names.contains(&Some(name))
        };
        let found = self.registry.ops().find(called);
        found.ok_or_else(|| {
            let names = self
                .registry
                .ops()
                .flat_map(|def| [Some(def.name), def.names.core, def.names.mic1]);
            match nearest(name, names.flatten()) {
                Some(near) => format!("no op is called `{name}`; did you mean `{near}`?"),
                None => format!("no op is called `{name}`"),
            }
        })
    }
}

/// What reads a value: an id, or the module.
fn reader(g: &Graph, op: OpId) -> String {
    match g.results(op).into_iter().next() {
        Some(value) => g.label(value).to_string(),
        None => "the list of outputs".to_owned(),
    }
}

fn no_attribute(def: &OpDef, name: &str) -> String {
    let known: Vec<String> = def
        .attrs
        .iter()
        .map(|row| format!("`{}`", row.name))
        .collect();
    let has = if known.is_empty() {
        "none".to_owned()
    } else {
        known.join(", ")
    };
    format!(
        "`{}` has no attribute `{name}`; it has {has}",
        def.short_name()
    )
}
