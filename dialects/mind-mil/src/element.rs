//! The element types of MIL, and the dtypes that carry their values in this IR.

use mind_ir::types::DType;

macro_rules! elements {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $carrier:ident, $bits:literal, $proto:literal, $blob:expr;)*) => {
        /// An element type of MIL.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Element {
            $($(#[$doc])* $name,)*
        }

        impl Element {
            /// Every element type, in the order of the table.
            pub const ALL: &'static [Element] = &[$(Element::$name),*];

            /// Returns the name in text.
            pub const fn name(self) -> &'static str {
                match self { $(Element::$name => $text,)* }
            }

            /// Returns the dtype that carries its values. Constants of `string` are text, which has no elements.
            pub const fn carrier(self) -> DType {
                match self { $(Element::$name => DType::$carrier,)* }
            }

            /// Returns the bits per element in a package; 0 for `string`.
            pub const fn bits(self) -> u32 {
                match self { $(Element::$name => $bits,)* }
            }

            /// Returns the number of the data type in a package.
            pub const fn proto(self) -> i32 {
                match self { $(Element::$name => $proto,)* }
            }

            /// Returns the number of the data type in a weight file; `None` if a file cannot hold it.
            pub const fn blob(self) -> Option<u32> {
                match self { $(Element::$name => $blob,)* }
            }
        }
    };
}

elements! {
    /// Truth value.
    Bool = "bool", Bool, 8, 1, None;
    /// Text.
    String = "string", U8, 0, 2, None;
    /// IEEE 754 binary16.
    Fp16 = "fp16", F16, 16, 10, Some(1);
    /// IEEE 754 binary32.
    Fp32 = "fp32", F32, 32, 11, Some(2);
    /// IEEE 754 binary64.
    Fp64 = "fp64", F64, 64, 12, None;
    /// bfloat16.
    Bf16 = "bf16", BF16, 16, 13, Some(5);
    /// 4-bit signed integer.
    Int4 = "int4", I8, 4, 25, Some(8);
    /// 8-bit signed integer.
    Int8 = "int8", I8, 8, 21, Some(4);
    /// 16-bit signed integer.
    Int16 = "int16", I16, 16, 22, Some(6);
    /// 32-bit signed integer.
    Int32 = "int32", I32, 32, 23, Some(14);
    /// 64-bit signed integer.
    Int64 = "int64", I64, 64, 24, None;
    /// 1-bit unsigned integer.
    Uint1 = "uint1", U8, 1, 37, Some(9);
    /// 2-bit unsigned integer.
    Uint2 = "uint2", U8, 2, 36, Some(10);
    /// 3-bit unsigned integer.
    Uint3 = "uint3", U8, 3, 39, Some(12);
    /// 4-bit unsigned integer.
    Uint4 = "uint4", U8, 4, 35, Some(11);
    /// 6-bit unsigned integer.
    Uint6 = "uint6", U8, 6, 38, Some(13);
    /// 8-bit unsigned integer.
    Uint8 = "uint8", U8, 8, 31, Some(3);
    /// 16-bit unsigned integer.
    Uint16 = "uint16", U16, 16, 32, Some(7);
    /// 32-bit unsigned integer.
    Uint32 = "uint32", U32, 32, 33, Some(15);
    /// 64-bit unsigned integer.
    Uint64 = "uint64", U64, 64, 34, None;
}

impl Element {
    /// The element type called `name`.
    pub fn parse(name: &str) -> Option<Element> {
        Element::ALL
            .iter()
            .find(|element| element.name() == name)
            .copied()
    }

    /// Returns the element type with this number in a package.
    pub fn from_proto(number: i32) -> Option<Element> {
        let mut all = Element::ALL.iter().copied();
        all.find(|element| element.proto() == number)
    }

    /// Returns the element type with the same values as `dtype`.
    pub fn of(dtype: DType) -> Element {
        match dtype {
            DType::F16 => Element::Fp16,
            DType::BF16 => Element::Bf16,
            DType::F32 => Element::Fp32,
            DType::F64 => Element::Fp64,
            DType::I8 => Element::Int8,
            DType::I16 => Element::Int16,
            DType::I32 => Element::Int32,
            DType::I64 => Element::Int64,
            DType::U8 => Element::Uint8,
            DType::U16 => Element::Uint16,
            DType::U32 => Element::Uint32,
            DType::U64 => Element::Uint64,
            DType::Bool => Element::Bool,
        }
    }

    /// Returns its least and greatest integer; `None` if its values are not integers.
    pub fn range(self) -> Option<(i128, i128)> {
        let bits = self.bits();
        match self {
            Element::Bool
            | Element::String
            | Element::Fp16
            | Element::Fp32
            | Element::Fp64
            | Element::Bf16 => None,
            Element::Int4 | Element::Int8 | Element::Int16 | Element::Int32 | Element::Int64 => {
                Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1))
            }
            Element::Uint1
            | Element::Uint2
            | Element::Uint3
            | Element::Uint4
            | Element::Uint6
            | Element::Uint8
            | Element::Uint16
            | Element::Uint32
            | Element::Uint64 => Some((0, (1 << bits) - 1)),
        }
    }
}

/// A set of element types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Elements(u32);

impl Elements {
    /// Creates the set of `elements`.
    pub const fn of(elements: &[Element]) -> Elements {
        let (mut bits, mut at) = (0, 0);
        while at < elements.len() {
            bits |= 1 << elements[at] as u32;
            at += 1;
        }
        Elements(bits)
    }

    /// Returns whether the set contains `element`.
    pub const fn contains(self, element: Element) -> bool {
        self.0 & (1 << element as u32) != 0
    }

    /// Returns the elements, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = Element> {
        Element::ALL
            .iter()
            .copied()
            .filter(move |&element| self.contains(element))
    }

    /// Returns the names, separated by commas.
    pub fn text(self) -> String {
        self.iter()
            .map(Element::name)
            .collect::<Vec<_>>()
            .join(", ")
    }
}
