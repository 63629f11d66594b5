//! The types of vector IR.

use std::fmt;

/// The type of a lane.
///
/// Integers are signless; operations state the signedness where it matters. 16-bit floats are `I16` until they are
/// converted to `F32`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Lane {
    /// 8 bits; also booleans, as 0 and 1.
    I8,
    /// 16 bits; `f16` and `bf16` in memory too.
    I16,
    /// 32 bits.
    I32,
    /// 64 bits.
    I64,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl Lane {
    /// Every lane type.
    pub const ALL: [Lane; 6] = [
        Lane::I8,
        Lane::I16,
        Lane::I32,
        Lane::I64,
        Lane::F32,
        Lane::F64,
    ];

    /// Size in bits.
    pub const fn bits(self) -> u32 {
        match self {
            Lane::I8 => 8,
            Lane::I16 => 16,
            Lane::I32 | Lane::F32 => 32,
            Lane::I64 | Lane::F64 => 64,
        }
    }

    /// Size in bytes.
    pub const fn bytes(self) -> u32 {
        self.bits() / 8
    }

    /// Whether this is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Lane::F32 | Lane::F64)
    }

    /// The integer of the same size.
    pub const fn int(self) -> Lane {
        match self {
            Lane::F32 => Lane::I32,
            Lane::F64 => Lane::I64,
            int => int,
        }
    }

    /// Returns a mask of all bits of a lane.
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// The sign bit.
    pub const fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// Stored bits of the fraction of a float; 0 for integers.
    pub const fn fraction_bits(self) -> u32 {
        match self {
            Lane::F32 => f32::MANTISSA_DIGITS - 1,
            Lane::F64 => f64::MANTISSA_DIGITS - 1,
            Lane::I8 | Lane::I16 | Lane::I32 | Lane::I64 => 0,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Lane::I8 => "i8",
            Lane::I16 => "i16",
            Lane::I32 => "i32",
            Lane::I64 => "i64",
            Lane::F32 => "f32",
            Lane::F64 => "f64",
        }
    }
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A vector with the number of lanes of the function.
    Vector(Lane),
    /// A boolean for each lane, for vectors whose lanes have the size of this integer.
    Mask(Lane),
    /// A signed 64-bit integer: an index, a stride or an extent, in elements.
    Index,
    /// An address.
    Ptr,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Vector(lane) => write!(f, "{lane}"),
            Type::Mask(lane) => write!(f, "mask{}", lane.bits()),
            Type::Index => f.write_str("index"),
            Type::Ptr => f.write_str("ptr"),
        }
    }
}
