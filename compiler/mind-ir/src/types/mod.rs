//! Element types, dimensions, shapes and tensor types.

mod broadcast;
mod dim;
mod dtype;
mod quant_format;
mod table;

pub use broadcast::{BroadcastClash, broadcast};
pub use dim::{Dim, DimText, Shape};
pub use dtype::{DType, DTypeClass, FloatFormat, NarrowFloat};
pub use quant_format::{QuantFormat, Stored};
pub use table::{TensorType, TypeTable, TypeView};

/// The largest rank a tensor may have.
pub const MAX_RANK: usize = 32;

/// Writes a shape as `[3, B, ?]`.
pub fn shape_text(shape: &[Dim], symbols: &crate::symbol::Symbols) -> String {
    let dims: Vec<String> = shape
        .iter()
        .map(|dim| dim.display(symbols).to_string())
        .collect();
    format!("[{}]", dims.join(", "))
}
