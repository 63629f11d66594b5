//! The element types, as one table.

/// What arithmetic an element type has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DTypeClass {
    /// IEEE 754 binary formats and bfloat16.
    Float,
    /// Two's complement integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// Truth values.
    Bool,
}

macro_rules! dtypes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $size:literal, $class:ident, $core_v1:literal;)*) => {
        /// An element type.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum DType {
            $($(#[$doc])* $name,)*
        }

        impl DType {
            /// Every element type, in the order of the table.
            pub const ALL: &'static [DType] = &[$(DType::$name),*];

            /// The name in every text format.
            pub const fn name(self) -> &'static str {
                match self { $(DType::$name => $text,)* }
            }

            /// The type called `name`.
            pub fn parse(name: &str) -> Option<DType> {
                match name { $($text => Some(DType::$name),)* _ => None }
            }

            /// Bytes per element.
            pub const fn size(self) -> usize {
                match self { $(DType::$name => $size,)* }
            }

            /// What arithmetic it has.
            pub const fn class(self) -> DTypeClass {
                match self { $(DType::$name => DTypeClass::$class,)* }
            }

            /// Whether profile `core-v1` has it.
            pub const fn in_core_v1(self) -> bool {
                match self { $(DType::$name => $core_v1,)* }
            }
        }
    };
}

dtypes! {
    /// IEEE 754 binary16.
    F16 = "f16", 2, Float, false;
    /// bfloat16.
    BF16 = "bf16", 2, Float, false;
    /// IEEE 754 binary32.
    F32 = "f32", 4, Float, true;
    /// IEEE 754 binary64.
    F64 = "f64", 8, Float, true;
    /// 8-bit signed integer.
    I8 = "i8", 1, Signed, false;
    /// 16-bit signed integer.
    I16 = "i16", 2, Signed, false;
    /// 32-bit signed integer.
    I32 = "i32", 4, Signed, true;
    /// 64-bit signed integer.
    I64 = "i64", 8, Signed, true;
    /// 8-bit unsigned integer.
    U8 = "u8", 1, Unsigned, false;
    /// 16-bit unsigned integer.
    U16 = "u16", 2, Unsigned, false;
    /// 32-bit unsigned integer.
    U32 = "u32", 4, Unsigned, false;
    /// 64-bit unsigned integer.
    U64 = "u64", 8, Unsigned, false;
    /// Truth value, one byte, 0 or 1.
    Bool = "bool", 1, Bool, true;
}

impl DType {
    /// Whether this is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self.class(), DTypeClass::Float)
    }

    /// Whether this is an integer type; `bool` is not.
    pub const fn is_int(self) -> bool {
        matches!(self.class(), DTypeClass::Signed | DTypeClass::Unsigned)
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
