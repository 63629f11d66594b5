//! Compares the types that a graph declares with the inferred ones.

use mind_ir::graph::Graph;
use mind_ir::types::{DType, Dim};

use super::Importer;
use super::inputs::type_text;
use super::scope::Scope;
use super::value::Value;
use crate::proto::{DimensionProto, GraphProto, TensorTypeProto, ValueInfoProto, dimension};
use crate::tensor::dtype;

impl Importer<'_> {
    /// Warns about values whose declared type contradicts the inferred one. Like runtimes, the import uses the inferred
    /// type, because declarations are often stale after a model was changed.
    pub(super) fn check_declared(&mut self, graph: &GraphProto, scope: &Scope<'_>, g: &Graph) {
        let outputs = graph.output.iter().map(|own| ("output", own));
        let inner = graph.value_info.iter().map(|own| ("value", own));
        for (role, info) in outputs.chain(inner) {
            let Some(value) = scope.value(&info.name) else {
                continue;
            };
            let Some(declared) = declared(info) else {
                continue;
            };
            if contradicts(declared, value, g) {
                let what = format!("{role} `{}`", info.name);
                let (declared, inferred) = (type_text(declared), value.type_text(g));
                self.report
                    .contradiction(mind_diag::Span::FILE, &what, &declared, &inferred);
            }
        }
    }
}

fn declared(info: &ValueInfoProto) -> Option<&TensorTypeProto> {
    info.r#type.as_ref()?.tensor_type.as_ref()
}

/// Returns whether the two types are incompatible.
fn contradicts(declared: &TensorTypeProto, value: &Value, g: &Graph) -> bool {
    let (found, dims): (DType, Vec<Option<i64>>) = match value {
        Value::Op(value) => {
            let ty = g.ty(*value);
            (ty.dtype, ty.shape.iter().map(|dim| dim.fixed()).collect())
        }
        Value::Known(known) => {
            let extents = known.shape.iter().map(|&own| Some(own as i64));
            (known.dtype, extents.collect())
        }
        Value::Extents(own) => {
            let extents = own.shape.iter().map(|&own| Some(own as i64));
            (own.dtype, extents.collect())
        }
    };
    let of = i64::from(declared.elem_type);
    if declared.elem_type != 0 && dtype(of).is_ok_and(|own| own != found) {
        return true;
    }
    let Some(shape) = &declared.shape else {
        return false;
    };
    let differs = |(own, found): (&DimensionProto, &Option<i64>)| {
        let own = match &own.value {
            Some(dimension::Value::DimValue(extent @ 0..)) => Dim::Fixed(*extent),
            Some(dimension::Value::DimValue(_) | dimension::Value::DimParam(_)) | None => {
                Dim::Dynamic
            }
        };
        matches!((own, found), (Dim::Fixed(own), Some(found)) if own != *found)
    };
    shape.dim.len() != dims.len() || shape.dim.iter().zip(&dims).any(differs)
}
