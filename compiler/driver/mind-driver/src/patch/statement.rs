//! Creates the new ops of an edit.

use mind_diag::Span;
use mind_ir::attr::Attr;
use mind_ir::builtin::Yield;
use mind_ir::graph::{InsertPoint, NewOp};
use mind_ir::opdef::{Op, OpDef, Results, Trait, nearest};
use mind_ir::{OpId, ValueId};

use super::apply::Patch;
use super::edit::{NewBody, NewStatement};
use super::values::{no_attribute, parse_type, placeholder, set_attribute};

/// Limit on the nesting depth of bodies.
const MAX_NESTING: usize = 32;

impl Patch<'_> {
    /// Creates an op. A type that has to be declared and is omitted is taken from `like`.
    pub(super) fn statement(
        &mut self,
        new: &NewStatement,
        at: InsertPoint,
        like: Option<ValueId>,
    ) -> Result<OpId, String> {
        self.nested_statement(new, at, like, 0)
    }

    fn nested_statement(
        &mut self,
        new: &NewStatement,
        at: InsertPoint,
        like: Option<ValueId>,
        depth: usize,
    ) -> Result<OpId, String> {
        let def = self.def(&new.op)?;
        let results = result_count(def, new)?;
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
                results,
                span,
            },
        );
        if let Some(value) = self.g.results(op).into_iter().next() {
            let inherited = like.and_then(|like| self.g.declared(like).or(self.g.type_id(like)));
            match (&new.ty, inherited) {
                (Some(ty), _) => self.declare(value, ty)?,
                (None, Some(ty)) if def.has(Trait::DeclaresType) => self.g.declare(value, ty),
                (None, _) => {}
            }
        }
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
        if let Some(body) = &new.body {
            self.body(op, body, depth + 1)?;
        }
        Ok(op)
    }

    /// Fills the body of `op`.
    fn body(&mut self, op: OpId, body: &NewBody, depth: usize) -> Result<(), String> {
        if depth > MAX_NESTING {
            return Err(format!("bodies nest more than {MAX_NESTING} deep"));
        }
        let block = self.g.block(self.g.regions(op)[0]);
        let arguments = self.g.add_arguments(block, body.arguments.len());
        for (value, &id) in arguments.into_iter().zip(&body.arguments) {
            self.name_value(value, Some(id))?;
        }
        for statement in &body.statements {
            let end = InsertPoint::End(block);
            let op = self.nested_statement(statement, end, None, depth)?;
            self.name(op, statement.id)?;
        }
        let outputs = body.outputs.iter().map(|&id| self.value(id));
        let outputs = outputs.collect::<Result<Vec<ValueId>, String>>()?;
        let end = NewOp {
            def: Yield::DEF,
            operands: &outputs,
            attrs: &[],
            results: 0,
            span: Span::FILE,
        };
        self.g.insert(InsertPoint::End(block), end);
        Ok(())
    }

    pub(super) fn declare(&mut self, value: ValueId, text: &str) -> Result<(), String> {
        let ty = parse_type(&mut self.g, text)?;
        let ty = self.g.intern_type(ty.view());
        self.g.declare(value, ty);
        Ok(())
    }

    /// Returns the op whose name in any format is `name`.
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

/// Returns the number of results of a new op.
///
/// # Errors
///
/// Errors if it has no results, if a body is missing, or if it cannot have a body.
fn result_count(def: &OpDef, new: &NewStatement) -> Result<usize, String> {
    let name = &new.op;
    match (def.regions, &new.body) {
        (0, Some(_)) => return Err(format!("`{name}` has no body")),
        (1, None) => {
            let form = r#"{"args": [ids], "ops": [ops], "yield": [ids]}"#;
            return Err(format!("`{name}` has a body: give it as `body`, {form}"));
        }
        (0 | 1, _) => {}
        (several, _) => {
            return Err(format!(
                "`{name}` has {several} bodies; write it in the module's text"
            ));
        }
    }
    match (def.results, &new.body) {
        (Results::One, _) => Ok(1),
        (Results::Named(names), _) => Ok(names.len()),
        (Results::Many, Some(body)) if !body.outputs.is_empty() => Ok(body.outputs.len()),
        _ => Err(format!("`{name}` has no result")),
    }
}
