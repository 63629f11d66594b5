//! The element types, as one table.

/// The class of an element type, which decides its arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DTypeClass {
    /// IEEE 754 binary formats and bfloat16.
    Float,
    /// Two's complement integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// Booleans.
    Bool,
}

/// A binary floating-point format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FloatFormat {
    /// Stored bits of the significand, without the implicit leading one.
    pub mantissa: u32,
    /// Bits of the exponent.
    pub exponent: u32,
    /// The narrow float type that computes in `f32`; `None` if arithmetic is done in this format.
    pub narrow: Option<NarrowFloat>,
}

impl FloatFormat {
    const fn new(mantissa: u32, exponent: u32, narrow: Option<NarrowFloat>) -> Option<FloatFormat> {
        Some(FloatFormat {
            mantissa,
            exponent,
            narrow,
        })
    }

    /// Returns the exponent bias.
    pub const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }
}

/// Floats that compute in `f32`: operands are widened exactly, and each result is rounded to nearest even.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NarrowFloat {
    /// IEEE 754 binary16.
    F16,
    /// bfloat16.
    BF16,
}

macro_rules! dtypes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $size:literal, $class:ident, $float:expr, $core_v1:literal;)*) => {
        /// An element type.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum DType {
            $($(#[$doc])* $name,)*
        }

        impl DType {
            /// Every element type, in the order of the table.
            pub const ALL: &'static [DType] = &[$(DType::$name),*];

            /// Returns the name, which is the same in every text format.
            pub const fn name(self) -> &'static str {
                match self { $(DType::$name => $text,)* }
            }

            /// Returns the type with this name.
            pub fn parse(name: &str) -> Option<DType> {
                match name { $($text => Some(DType::$name),)* _ => None }
            }

            /// Returns the bytes per element.
            pub const fn size(self) -> usize {
                match self { $(DType::$name => $size,)* }
            }

            /// Returns the class.
            pub const fn class(self) -> DTypeClass {
                match self { $(DType::$name => DTypeClass::$class,)* }
            }

            /// Returns the floating-point format; `None` if it is not a float.
            pub const fn float_format(self) -> Option<FloatFormat> {
                match self { $(DType::$name => $float,)* }
            }

            /// Whether it is in profile `core-v1`.
            pub const fn in_core_v1(self) -> bool {
                match self { $(DType::$name => $core_v1,)* }
            }
        }
    };
}

dtypes! {
    /// IEEE 754 binary16.
    F16 = "f16", 2, Float, FloatFormat::new(10, 5, Some(NarrowFloat::F16)), false;
    /// bfloat16.
    BF16 = "bf16", 2, Float, FloatFormat::new(7, 8, Some(NarrowFloat::BF16)), false;
    /// IEEE 754 binary32.
    F32 = "f32", 4, Float, FloatFormat::new(23, 8, None), true;
    /// IEEE 754 binary64.
    F64 = "f64", 8, Float, FloatFormat::new(52, 11, None), true;
    /// 8-bit signed integer.
    I8 = "i8", 1, Signed, None, false;
    /// 16-bit signed integer.
    I16 = "i16", 2, Signed, None, false;
    /// 32-bit signed integer.
    I32 = "i32", 4, Signed, None, true;
    /// 64-bit signed integer.
    I64 = "i64", 8, Signed, None, true;
    /// 8-bit unsigned integer.
    U8 = "u8", 1, Unsigned, None, false;
    /// 16-bit unsigned integer.
    U16 = "u16", 2, Unsigned, None, false;
    /// 32-bit unsigned integer.
    U32 = "u32", 4, Unsigned, None, false;
    /// 64-bit unsigned integer.
    U64 = "u64", 8, Unsigned, None, false;
    /// Boolean, one byte, 0 or 1.
    Bool = "bool", 1, Bool, None, true;
}

impl DType {
    /// Returns this type as a narrow float, which computes in `f32`; `None` if it computes in its own type.
    pub const fn narrow_float(self) -> Option<NarrowFloat> {
        match self.float_format() {
            Some(format) => format.narrow,
            None => None,
        }
    }

    /// Returns whether `wider` has every value of this type, so that a cast to a third type can be done through
    /// `wider`. `wider` is then a larger float if this is a float, a larger integer if this is an integer, or any type
    /// other than `bool` if this is `bool`. For example, `u8` widens to `i16` but not to `f32`.
    pub const fn widens_to(self, wider: DType) -> bool {
        match (self.class(), wider.class()) {
            (DTypeClass::Float, DTypeClass::Float) => {
                match (self.float_format(), wider.float_format()) {
                    (Some(own), Some(other)) => {
                        own.mantissa < other.mantissa && own.exponent <= other.exponent
                    }
                    _ => false,
                }
            }
            (DTypeClass::Signed | DTypeClass::Unsigned, DTypeClass::Signed)
            | (DTypeClass::Unsigned, DTypeClass::Unsigned) => self.size() < wider.size(),
            (DTypeClass::Bool, DTypeClass::Float | DTypeClass::Signed | DTypeClass::Unsigned) => {
                true
            }
            (DTypeClass::Signed, DTypeClass::Unsigned)
            | (DTypeClass::Bool, DTypeClass::Bool)
            | (DTypeClass::Float, _)
            | (_, DTypeClass::Float | DTypeClass::Bool) => false,
        }
    }

    /// Returns the type that this type computes in.
    pub const fn carrier(self) -> DType {
        match self.narrow_float() {
            Some(NarrowFloat::F16 | NarrowFloat::BF16) => DType::F32,
            None => self,
        }
    }

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
