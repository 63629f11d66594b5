//! Binds arrays to the inputs of a module.

use mind_ir::eval::DimEnv;
use mind_ir::opdef::nearest;
use mind_ir::tensor::Tensor;
use mind_ir::types::Dim;
use mind_ir::{Graph, OpId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{BindError, Origin, Unbound};
use crate::extents::Extents;
use crate::inputs::{ArrayType, ArrayTypes, Arrays, InputSpec, inputs};

/// Arrays that fit a module's inputs, and the extents of its symbolic dimensions that follow from them.
#[derive(Clone, Debug)]
pub struct Bound<'t> {
    tensors: FxHashMap<OpId, &'t Tensor>,
    dims: DimEnv,
}

impl<'t> Bound<'t> {
    /// Returns the extents of the module's symbolic dimensions.
    pub fn dims(&self) -> &DimEnv {
        &self.dims
    }

    /// Returns the array for the input that `op` declares; `None` for any other op.
    pub fn tensor(&self, op: OpId) -> Option<&'t Tensor> {
        self.tensors.get(&op).copied()
    }
}

/// Binds the inputs of a verified module to the arrays with their names.
///
/// # Errors
///
/// If an input has no array, and the errors of [`check`].
pub fn bind<'t>(
    g: &Graph,
    arrays: &'t Arrays,
    mut extents: Extents,
) -> Result<Bound<'t>, Vec<Unbound>> {
    let mut errors = check(g, arrays, &mut extents);
    let mut tensors = FxHashMap::default();
    for input in inputs(g) {
        match arrays.get(input.name) {
            Some(array) => {
                tensors.insert(input.op, array);
            }
            None => {
                let (name, ty) = (input.name.to_owned(), input.ty.text(g.symbols()));
                errors.push(Unbound::at(input.op, BindError::Missing { name, ty }));
            }
        }
    }
    if errors.is_empty() {
        Ok(Bound {
            tensors,
            dims: extents.env(),
        })
    } else {
        Err(errors)
    }
}

/// The maximum number of unknown arrays for which a similar input name is searched.
const SUGGESTIONS: usize = 20;

/// Checks the given arrays, and binds the extents of symbolic dimensions that follow from them.
///
/// Returns the errors in the order of the inputs: a dtype, rank or fixed extent that differs from the declared type, or
/// a symbolic dimension with two extents. They are followed by the arrays that do not belong to an input.
pub fn check(g: &Graph, arrays: &Arrays, extents: &mut Extents) -> Vec<Unbound> {
    let types = arrays.iter();
    let types = types.map(|(name, array)| (name.clone(), ArrayType::of(array)));
    check_types(g, &types.collect(), extents)
}

/// [`check`] by the types of the arrays alone.
pub fn check_types(g: &Graph, arrays: &ArrayTypes, extents: &mut Extents) -> Vec<Unbound> {
    let declared = inputs(g);
    let mut errors = Vec::new();
    for input in &declared {
        let Some(array) = arrays.get(input.name) else {
            continue;
        };
        if let Err(error) = check_array(g, input, array, extents) {
            errors.push(Unbound::at(input.op, error));
        }
    }
    let names: FxHashSet<&str> = declared.iter().map(|input| input.name).collect();
    let extra = arrays.keys().filter(|name| !names.contains(name.as_str()));
    for (index, name) in extra.enumerate() {
        let open = names.iter().filter(|_| index < SUGGESTIONS).copied();
        let open = open.filter(|&open| !arrays.contains_key(open));
        let nearest = nearest(name, open).map(str::to_owned);
        errors.push(
            BindError::Extra {
                name: name.clone(),
                nearest,
            }
            .into(),
        );
    }
    errors
}

fn check_array(
    g: &Graph,
    input: &InputSpec<'_>,
    array: &ArrayType,
    extents: &mut Extents,
) -> Result<(), BindError> {
    let name = || input.name.to_owned();
    let ty = || input.ty.text(g.symbols());
    if array.dtype != input.ty.dtype {
        let (expected, found) = (input.ty.dtype, array.dtype);
        return Err(BindError::DType {
            name: name(),
            expected,
            found,
        });
    }
    if array.shape.len() != input.ty.rank() {
        let (rank, found) = (input.ty.rank(), array.shape.clone());
        return Err(BindError::Rank {
            name: name(),
            rank,
            ty: ty(),
            found,
        });
    }
    for (dimension, (&dim, &found)) in input.ty.shape.iter().zip(&array.shape).enumerate() {
        match dim {
            Dim::Fixed(expected) if i64::try_from(found) == Ok(expected) => {}
            Dim::Fixed(expected) => {
                return Err(BindError::Extent {
                    name: name(),
                    dimension,
                    expected,
                    found,
                    ty: ty(),
                });
            }
            Dim::Symbol(sym) => {
                extents.bind(
                    g,
                    sym,
                    found,
                    Origin::Array {
                        name: name(),
                        dimension,
                    },
                )?;
            }
            Dim::Dynamic => {}
        }
    }
    Ok(())
}
