//! Models as modules of the core dialect.
//!
//! [`document`] builds a whole model without a cache from a document of IR v2. [`parts`] builds the modules of a run
//! with a KV cache, and [`routed`] those of layers with experts. [`distance`] has the biases of scores by distance, and
//! [`rope`] the cosines and sines of rotary embeddings.

pub mod distance;
pub mod document;
pub(crate) mod emit;
pub mod parts;
pub(crate) mod plan;
pub mod rope;
pub mod routed;

pub use emit::BuildError;

use mind_ir::types::{DType, QuantFormat};
use mind_weights::WeightType;

/// Returns the dtype with which modules declare a weight: its own for plain numbers, `f32` for block-quantised types.
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
        | WeightType::Q2K
        | WeightType::Q3K
        | WeightType::Q4K
        | WeightType::Q5K
        | WeightType::Q6K
        | WeightType::Iq4Nl
        | WeightType::Mxfp4
        | WeightType::Tq1_0
        | WeightType::Tq2_0 => DType::F32,
    }
}

/// Returns the format of a block-quantised weight; `None` for plain numbers.
pub fn quant_format(stored: WeightType) -> Option<QuantFormat> {
    QuantFormat::parse(stored.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_and_files_agree_on_formats_and_the_size_of_blocks() {
        let formats = WeightType::all().filter_map(quant_format);
        assert!(formats.eq(QuantFormat::ALL.iter().copied()));
        for stored in WeightType::all() {
            let Some(format) = quant_format(stored) else {
                assert!(!stored.name().starts_with('q'), "{stored}");
                continue;
            };
            for terms in [32, 256, 896, 1024] {
                assert_eq!(format.row_bytes(terms), stored.row_bytes(terms), "{stored}");
            }
        }
    }
}
