//! Nodes that are computed at once, since all that they read is known.
//!
//! Models compute shapes: they take the extents of a value, gather, slice and concatenate them, and reshape to the
//! result. Where extents are known this leaves numbers. Where only a run knows them, an operator that moves its elements
//! is computed on stand-ins for them.

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

/// The most elements that are read, and the most bytes of one result.
const ELEMENT_LIMIT: usize = 1 << 12;
const BYTE_LIMIT: u64 = 1 << 18;

/// The first stand-in for an extent; numbers of models that are near to it are not mixed with stand-ins.
const FIRST_STAND_IN: i64 = 1 << 30;

/// The results of a node, if all that it reads is known and little, and it can be computed.
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

/// The extents that numbers stand for while elements are moved.
#[derive(Default)]
struct StandIns {
    extents: Vec<Extent>,
}

impl StandIns {
    /// Extents as numbers.
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

    /// Whether no number that is known looks like a stand-in.
    fn are_distinct(&self, inputs: &[Option<Value>]) -> bool {
        let known = |input: &Option<Value>| match input {
            Some(Value::Known(constant)) if constant.dtype.class() != DTypeClass::Float => {
                integers(constant)
            }
            Some(Value::Known(_) | Value::Op(_) | Value::Extents(_)) | None => Vec::new(),
        };
        let mut numbers = inputs.iter().flat_map(known);
        // The end of a slice may be the largest integer; as an element it would be no extent.
        let far = i64::from(i32::MAX);
        self.extents.is_empty() || !numbers.any(|own| (FIRST_STAND_IN..far).contains(&own))
    }

    /// A result as a value; `None` for stand-ins that are no integers any more.
    fn value(&self, result: &Tensor) -> Option<Value> {
        let dtype = result.dtype();
        let has_given = self
            .extents
            .iter()
            .any(|own| matches!(own, Extent::Given(_)));
        // An extent fits `i32`; a number that a run gives may not.
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
