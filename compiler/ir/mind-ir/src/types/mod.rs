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

/// The maximum rank of a tensor.
pub const MAX_RANK: usize = 32;

/// Returns a shape as text: `[3, B, ?]`.
pub fn shape_text(shape: &[Dim], symbols: &crate::symbol::Symbols) -> String {
    let dims: Vec<String> = shape
        .iter()
        .map(|dim| dim.display(symbols).to_string())
        .collect();
    format!("[{}]", dims.join(", "))
}
