//! Constant folding of nodes during import.
//!
//! Models compute shapes: they take the extents of a value, gather, slice and concatenate them, and reshape to the
//! result. If the extents are known, the results are constants. If they are known only at run time, nodes that merely
//! move elements are evaluated on placeholder numbers, which are replaced by the extents afterwards. For example, a
//! slice of a shape is folded to a list of extents.

use std::rc::Rc;

use mind_convert::{converted, evaluated};
use mind_ir::Graph;
use mind_ir::builder::Builder;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, DTypeClass};

use super::emit::{Constants, Emit};
use super::node::integers;
use super::value::{Extent, Extents, Value};
use super::{Importer, Place};
use crate::tensor::Constant;

/// The maximum number of elements of all inputs, and the maximum size of a result in bytes.
const ELEMENT_LIMIT: usize = 1 << 12;
const BYTE_LIMIT: u64 = 1 << 18;

/// The first placeholder. Nodes with integers that could be mistaken for placeholders are not folded.
const FIRST_STAND_IN: i64 = 1 << 30;

/// Returns the results of a node whose inputs are known and small; `None` if it cannot be evaluated.
pub(super) fn folded(
    importer: &mut Importer<'_>,
    at: &Place<'_>,
    inputs: &[Option<Value>],
) -> Option<Vec<Value>> {
    if at.row.stays || at.node.attribute.iter().any(|own| own.g.is_some()) {
        return None;
    }
    let mut stand_ins = StandIns::default();
    let mut known = Vec::with_capacity(inputs.len());
    let mut count = 0;
    for (place, input) in inputs.iter().enumerate() {
        let own = match input {
            None => None,
            Some(Value::Known(constant)) => Some(Rc::clone(constant)),
            Some(Value::Extents(extents)) if place < at.row.moves => {
                Some(Rc::new(stand_ins.of(extents)))
            }
            Some(Value::Extents(_) | Value::Op(_)) => return None,
        };
        count += own.as_ref().map_or(0, |constant| constant.count());
        known.push(own.map(Value::Known));
    }
    if count > ELEMENT_LIMIT || !stand_ins.are_distinct(inputs) {
        return None;
    }
    computed(importer, at, &known, &stand_ins)
}

fn computed(
    importer: &mut Importer<'_>,
    at: &Place<'_>,
    inputs: &[Option<Value>],
    stand_ins: &StandIns,
) -> Option<Vec<Value>> {
    let (mut scratch, mut constants) = (Graph::new(), Constants::default());
    let mut e = Emit {
        b: Builder::at_end(&mut scratch),
        constants: &mut constants,
    };
    let values = importer.imported(at, inputs, &mut e).ok()?;
    let is_known = |value: &Value| matches!(value, Value::Known(_));
    if stand_ins.extents.is_empty() && values.iter().all(is_known) {
        return Some(values);
    }
    let values: Option<Vec<_>> = values.iter().map(|value| e.value(value).ok()).collect();
    let results = evaluated(scratch, &values?, BYTE_LIMIT)?;
    results.iter().map(|own| stand_ins.value(own)).collect()
}

/// The extents that are replaced by placeholders while elements are moved.
#[derive(Default)]
struct StandIns {
    extents: Vec<Extent>,
}

impl StandIns {
    /// Returns a constant with a placeholder for each extent that is not known.
    fn of(&mut self, extents: &Extents) -> Constant {
        let numbers = extents.elements.iter().map(|&extent| match extent {
            Extent::Known(own) => own,
            Extent::Of(..) | Extent::Computed(_) | Extent::Given(_) => {
                let known = self.extents.iter().position(|own| *own == extent);
                let at = known.unwrap_or_else(|| {
                    self.extents.push(extent);
                    self.extents.len() - 1
                });
                FIRST_STAND_IN + at as i64
            }
        });
        let numbers = Tensor::of(extents.shape.clone(), numbers.collect::<Vec<i64>>());
        Constant::of(&converted(&numbers, extents.dtype))
    }

    /// Returns whether no integer of the inputs could be mistaken for a placeholder.
    fn are_distinct(&self, inputs: &[Option<Value>]) -> bool {
        let known = |input: &Option<Value>| match input {
            Some(Value::Known(constant)) if constant.dtype.class() != DTypeClass::Float => {
                integers(constant)
            }
            Some(Value::Known(_) | Value::Op(_) | Value::Extents(_)) | None => Vec::new(),
        };
        let mut numbers = inputs.iter().flat_map(known);
        // Larger integers are allowed, because extents fit `i32`: the end of a slice may be the largest integer.
        let far = i64::from(i32::MAX);
        self.extents.is_empty() || !numbers.any(|own| (FIRST_STAND_IN..far).contains(&own))
    }

    /// Returns a result with its placeholders replaced; `None` if its dtype cannot hold the extents.
    fn value(&self, result: &Tensor) -> Option<Value> {
        let dtype = result.dtype();
        let has_given = self
            .extents
            .iter()
            .any(|own| matches!(own, Extent::Given(_)));
        // Extents fit `i32`, but elements of a tensor that is computed at run time may not.
        let is_integer = dtype == DType::I64 || (dtype == DType::I32 && !has_given);
        if self.extents.is_empty() {
            return Some(Value::Known(Rc::new(Constant::of(result))));
        }
        if !is_integer {
            return None;
        }
        let numbers = converted(result, DType::I64);
        let elements = numbers.elements::<i64>().iter().map(|&number| {
            let at = usize::try_from(number - FIRST_STAND_IN).ok();
            let extent = at.and_then(|at| self.extents.get(at).copied());
            extent.unwrap_or(Extent::Known(number))
        });
        let elements: Vec<Extent> = elements.collect();
        let known: Option<Vec<i64>> = elements.iter().map(|own| own.dim().fixed()).collect();
        let shape = result.shape().to_vec();
        Some(match known {
            Some(known) => {
                let tensor = converted(&Tensor::of(shape, known), dtype);
                Value::Known(Rc::new(Constant::of(&tensor)))
            }
            None => Value::Extents(Rc::new(Extents {
                dtype,
                shape,
                elements,
            })),
        })
    }
}
