//! Type inference of one op.

use smallvec::SmallVec;

use super::VerifyError;
use crate::entity::{OpId, Ty, ValueId};
use crate::graph::Graph;
use crate::opdef::{Inferred, OpDef, OperandClass, Trait};
use crate::types::{DType, TensorType};

/// The result of a shape rule.
pub type InferResult = Result<Inferred, Box<VerifyError>>;

/// The result of the shape rule of an op with several results.
pub type InferManyResult = Result<SmallVec<[Inferred; 1]>, Box<VerifyError>>;

/// The result of a rule for the arguments of a region.
pub type ArgumentsResult = Result<SmallVec<[TensorType; 4]>, Box<VerifyError>>;

/// Checks the operand count and dtypes of an op, and infers its result types.
///
/// # Errors
///
/// The first that fails of: arity, dtypes, the shape rule, the number of results, missing declared types.
pub fn infer_op(g: &mut Graph, op: OpId) -> Result<SmallVec<[Ty; 1]>, Box<VerifyError>> {
    let def = g.def(op);
    check_arity(g, op, def)?;
    check_dtypes(g, op, def)?;
    let inferred = match def.infer {
        Some(infer) => infer(op, g)?,
        None => SmallVec::new(),
    };
    if inferred.len() != g.results(op).len() {
        let problem = format!(
            "`{}` defines {} values, but computes {}",
            def.short_name(),
            g.results(op).len(),
            inferred.len()
        );
        return Err(Box::new(VerifyError::Structure { problem }));
    }
    let mut types = SmallVec::new();
    for (value, inferred) in g.results(op).into_iter().zip(inferred) {
        types.push(resolve(g, value, inferred)?);
    }
    Ok(types)
}

fn resolve(g: &mut Graph, value: ValueId, inferred: Inferred) -> Result<Ty, Box<VerifyError>> {
    match inferred {
        Inferred::Known(ty) => Ok(ty),
        Inferred::New(ty) => Ok(g.intern_type(ty.view())),
        Inferred::Declared => match g.declared(value).or(g.type_id(value)) {
            Some(ty) => Ok(ty),
            None => {
                let value = format!("%{}", g.label(value));
                Err(Box::new(VerifyError::MissingType { value }))
            }
        },
    }
}

fn check_arity(g: &Graph, op: OpId, def: &'static OpDef) -> Result<(), Box<VerifyError>> {
    let found = g.operands(op).len();
    if def.admits_operands(found) || def.has(Trait::Terminator) {
        return Ok(());
    }
    let op = def.short_name();
    Err(Box::new(VerifyError::Arity {
        op,
        expected: def.arity_text(),
        found,
    }))
}

fn check_dtypes(g: &Graph, op: OpId, def: &'static OpDef) -> Result<(), Box<VerifyError>> {
    let dtype = |value: ValueId| g.ty(value).dtype;
    let operands = g.operands(op);
    if def.has(Trait::SameDType) {
        let same = operands.iter().enumerate().filter(|&(index, _)| {
            let operand = def.operand(index);
            operand.is_none_or(|operand| operand.class != OperandClass::Bool)
        });
        let mut same = same.map(|(_, &value)| value);
        let first = same.next().map_or(DType::Bool, dtype);
        if let Some(other) = same.find(|&value| dtype(value) != first) {
            let (op, rhs) = (def.short_name(), dtype(other));
            return Err(Box::new(VerifyError::DTypeClash {
                op,
                lhs: first,
                rhs,
            }));
        }
    }
    for (index, &value) in operands.iter().enumerate() {
        let Some(operand) = def.operand(index) else {
            continue;
        };
        let found = dtype(value);
        if !operand.class.admits(found) {
            let (op, supported) = (def.short_name(), operand.class.text());
            let operand = operand.name;
            return Err(Box::new(VerifyError::DType {
                op,
                operand,
                found,
                supported,
            }));
        }
    }
    Ok(())
}
