//! Constant folding of operations during import.
//!
//! Texts with open dimensions compute shapes: they take extents, do arithmetic, and concatenate them. If the extents
//! are known, the results are constants.

use std::rc::Rc;

use mind_convert::evaluated;
use mind_ir::Graph;
use mind_ir::builder::Builder;
use mind_ir::tensor::Tensor;
use mind_ir::types::DTypeClass;

use super::emit::{Cache, Emit};
use super::scope::Scope;
use super::value::Value;
use super::{Importer, Place};
use crate::constant::Constant;
use crate::ops::Row;
use crate::text::{Op, Type};

/// The maximum number of elements of an operand.
const ELEMENT_LIMIT: usize = 256;

/// The maximum size of a result in bytes.
const BYTE_LIMIT: u64 = 1 << 12;

/// Returns the results of an operation whose operands are known scalars or short lists of integers or booleans; `None`
/// if it cannot be folded.
pub(super) fn folded<'t>(
    importer: &mut Importer<'t>,
    row: &Row,
    op: &'t Op<'t>,
    inputs: &[Value],
    scope: &Scope<'t>,
) -> Option<Vec<Value>> {
    if !row.folds || inputs.is_empty() {
        return None;
    }
    let is_known = |value: &Value| match value {
        Value::Known(constant) => is_small(constant),
        Value::Op(_) | Value::Extents(_) | Value::Compared(_) => false,
    };
    let is_list = |ty: &Type<'_>| matches!(ty, Type::Tensor(ty) if ty.shape.len() <= 1);
    if !inputs.iter().all(is_known) || !op.types.iter().all(is_list) {
        return None;
    }
    let (mut scratch, mut cache) = (Graph::new(), Cache::default());
    let place = Place {
        block: Some(scratch.body()),
        is_pointwise: false,
    };
    let mut e = Emit {
        b: Builder::at_end(&mut scratch),
        cache: &mut cache,
    };
    let values = importer.imported(row, op, inputs, scope, place, &mut e);
    let values = values.ok()?;
    let values: Option<Vec<_>> = values.iter().map(|value| e.value(value).ok()).collect();
    let results = evaluated(scratch, &values?, BYTE_LIMIT)?;
    let is_number = |own: &Tensor| own.dtype().class() != DTypeClass::Float;
    let known = |own: &Tensor| Value::Known(Rc::new(Constant::of(own)));
    let are_numbers = results.iter().all(is_number);
    are_numbers.then(|| results.iter().map(known).collect())
}

/// Returns whether a constant is a scalar or a short list of integers or booleans.
fn is_small(constant: &Constant) -> bool {
    constant.shape.len() <= 1
        && constant.dtype().class() != DTypeClass::Float
        && constant.count().is_some_and(|count| count <= ELEMENT_LIMIT)
}
