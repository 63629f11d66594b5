//! Verification of a whole module.

use mind_diag::{Diagnostics, Span};

use super::profile::check_core_v1;
use super::{Profile, VerifyError, infer_op};
use crate::entity::{BlockId, OpId, Ty, ValueId};
use crate::graph::Graph;
use crate::opdef::Trait;
use crate::types::{Dim, TypeView, shape_text};

/// What is checked besides the op tables' own rules.
#[derive(Clone, Copy, Default, Debug)]
pub struct VerifyConfig {
    /// Which ops, dtypes and dimensions are allowed.
    pub profile: Profile,
}

/// Gives every value its type and reports every rule broken, in text order.
///
/// Total and deterministic. On one op the first failing class counts: arity, definition, dtype, the
/// op's own shape rule, declared type, profile. After an error the declared type is assumed; a value
/// that then has none is left untyped, and the ops that read it are not checked, so that one mistake
/// gives one error.
pub fn verify(g: &mut Graph, config: &VerifyConfig) -> Diagnostics {
    let mut verifier = Verifier { config, defined: vec![false; g.value_bound()], found: Diagnostics::new() };
    let body = g.body();
    verifier.block(g, body);
    if g.outputs().is_empty() {
        let span = g.terminator(body).map_or(Span::FILE, |end| g.span(end));
        verifier.found.push(VerifyError::NoOutput.at(span));
    }
    verifier.found
}

struct Verifier<'c> {
    config: &'c VerifyConfig,
    defined: Vec<bool>,
    found: Diagnostics,
}

impl Verifier<'_> {
    fn block(&mut self, g: &mut Graph, block: BlockId) {
        for argument in g.arguments(block) {
            self.defined[argument.index()] = true;
        }
        let mut next = g.ops(block).next();
        while let Some(op) = next {
            if let Err(error) = self.op(g, op) {
                self.found.push(error.at(g.span(op)));
                assume_declared(g, op);
            }
            for result in g.results(op) {
                self.defined[result.index()] = true;
            }
            next = g.next(op);
            if next.is_some() && g.def(op).has(Trait::Terminator) {
                let problem = "nothing may follow the end of a block".to_owned();
                self.found.push(VerifyError::Structure { problem }.at(g.span(op)));
            }
        }
        if block != g.body() && g.terminator(block).is_none() {
            let owner = g.block_owner(block).expect("an inner block has an owner");
            let problem = "a body ends with `yield`".to_owned();
            self.found.push(VerifyError::Structure { problem }.at(g.span(owner)));
        }
    }

    fn op(&mut self, g: &mut Graph, op: OpId) -> Result<(), Box<VerifyError>> {
        for &operand in g.operands(op) {
            if !self.defined[operand.index()] {
                let operand = format!("%{}", g.label(operand));
                return Err(Box::new(VerifyError::UseBeforeDef { operand }));
            }
        }
        let untyped = |&value: &ValueId| g.type_id(value).is_none();
        if g.operands(op).iter().any(untyped) {
            assume_declared(g, op);
            return Ok(());
        }
        for index in 0..g.regions(op).len() {
            let block = g.block(g.regions(op)[index]);
            if g.def(op).has(Trait::BodyOverOperands) {
                type_arguments(g, op, block)?;
            }
            let errors_before = self.found.has_errors();
            self.block(g, block);
            if !errors_before && self.found.has_errors() {
                assume_declared(g, op);
                return Ok(());
            }
        }
        let types = infer_op(g, op)?;
        for (value, inferred) in g.results(op).into_iter().zip(types) {
            self.result(g, value, inferred)?;
        }
        if g.def(op).has(Trait::DeclaresType) {
            check_extents(g, op)?;
        }
        if self.config.profile == Profile::CoreV1 {
            check_core_v1(g, op)?;
        }
        Ok(())
    }

    /// Settles a result's type from what is inferred and what is declared.
    fn result(&self, g: &mut Graph, value: ValueId, inferred: Ty) -> Result<(), Box<VerifyError>> {
        let ty = match g.declared(value) {
            Some(declared) if declared != inferred => {
                let (written, found) = (g.types().get(declared), g.types().get(inferred));
                match found.meet(written) {
                    Some(ty) => g.intern_type(ty.view()),
                    None => return Err(Box::new(declared_type(g, written, found))),
                }
            }
            _ => inferred,
        };
        g.set_type(value, ty);
        Ok(())
    }
}

fn declared_type(g: &Graph, declared: TypeView<'_>, inferred: TypeView<'_>) -> VerifyError {
    let symbols = g.symbols();
    VerifyError::DeclaredType { declared: declared.text(symbols), inferred: inferred.text(symbols) }
}

fn assume_declared(g: &mut Graph, op: OpId) {
    for value in g.results(op) {
        if let Some(declared) = g.declared(value) {
            g.set_type(value, declared);
        }
    }
}

fn type_arguments(g: &mut Graph, op: OpId, block: BlockId) -> Result<(), Box<VerifyError>> {
    let (arguments, operands) = (g.arguments(block), g.operands(op).len());
    if arguments.len() != operands {
        let name = g.def(op).short_name();
        let found = arguments.len();
        let problem = format!("the body of `{name}` has {found} arguments for {operands} operands");
        return Err(Box::new(VerifyError::Structure { problem }));
    }
    for (index, argument) in arguments.into_iter().enumerate() {
        let operand = g.operands(op)[index];
        let ty = g.type_id(operand).expect("operands were seen to have types");
        g.set_type(argument, ty);
    }
    Ok(())
}

/// Declared extents are positive.
fn check_extents(g: &Graph, op: OpId) -> Result<(), Box<VerifyError>> {
    for value in g.results(op) {
        let shape = g.ty(value).shape;
        for (dimension, dim) in shape.iter().enumerate() {
            if let Dim::Fixed(value @ ..=0) = *dim {
                let shape = shape_text(shape, g.symbols());
                return Err(Box::new(VerifyError::NotPositive { shape, dimension, value }));
            }
        }
    }
    Ok(())
}
