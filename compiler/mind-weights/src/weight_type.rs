//! The number formats of weights.

use std::fmt;

/// The number format of a weight.
///
/// Blocks of quantised formats run along rows and never cross them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WeightType {
    /// IEEE single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// bfloat16, the upper half of a single-precision number.
    Bf16,
    /// 4 bits and a scale for 32 elements.
    Q4_0,
    /// 4 bits, a scale and a minimum for 32 elements.
    Q4_1,
    /// 5 bits and a scale for 32 elements.
    Q5_0,
    /// 5 bits, a scale and a minimum for 32 elements.
    Q5_1,
    /// 8 bits and a scale for 32 elements.
    Q8_0,
    /// 2 bits, scales and minima of 16 sub-blocks for 256 elements.
    Q2K,
    /// 3 bits and scales of 16 sub-blocks for 256 elements.
    Q3K,
    /// 4 bits, scales and minima of 8 sub-blocks for 256 elements.
    Q4K,
    /// 5 bits, scales and minima of 8 sub-blocks for 256 elements.
    Q5K,
    /// 6 bits and scales of 16 sub-blocks for 256 elements.
    Q6K,
    /// 4-bit indices into 16 levels, and a scale for 32 elements.
    Iq4Nl,
    /// 4-bit floats of a sign, two bits of exponent and one of mantissa, and a power-of-two scale for 32 elements.
    Mxfp4,
    /// -1, 0 or 1, packed five to a byte, and a scale for 256 elements.
    Tq1_0,
    /// 2 bits and a scale for 256 elements.
    Tq2_0,
}

/// The names of a type in the formats, and the size of a block.
struct WeightTypeInfo {
    weight_type: WeightType,
    name: &'static str,
    aliases: &'static [&'static str],
    safetensors: Option<&'static str>,
    gguf: u32,
    elements: usize,
    bytes: usize,
}

const fn plain(
    weight_type: WeightType,
    name: &'static str,
    aliases: &'static [&'static str],
    safetensors: &'static str,
    gguf: u32,
    bytes: usize,
) -> WeightTypeInfo {
    WeightTypeInfo {
        weight_type,
        name,
        aliases,
        safetensors: Some(safetensors),
        gguf,
        elements: 1,
        bytes,
    }
}

const fn blocks(
    weight_type: WeightType,
    name: &'static str,
    gguf: u32,
    bytes: usize,
    elements: usize,
) -> WeightTypeInfo {
    WeightTypeInfo {
        weight_type,
        name,
        aliases: &[],
        safetensors: None,
        gguf,
        elements,
        bytes,
    }
}

/// The table, in the order of the enum.
const ROWS: [WeightTypeInfo; 17] = [
    plain(WeightType::F32, "fp32", &["f32", "float32"], "F32", 0, 4),
    plain(WeightType::F16, "fp16", &["f16", "float16"], "F16", 1, 2),
    plain(WeightType::Bf16, "bf16", &["bfloat16"], "BF16", 30, 2),
    blocks(WeightType::Q4_0, "q4_0", 2, 18, 32),
    blocks(WeightType::Q4_1, "q4_1", 3, 20, 32),
    blocks(WeightType::Q5_0, "q5_0", 6, 22, 32),
    blocks(WeightType::Q5_1, "q5_1", 7, 24, 32),
    blocks(WeightType::Q8_0, "q8_0", 8, 34, 32),
    blocks(WeightType::Q2K, "q2_k", 10, 84, 256),
    blocks(WeightType::Q3K, "q3_k", 11, 110, 256),
    blocks(WeightType::Q4K, "q4_k", 12, 144, 256),
    blocks(WeightType::Q5K, "q5_k", 13, 176, 256),
    blocks(WeightType::Q6K, "q6_k", 14, 210, 256),
    blocks(WeightType::Iq4Nl, "iq4_nl", 20, 18, 32),
    blocks(WeightType::Mxfp4, "mxfp4", 39, 17, 32),
    blocks(WeightType::Tq1_0, "tq1_0", 34, 54, 256),
    blocks(WeightType::Tq2_0, "tq2_0", 35, 66, 256),
];

impl WeightType {
    /// Iterates over all types.
    pub fn all() -> impl ExactSizeIterator<Item = WeightType> {
        ROWS.iter().map(|row| row.weight_type)
    }

    fn row(self) -> &'static WeightTypeInfo {
        &ROWS[self as usize]
    }

    /// Returns the name in IR v2.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the type with this name in IR v2, including aliases.
    pub fn parse(word: &str) -> Option<WeightType> {
        let row = ROWS
            .iter()
            .find(|row| row.name == word || row.aliases.contains(&word));
        row.map(|row| row.weight_type)
    }

    /// Returns the type with this name in safetensors.
    pub fn of_safetensors(word: &str) -> Option<WeightType> {
        let row = ROWS.iter().find(|row| row.safetensors == Some(word));
        row.map(|row| row.weight_type)
    }

    /// Returns the type with this number in GGUF.
    pub fn of_gguf(code: u32) -> Option<WeightType> {
        let row = ROWS.iter().find(|row| row.gguf == code);
        row.map(|row| row.weight_type)
    }

    /// Returns the number in GGUF.
    pub fn gguf_code(self) -> u32 {
        self.row().gguf
    }

    /// Returns the number of elements per block; 1 for types without blocks.
    pub fn block_elements(self) -> usize {
        self.row().elements
    }

    /// Returns the number of bytes per block.
    pub fn block_bytes(self) -> usize {
        self.row().bytes
    }

    /// Returns the bytes of a row of `elements`; `None` if they are not whole blocks, or on overflow.
    pub fn row_bytes(self, elements: usize) -> Option<usize> {
        match elements % self.block_elements() {
            0 => (elements / self.block_elements()).checked_mul(self.block_bytes()),
            _ => None,
        }
    }
}

impl fmt::Display for WeightType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_enum_and_read_back() {
        for (at, weight_type) in WeightType::all().enumerate() {
            assert_eq!(weight_type as usize, at);
            assert_eq!(WeightType::parse(weight_type.name()), Some(weight_type));
            assert_eq!(
                WeightType::of_gguf(weight_type.gguf_code()),
                Some(weight_type)
            );
        }
        assert_eq!(WeightType::parse("bfloat16"), Some(WeightType::Bf16));
        assert_eq!(WeightType::of_gguf(16), None);
    }

    #[test]
    fn rows_of_blocks_are_whole() {
        assert_eq!(WeightType::Q4K.row_bytes(896), None);
        assert_eq!(WeightType::Q5_0.row_bytes(896), Some(616));
        assert_eq!(WeightType::F32.row_bytes(usize::MAX), None);
    }
}
