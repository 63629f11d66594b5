//! Imports the inputs of a model, some of which are bound to constants.

use std::rc::Rc;

use mind_convert::{DimSymbols, Refusal, bound_constant, unknown_names};
use mind_core::ops::input::Input;
use mind_ir::builder::Builder;
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;
use mind_ir::types::{Dim, TensorType};
use mind_ir::{Graph, ValueId};

use super::Importer;
use super::scope::Scope;
use super::value::Value;
use crate::proto::{DimensionProto, GraphProto, TensorTypeProto, ValueInfoProto, dimension};
use crate::tensor::{Constant, dtype};

impl Importer<'_> {
    /// Defines the inputs of the model, except those with an initialiser.
    pub(super) fn inputs<'n>(
        &mut self,
        graph: &'n GraphProto,
        scope: &mut Scope<'n>,
        module: &mut Graph,
    ) {
        self.symbols = DimSymbols::of(names(graph));
        for input in &graph.input {
            if scope.value(&input.name).is_some() {
                // Files of IR version 3 list initialisers among the inputs.
                continue;
            }
            let value = match self.options.bound.get(&input.name) {
                Some(array) => bound_to(input, array).map(|known| Value::Known(Rc::new(known))),
                None => self.input(input, module).map(Value::Op),
            };
            match value {
                Ok(value) => scope.define(&input.name, value),
                Err(refusal) => {
                    let name = &input.name;
                    self.refuse(refusal.within(format_args!("input `{name}`")));
                    scope.refuse(name);
                }
            }
        }
        self.check_dims();
        self.check_bound(graph);
    }

    /// Reports given extents of dimensions that no input has.
    fn check_dims(&mut self) {
        let open = match &self.open[..] {
            [] => "its inputs have no open dimension".to_owned(),
            open => format!("its open dimensions are `{}`", open.join("`, `")),
        };
        let given = self.options.dims.keys().map(|name| &name[..]);
        let is_used = |name: &str| self.used.contains(name);
        for refusal in unknown_names(given, is_used, "the model has no dimension", &open) {
            self.refuse(refusal);
        }
    }

    /// Reports given constants for inputs that the model does not have.
    fn check_bound(&mut self, graph: &GraphProto) {
        let inputs: Vec<&str> = graph.input.iter().map(|input| &input.name[..]).collect();
        let given = self.options.bound.keys().map(|name| &name[..]);
        let known = format!("its inputs are `{}`", inputs.join("`, `"));
        let is_input = |name: &str| inputs.contains(&name);
        for refusal in unknown_names(given, is_input, "the model has no input", &known) {
            self.refuse(refusal);
        }
    }

    /// Returns the extent of a symbolic dimension in the array bound to the first input that has it.
    fn array_extent(
        &mut self,
        info: &ValueInfoProto,
        axis: usize,
        rank: usize,
        symbol: &str,
    ) -> Option<i64> {
        if let Some(&extent) = self.closed.get(symbol) {
            return Some(extent);
        }
        let shape = self.options.shapes.get(&info.name);
        let extent = shape.filter(|shape| shape.len() == rank)?[axis] as i64;
        if extent == 0 {
            // Declared extents are positive, but an array at run time may be empty.
            return None;
        }
        self.closed.insert(symbol.to_owned(), extent);
        Some(extent)
    }

    /// Appends an input.
    fn input(&mut self, info: &ValueInfoProto, module: &mut Graph) -> Result<ValueId, Refusal> {
        let ty = tensor_type(info)?;
        let dtype = dtype(i64::from(ty.elem_type))?;
        let shape = ty.shape.as_ref();
        let shape = shape.ok_or_else(|| {
            Refusal::missing("shape").help("export the model with the rank of each input")
        })?;
        let mut dims = Vec::with_capacity(shape.dim.len());
        for (axis, dim) in shape.dim.iter().enumerate() {
            let own = format!("{}_{axis}", info.name);
            let (name, symbol) = match &dim.value {
                Some(dimension::Value::DimValue(extent @ 0..)) => {
                    dims.push(Dim::Fixed(*extent));
                    continue;
                }
                Some(dimension::Value::DimParam(name)) if is_name(name) => {
                    (name, self.symbols.symbol(name))
                }
                // An unnamed dimension gets a name, so that its extent can be given.
                Some(dimension::Value::DimValue(_) | dimension::Value::DimParam(_)) | None => {
                    (&own, self.symbols.unnamed(&own))
                }
            };
            let given = self.options.dims.get_key_value(name);
            let given = given.or_else(|| self.options.dims.get_key_value(&symbol));
            dims.push(match given {
                Some((name, &extent)) => {
                    self.used.insert(name);
                    Dim::Fixed(extent)
                }
                None => match self.array_extent(info, axis, shape.dim.len(), &symbol) {
                    Some(extent) => Dim::Fixed(extent),
                    None => Dim::Symbol(module.intern(&symbol)),
                },
            });
            self.open.push(symbol);
        }
        let ty = module.intern_type(TensorType::new(dtype, dims).view());
        let name = module.intern(&info.name);
        let attrs = Input::attrs(name, false, None);
        let mut b = Builder::at_end(module);
        let op = b.create_typed(Input::DEF, &[], &attrs, &[ty]);
        Ok(module.result(op))
    }
}

/// Returns the declared tensor type of an input.
fn tensor_type(info: &ValueInfoProto) -> Result<&TensorTypeProto, Refusal> {
    let Some(ty) = info.r#type.as_ref() else {
        return Err(Refusal::missing("type"));
    };
    ty.tensor_type.as_ref().ok_or_else(|| {
        let kinds = [
            (ty.sequence_type.is_some(), "a sequence"),
            (ty.map_type.is_some(), "a map"),
            (ty.sparse_tensor_type.is_some(), "a sparse tensor"),
            (ty.optional_type.is_some(), "an optional value"),
        ];
        let found = kinds.iter().find(|(is_found, _)| *is_found);
        let found = found.map_or("of no known kind", |(_, kind)| kind);
        Refusal::value("type", found, "a tensor").help("export the model with tensors as inputs")
    })
}

/// Returns a declared type for messages, for example "f32[2, n]".
pub(super) fn type_text(ty: &TensorTypeProto) -> String {
    let dtype = dtype(i64::from(ty.elem_type));
    let dtype = dtype.map_or_else(|_| ty.elem_type.to_string(), |own| own.to_string());
    let Some(shape) = &ty.shape else {
        return format!("{dtype} of any shape");
    };
    let dims = shape.dim.iter().map(|dim| match &dim.value {
        Some(dimension::Value::DimValue(extent @ 0..)) => extent.to_string(),
        Some(dimension::Value::DimParam(name)) if is_name(name) => name.clone(),
        Some(dimension::Value::DimValue(_) | dimension::Value::DimParam(_)) | None => {
            "?".to_owned()
        }
    });
    format!("{dtype}[{}]", dims.collect::<Vec<_>>().join(", "))
}

/// Returns an array as the constant of an input, after checking its dtype and shape. The bits of `bf16` may be given as
/// `u16`.
fn bound_to(info: &ValueInfoProto, array: &Tensor) -> Result<Constant, Refusal> {
    let ty = tensor_type(info)?;
    let extent = |dim: &DimensionProto| match &dim.value {
        Some(dimension::Value::DimValue(extent @ 0..)) => Some(*extent),
        Some(dimension::Value::DimValue(_) | dimension::Value::DimParam(_)) | None => None,
    };
    let extents = ty.shape.as_ref();
    let extents = extents.map(|shape| shape.dim.iter().map(extent).collect::<Vec<_>>());
    let dtype = dtype(i64::from(ty.elem_type))?;
    let own = bound_constant(array, dtype, extents.as_deref(), type_text(ty))?;
    Ok(Constant::of(&own))
}

/// Returns the names of the dimensions of all inputs.
fn names(graph: &GraphProto) -> impl Iterator<Item = &str> + Clone {
    let types = graph.input.iter().filter_map(|own| own.r#type.as_ref());
    let shapes = types.filter_map(|own| own.tensor_type.as_ref()?.shape.as_ref());
    let dims = shapes.flat_map(|shape| &shape.dim);
    dims.filter_map(|dim| match &dim.value {
        Some(dimension::Value::DimParam(name)) if is_name(name) => Some(&name[..]),
        Some(dimension::Value::DimParam(_) | dimension::Value::DimValue(_)) | None => None,
    })
}

/// Returns whether the name of a dimension is one that the model chose.
fn is_name(name: &str) -> bool {
    name.chars().any(char::is_alphanumeric)
}
