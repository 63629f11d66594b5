//! Element types by their names in text.

use mind_ir::types::DType;

/// An element type of the text: its name, and the dtype that carries its values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Element {
    pub(super) name: &'static str,
    pub(super) carrier: DType,
    /// Bits, where they are fewer than the carrier's.
    pub(super) bits: Option<u32>,
}

const fn row(name: &'static str, carrier: DType) -> Element {
    Element {
        name,
        carrier,
        bits: None,
    }
}

const fn narrow(name: &'static str, carrier: DType, bits: u32) -> Element {
    Element {
        name,
        carrier,
        bits: Some(bits),
    }
}

/// Text; its carrier holds nothing.
pub(super) const STRING: Element = row("string", DType::U8);

/// Every element type; of those with one carrier the carrier's own first.
const ELEMENTS: [Element; 20] = [
    row("bool", DType::Bool),
    row("fp16", DType::F16),
    row("fp32", DType::F32),
    row("fp64", DType::F64),
    row("bf16", DType::BF16),
    row("int8", DType::I8),
    row("int16", DType::I16),
    row("int32", DType::I32),
    row("int64", DType::I64),
    row("uint8", DType::U8),
    row("uint16", DType::U16),
    row("uint32", DType::U32),
    row("uint64", DType::U64),
    STRING,
    narrow("int4", DType::I8, 4),
    narrow("uint1", DType::U8, 1),
    narrow("uint2", DType::U8, 2),
    narrow("uint3", DType::U8, 3),
    narrow("uint4", DType::U8, 4),
    narrow("uint6", DType::U8, 6),
];

impl Element {
    /// The element type called `name`.
    pub(super) fn parse(name: &str) -> Option<Element> {
        ELEMENTS
            .iter()
            .find(|element| element.name == name)
            .copied()
    }

    /// The names of all element types.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        ELEMENTS.iter().map(|element| element.name)
    }

    /// The element type whose values are those of `dtype`.
    pub(super) fn of(dtype: DType) -> Element {
        let own = ELEMENTS.iter().find(|element| element.carrier == dtype);
        *own.expect("every dtype carries an element type")
    }

    /// Whether this is text.
    pub(super) fn is_string(self) -> bool {
        self == STRING
    }

    /// The integers it holds; `None` for what is no integer.
    pub(super) fn range(self) -> Option<(i128, i128)> {
        let signed = match self.carrier {
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => true,
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => false,
            _ => return None,
        };
        let bits = self.bits.unwrap_or(8 * self.carrier.size() as u32);
        Some(if signed {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        })
    }
}
