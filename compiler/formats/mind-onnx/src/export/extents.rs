//! Extents computed by the model at run time.

use mind_convert::Refusal;
use mind_ir::ValueId;
use mind_ir::types::{DType, Dim};

use super::draft::{AttrDraft, Val};
use super::emit::{Emit, One};
use super::operator as op;

impl Emit<'_> {
    /// Returns the extent of a value along an axis, of rank 0.
    pub fn extent(&mut self, value: ValueId, axis: usize) -> One {
        if let Dim::Fixed(extent) = self.dims(value)[axis] {
            return Ok(self.int(extent));
        }
        let own = self.value(value);
        let shape = self.node(op::SHAPE, &[own], Vec::new())?;
        let axis = self.int(axis as i64);
        self.node(op::GATHER, &[shape, axis], Vec::new())
    }

    /// Returns the extent of a dimension as a list of one element.
    ///
    /// # Errors
    ///
    /// If the dimension is unknown or no input has it.
    fn dimension(&mut self, dim: Dim) -> One {
        let symbol = match dim {
            Dim::Fixed(extent) => return Ok(self.ints(&[extent])),
            Dim::Symbol(symbol) => symbol,
            Dim::Dynamic => {
                return Err(Refusal::form(
                    "an extent of its result",
                    "`?`",
                    "a number or a dimension of an input",
                ));
            }
        };
        let Some(&(input, axis)) = self.symbols.get(&symbol) else {
            let name = self.g.name(symbol);
            return Err(Refusal::form(
                "an extent of its result",
                format_args!("`{name}`"),
                "a number or a dimension of an input",
            ));
        };
        let own = self.value(input);
        let shape = self.node(op::SHAPE, &[own], Vec::new())?;
        let axis = self.ints(&[axis as i64]);
        self.node(op::GATHER, &[shape, axis], Vec::new())
    }

    /// Returns a list of extents.
    ///
    /// # Errors
    ///
    /// If an extent is neither fixed nor that of an input.
    pub fn extents(&mut self, dims: &[Dim]) -> One {
        let known: Option<Vec<i64>> = dims.iter().map(|dim| dim.fixed()).collect();
        if let Some(known) = known {
            return Ok(self.ints(&known));
        }
        let parts = dims.iter().map(|&dim| self.dimension(dim));
        let parts: Vec<Val> = parts.collect::<Result<_, _>>()?;
        self.concat(&parts, 0)
    }

    /// Reshapes `x` from the shape `from` to the shape `to`, which has the same number of elements. A symbolic extent
    /// is copied if both shapes have it at the same position, and a single remaining unknown extent is inferred at run
    /// time.
    ///
    /// # Errors
    ///
    /// If several extents are neither fixed nor those of an input.
    pub fn reshape(&mut self, x: Val, from: &[Dim], to: &[Dim]) -> One {
        if from == to && !to.contains(&Dim::Dynamic) {
            return Ok(x);
        }
        self.reshaped(x, from, to)
    }

    /// Reshapes as [`Emit::reshape`] does, where `from` covers only the first dimensions of `x`.
    pub fn reshaped(&mut self, x: Val, from: &[Dim], to: &[Dim]) -> One {
        let has_zero = to.contains(&Dim::Fixed(0));
        let listed = to.iter().enumerate().map(|(at, &dim)| match dim {
            Dim::Fixed(extent) => extent,
            Dim::Symbol(_) if !has_zero && from.get(at) == Some(&dim) => 0,
            Dim::Symbol(_) | Dim::Dynamic => -1,
        });
        let listed: Vec<i64> = listed.collect();
        let open = listed.iter().filter(|&&extent| extent == -1).count();
        if open > usize::from(!has_zero) {
            let shape = self.extents(to)?;
            return self.reshape_as(x, shape);
        }
        let shape = self.ints(&listed);
        if has_zero {
            return self.reshape_as(x, shape);
        }
        self.node(op::RESHAPE, &[x, shape], Vec::new())
    }

    /// Reshapes `x` to a list of extents that may contain 0.
    pub fn reshape_as(&mut self, x: Val, shape: Val) -> One {
        let attrs = vec![("allowzero", AttrDraft::Int(1))];
        self.node(op::EMPTY_RESHAPE, &[x, shape], attrs)
    }

    /// Broadcasts `x` of `dtype` to the shape `to`.
    pub fn expand(&mut self, dtype: DType, x: Val, to: &[Dim]) -> One {
        let shape = self.extents(to)?;
        self.expand_as(dtype, x, shape)
    }

    /// Broadcasts `x` of `dtype` to a list of extents.
    pub fn expand_as(&mut self, dtype: DType, x: Val, shape: Val) -> One {
        let carrier = self.carrier(op::EXPAND, dtype)?;
        let x = self.cast(x, dtype, carrier)?;
        let own = self.node(op::EXPAND, &[x, shape], Vec::new())?;
        self.cast(own, carrier, dtype)
    }
}
