//! Decoder models as modules of the core dialect.
//!
//! [`document`] builds a whole model without a cache, as a document of IR v2 describes it. [`parts`] builds the pieces
//! that a run with a cache of keys and values is made of, and [`rope`] the rows of the rotation that they take.

mod attention;
pub mod document;
mod emit;
mod layer;
pub mod parts;
pub mod rope;

pub use emit::BuildError;

use mind_ir::types::DType;
use mind_weights::WeightType;

/// The dtype that modules declare a weight as: that of its numbers, or `f32` where blocks share scales.
pub fn weight_dtype(stored: WeightType) -> DType {
    match stored {
        WeightType::F16 => DType::F16,
        WeightType::Bf16 => DType::BF16,
        WeightType::F32
        | WeightType::Q4_0
        | WeightType::Q4_1
        | WeightType::Q5_0
        | WeightType::Q5_1
        | WeightType::Q8_0
        | WeightType::Q4K
        | WeightType::Q5K
        | WeightType::Q6K => DType::F32,
    }
}
