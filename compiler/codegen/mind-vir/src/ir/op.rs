//! The operations of vector IR.

use super::types::{Lane, Type};

/// A value of a function: one result of one statement, or a parameter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Value(pub(crate) u32);

impl Value {
    /// Returns the index of the value in the tables of its function.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An address: `base + index * scale + offset`, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Addr {
    /// A pointer.
    pub base: Value,
    /// An index, if the address has one.
    pub index: Option<Value>,
    /// The scale of the index in bytes: 1, 2, 4 or 8.
    pub scale: u8,
    /// Displacement in bytes.
    pub offset: i32,
}

impl Addr {
    /// Returns the address `base`.
    pub const fn at(base: Value) -> Addr {
        Addr {
            base,
            index: None,
            scale: 1,
            offset: 0,
        }
    }

    /// Returns the address of element `index` of the array of `lane` at `base`.
    pub const fn element(base: Value, index: Value, lane: Lane) -> Addr {
        Addr {
            base,
            index: Some(index),
            scale: lane.bytes() as u8,
            offset: 0,
        }
    }

    /// Returns the address plus `bytes`.
    pub const fn plus(self, bytes: i32) -> Addr {
        Addr {
            offset: self.offset + bytes,
            ..self
        }
    }
}

/// Arithmetic on indices, wrapping.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IndexOp {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// The smaller, as signed numbers.
    Min,
    /// The larger, as signed numbers.
    Max,
}

impl IndexOp {
    /// Returns the result.
    pub fn apply(self, a: i64, b: i64) -> i64 {
        match self {
            IndexOp::Add => a.wrapping_add(b),
            IndexOp::Sub => a.wrapping_sub(b),
            IndexOp::Mul => a.wrapping_mul(b),
            IndexOp::Min => a.min(b),
            IndexOp::Max => a.max(b),
        }
    }

    /// Returns whether the operation is commutative.
    pub const fn is_commutative(self) -> bool {
        !matches!(self, IndexOp::Sub)
    }
}

/// Functions of one vector of floats.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// The sign bit flipped.
    Neg,
    /// The sign bit cleared.
    Abs,
    /// The square root, correctly rounded.
    Sqrt,
    /// The largest integer not above. Like the other roundings it preserves zeros, infinities, NaN, and the sign of a
    /// zero result.
    Floor,
    /// The smallest integer not below.
    Ceil,
    /// The integer part (rounding toward 0).
    Trunc,
    /// The nearest integer, ties to even.
    Round,
}

/// Functions of two vectors of one type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// `a + b`; integers wrap.
    Add,
    /// `a - b`; integers wrap.
    Sub,
    /// `a * b`; integers wrap.
    Mul,
    /// Dot product of the signed 16-bit halves of each 32-bit lane; wraps.
    MulHalves,
    /// For each 16-bit half of 32-bit lanes, the dot product of its two bytes, unsigned in `a` and signed in `b`;
    /// saturates to signed 16 bits.
    MulBytes,
    /// Addition of 16-bit halves of 32-bit lanes; each wraps.
    AddHalves,
    /// `a / b`, of floats.
    Div,
    /// `a < b ? a : b`: of floats `b` when either is NaN or both are zeros, of integers as signed numbers.
    Min,
    /// `b < a ? a : b`: of floats `b` when either is NaN or both are zeros, of integers as signed numbers.
    Max,
    /// The larger of floats, NaN if either is, +0 above -0.
    Maximum,
    /// [`Steps::scale`](mind_ir::scalar::math::Steps::scale) of floats.
    Scale,
    /// [`Steps::scale_sum`](mind_ir::scalar::math::Steps::scale_sum) of floats.
    ScaleSum,
    /// The smaller of integers as unsigned numbers.
    UMin,
    /// The larger of integers as unsigned numbers.
    UMax,
    /// Bitwise and, of any lanes.
    And,
    /// Bitwise or, of any lanes.
    Or,
    /// Bitwise exclusive or, of any lanes.
    Xor,
    /// `a` shifted by `b` bits, of 32- and 64-bit lanes; `b` is unsigned, and a distance of the lane width or more
    /// gives 0, or copies of the sign bit for `Sra`.
    Shift(ShiftOp),
}

impl BinaryOp {
    /// Returns whether the operation is defined on `lane`.
    pub const fn takes(self, lane: Lane) -> bool {
        match self {
            BinaryOp::Div | BinaryOp::Maximum | BinaryOp::Scale | BinaryOp::ScaleSum => {
                lane.is_float()
            }
            BinaryOp::MulHalves | BinaryOp::MulBytes | BinaryOp::AddHalves => {
                matches!(lane, Lane::I32)
            }
            BinaryOp::UMin | BinaryOp::UMax => !lane.is_float(),
            BinaryOp::Shift(_) => matches!(lane, Lane::I32 | Lane::I64),
            _ => true,
        }
    }

    /// Returns whether the operation is commutative on `lane`.
    pub const fn is_commutative(self, lane: Lane) -> bool {
        match self {
            BinaryOp::Sub
            | BinaryOp::MulBytes
            | BinaryOp::Div
            | BinaryOp::Scale
            | BinaryOp::ScaleSum
            | BinaryOp::Shift(_) => false,
            BinaryOp::Min | BinaryOp::Max => !lane.is_float(),
            _ => true,
        }
    }
}

/// Comparisons of two vectors of one type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Predicate {
    /// `a == b`; false when either is NaN.
    Eq,
    /// `a < b`, of integers as signed numbers; false when either is NaN.
    Lt,
    /// `a <= b`, of integers as signed numbers; false when either is NaN.
    Le,
    /// `a < b`, of integers as unsigned numbers.
    ULt,
    /// Whether either is NaN.
    Unordered,
}

impl Predicate {
    /// Returns whether the comparison is defined on `lane`.
    pub const fn takes(self, lane: Lane) -> bool {
        match self {
            Predicate::Eq | Predicate::Lt | Predicate::Le => true,
            Predicate::ULt => !lane.is_float(),
            Predicate::Unordered => lane.is_float(),
        }
    }
}

/// Shifts by a number of bits less than the width of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ShiftOp {
    /// To the left, zeros shifted in.
    Shl,
    /// To the right, zeros shifted in.
    Shr,
    /// To the right, copies of the sign bit shifted in.
    Sra,
}

/// Conversions, lane by lane. Roundings are to nearest even.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ConvertOp {
    /// The same bits as another type of the same size.
    Bits,
    /// `f16` in an `I16` to `F32`, exact.
    HalfToF32,
    /// `F32` to `f16` in an `I16`, rounded.
    F32ToHalf,
    /// `F32` to `F64` exactly, `F64` to `F32` rounded.
    Float,
    /// An integer as a signed number to a wider one.
    SignExtend,
    /// An integer as an unsigned number to a wider one.
    ZeroExtend,
    /// The low bits of an integer.
    Truncate,
    /// `I32` as a signed number to `F32`, rounded, or to `F64`, exact.
    IntToFloat,
    /// `F32` or `F64` to signed `I32`, rounded toward zero; `i32::MIN` for NaN and for values out of range.
    FloatToInt,
}

impl ConvertOp {
    /// Returns whether the conversion from `from` to `to` is defined.
    pub fn takes(self, from: Lane, to: Lane) -> bool {
        let ints = !from.is_float() && !to.is_float();
        match self {
            ConvertOp::Bits => from.bits() == to.bits(),
            ConvertOp::HalfToF32 => (from, to) == (Lane::I16, Lane::F32),
            ConvertOp::F32ToHalf => (from, to) == (Lane::F32, Lane::I16),
            ConvertOp::Float => from.is_float() && to.is_float() && from != to,
            ConvertOp::SignExtend | ConvertOp::ZeroExtend => ints && from.bits() < to.bits(),
            ConvertOp::Truncate => ints && from.bits() > to.bits(),
            ConvertOp::IntToFloat => from == Lane::I32 && to.is_float(),
            ConvertOp::FloatToInt => from.is_float() && to == Lane::I32,
        }
    }
}

/// Combinations of two masks of one type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MaskOp {
    /// Both.
    And,
    /// Either.
    Or,
    /// The first but not the second.
    AndNot,
}

/// An operation with one result.
///
/// A `count` masks lanes: lanes `0..count` are active, and it must be in `0..=lanes`. Without a count all lanes are
/// active. Inactive lanes do not access memory and are zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// A constant index.
    Index(i64),
    /// Arithmetic on indices.
    IndexOp(IndexOp, Value, Value),
    /// An address as a pointer.
    Address(Addr),
    /// Consecutive elements.
    Load {
        /// Type of an element.
        lane: Lane,
        /// The address of the first one.
        addr: Addr,
        /// The active lanes.
        count: Option<Value>,
    },
    /// One element in every lane.
    LoadSplat {
        /// Type of the element.
        lane: Lane,
        /// Its address.
        addr: Addr,
    },
    /// Elements at a constant stride.
    LoadStrided {
        /// Type of an element.
        lane: Lane,
        /// The address of the first one.
        addr: Addr,
        /// The stride as an index, in elements.
        stride: Value,
        /// The active lanes.
        count: Option<Value>,
    },
    /// Elements at the indices in a vector.
    Gather {
        /// Type of an element.
        lane: Lane,
        /// The pointer that indices are relative to.
        base: Value,
        /// A vector of `I32`: signed indices, in elements. The caller has checked their bounds.
        places: Value,
        /// The active lanes.
        count: Option<Value>,
    },
    /// A function of one vector of floats.
    Unary(UnaryOp, Value),
    /// A function of two vectors.
    Binary(BinaryOp, Value, Value),
    /// `a * b + c` of floats, rounded once.
    Fma(Value, Value, Value),
    /// The third vector plus, in each lane of `I32`, the dot product of the four unsigned bytes of the first vector and
    /// the four signed bytes of the second; wraps.
    DotBytes(Value, Value, Value),
    /// The quotient of integers, truncated toward zero.
    ///
    /// Invalid lanes set a bit of the [`Status`](super::Status) of the call and do not trap, because compiled code
    /// never traps: a division by zero gives 0, the smallest number over -1 gives that number.
    IntDiv {
        /// Whether the lanes are signed numbers.
        signed: bool,
        /// The dividend.
        lhs: Value,
        /// The divisor.
        rhs: Value,
        /// The active lanes.
        count: Option<Value>,
    },
    /// The lanes below a count, as a mask for lanes of this type.
    Below(Lane, Value),
    /// A comparison, as a mask.
    Compare(Predicate, Value, Value),
    /// A combination of masks.
    MaskOp(MaskOp, Value, Value),
    /// The first vector where the mask holds, else the second.
    Select(Value, Value, Value),
    /// A shift of integers by a constant.
    Shift(ShiftOp, Value, u32),
    /// A conversion of every lane.
    Convert(ConvertOp, Lane, Value),
    /// Lane `j + n` moved to lane `j`; lanes shifted in are zero.
    LanesDown(Value, u32),
    /// Broadcast of the first lane.
    Splat(Value),
    /// Interleaves even (or odd) blocks of `block` lanes of the first vector with those of the second.
    ///
    /// For example, if the two vectors are rows of a matrix of blocks, the results are the columns of its 2 by 2
    /// submatrices.
    Transpose {
        /// Whether odd blocks are taken, rather than even ones.
        odd: bool,
        /// Lanes of a block: a power of two, less than the number of lanes.
        block: u32,
        /// The vector that fills even blocks of the result.
        first: Value,
        /// The vector that fills odd blocks of the result.
        second: Value,
    },
}

impl Op {
    /// Calls `f` on every operand, in the order of the text form.
    pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
        let addr = |addr: &Addr, f: &mut dyn FnMut(Value)| {
            f(addr.base);
            addr.index.into_iter().for_each(f);
        };
        match self {
            Op::Index(_) => {}
            Op::Address(at) | Op::LoadSplat { addr: at, .. } => addr(at, &mut f),
            Op::Load {
                addr: at, count, ..
            } => {
                addr(at, &mut f);
                count.iter().copied().for_each(f);
            }
            Op::LoadStrided {
                addr: at,
                stride,
                count,
                ..
            } => {
                addr(at, &mut f);
                f(*stride);
                count.iter().copied().for_each(f);
            }
            Op::Gather {
                base,
                places,
                count,
                ..
            } => {
                f(*base);
                f(*places);
                count.iter().copied().for_each(f);
            }
            Op::Unary(_, a)
            | Op::Below(_, a)
            | Op::Shift(_, a, _)
            | Op::Convert(_, _, a)
            | Op::LanesDown(a, _)
            | Op::Splat(a) => f(*a),
            Op::IndexOp(_, a, b)
            | Op::Binary(_, a, b)
            | Op::Compare(_, a, b)
            | Op::MaskOp(_, a, b) => {
                f(*a);
                f(*b);
            }
            Op::Transpose { first, second, .. } => {
                f(*first);
                f(*second);
            }
            Op::Fma(a, b, c) | Op::DotBytes(a, b, c) | Op::Select(a, b, c) => {
                f(*a);
                f(*b);
                f(*c);
            }
            Op::IntDiv {
                lhs, rhs, count, ..
            } => {
                f(*lhs);
                f(*rhs);
                count.iter().copied().for_each(f);
            }
        }
    }

    /// Returns the type of the result for these operand types; `None` if they do not fit.
    ///
    /// The verifier checks limits that depend on more than types.
    pub fn result_type(&self, ty: impl Fn(Value) -> Type) -> Option<Type> {
        let is = |value: Value, expected: Type| ty(value) == expected;
        let index = |value: &Option<Value>| value.is_none_or(|value| is(value, Type::Index));
        let addr = |at: &Addr| is(at.base, Type::Ptr) && index(&at.index);
        let same = |a: Value, b: Value| match (ty(a), ty(b)) {
            (Type::Vector(a), Type::Vector(b)) if a == b => Some(a),
            _ => None,
        };
        let vector = |fits: bool, lane: Lane| fits.then_some(Type::Vector(lane));
        match *self {
            Op::Index(_) => Some(Type::Index),
            Op::IndexOp(_, a, b) => {
                (is(a, Type::Index) && is(b, Type::Index)).then_some(Type::Index)
            }
            Op::Address(at) => addr(&at).then_some(Type::Ptr),
            Op::Load {
                lane,
                addr: at,
                count,
            } => vector(addr(&at) && index(&count), lane),
            Op::LoadSplat { lane, addr: at } => vector(addr(&at), lane),
            Op::LoadStrided {
                lane,
                addr: at,
                stride,
                count,
            } => vector(addr(&at) && is(stride, Type::Index) && index(&count), lane),
            Op::Gather {
                lane,
                base,
                places,
                count,
            } => {
                let placed = is(base, Type::Ptr) && is(places, Type::Vector(Lane::I32));
                vector(placed && index(&count), lane)
            }
            Op::Unary(_, a) => match ty(a) {
                Type::Vector(lane) => vector(lane.is_float(), lane),
                _ => None,
            },
            Op::Binary(op, a, b) => same(a, b).and_then(|lane| vector(op.takes(lane), lane)),
            Op::Fma(a, b, c) => {
                let lane = same(a, b)?;
                vector(lane.is_float() && is(c, Type::Vector(lane)), lane)
            }
            Op::DotBytes(a, b, c) => {
                let fits = [a, b, c].map(|value| is(value, Type::Vector(Lane::I32)));
                vector(fits == [true; 3], Lane::I32)
            }
            Op::IntDiv {
                lhs, rhs, count, ..
            } => {
                let lane = same(lhs, rhs)?;
                vector(!lane.is_float() && index(&count), lane)
            }
            Op::Below(lane, count) => is(count, Type::Index).then_some(Type::Mask(lane.int())),
            Op::Compare(predicate, a, b) => {
                let lane = same(a, b)?;
                predicate.takes(lane).then_some(Type::Mask(lane.int()))
            }
            Op::MaskOp(_, a, b) => (matches!(ty(a), Type::Mask(_)) && is(b, ty(a))).then(|| ty(a)),
            Op::Select(mask, a, b) => {
                let lane = same(a, b)?;
                vector(is(mask, Type::Mask(lane.int())), lane)
            }
            Op::Shift(_, a, _) => match ty(a) {
                Type::Vector(lane) => vector(!lane.is_float(), lane),
                _ => None,
            },
            Op::Convert(op, to, a) => match ty(a) {
                Type::Vector(from) => vector(op.takes(from, to), to),
                _ => None,
            },
            Op::LanesDown(a, _) | Op::Splat(a) => match ty(a) {
                Type::Vector(lane) => vector(true, lane),
                _ => None,
            },
            Op::Transpose { first, second, .. } => {
                same(first, second).and_then(|lane| vector(true, lane))
            }
        }
    }
}
