//! Functions of vector IR: structured loops over statements.

use super::byte_product::ByteProduct;
use super::op::{Addr, Op, Value};
use super::types::{Lane, Type};

/// A function over vectors that all have the same number of lanes.
#[derive(Clone, Debug)]
pub struct Function {
    pub(crate) name: String,
    pub(crate) lanes: u32,
    pub(crate) types: Vec<Type>,
    pub(crate) params: Vec<Value>,
    /// Pointers with the sizes in bytes of their buffers.
    pub(crate) buffers: Vec<(Value, usize)>,
    pub(crate) scratch: Option<Scratch>,
    /// Pointers into scratch memory with the sizes in bytes of their parts of it.
    pub(crate) scratch_parts: Vec<(Value, usize)>,
    pub(crate) streamed: Vec<Value>,
    pub(crate) constants: Vec<Constant>,
    pub(crate) body: Block,
}

impl Function {
    /// Returns the name in the text form.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of lanes of every vector.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// Returns the parameters: pointers and indices. Scratch memory, if it is used, is the last one.
    pub fn params(&self) -> &[Value] {
        &self.params
    }

    /// Returns the size in bytes of the buffer that parameter `param` points to; `None` if the function does not state
    /// it.
    pub fn buffer_bytes(&self, param: Value) -> Option<usize> {
        if let Some(scratch) = self.scratch.filter(|scratch| scratch.param == param) {
            return Some(scratch.bytes);
        }
        let declared = self.buffers.iter().find(|(pointer, _)| *pointer == param);
        declared.map(|&(_, bytes)| bytes)
    }

    /// Returns the scratch memory that a call needs; `None` if it needs none.
    pub fn scratch(&self) -> Option<Scratch> {
        self.scratch
    }

    /// Returns the pointers to which whole vectors are stored that are not read again soon.
    ///
    /// This is a hint: such stores may be non-temporal.
    pub fn streamed(&self) -> &[Value] {
        &self.streamed
    }

    /// Returns the constant vectors.
    pub fn constants(&self) -> &[Constant] {
        &self.constants
    }

    /// Returns the bits of a lane of `value`; `None` if it is not a constant.
    pub fn constant(&self, value: Value) -> Option<u64> {
        let mut constants = self.constants.iter();
        let found = constants.find(|known| known.value == value)?;
        Some(found.bits)
    }

    /// The statements.
    pub fn body(&self) -> &Block {
        &self.body
    }

    /// Returns whether it accumulates products of bytes, for which VNNI has an instruction.
    pub fn sums_bytes(&self) -> bool {
        self.body.sums_bytes()
    }

    /// Returns whether it multiplies matrices of bytes.
    pub fn has_byte_products(&self) -> bool {
        self.body.has_byte_products()
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.types[value.index()]
    }

    /// Returns the number of values; their indices are dense.
    pub fn value_count(&self) -> usize {
        self.types.len()
    }

    /// Returns the widest lane type of any vector; the narrowest lane type if the function has no vectors.
    pub fn widest_lane(&self) -> Lane {
        let lanes = self.types.iter().filter_map(|ty| match ty {
            Type::Vector(lane) => Some(*lane),
            Type::Mask(_) | Type::Index | Type::Ptr => None,
        });
        lanes.max_by_key(|lane| lane.bits()).unwrap_or(Lane::I8)
    }

    /// The lane type of a vector.
    ///
    /// # Panics
    ///
    /// Panics if the value is not a vector.
    pub fn lane(&self, value: Value) -> Lane {
        match self.ty(value) {
            Type::Vector(lane) => lane,
            other => panic!("a verified function has a vector here, found {other}"),
        }
    }
}

/// Memory for one call at a time, aligned to 64 bytes. It is uninitialised when the call begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scratch {
    /// The parameter that points to it.
    pub param: Value,
    /// Its size.
    pub bytes: usize,
}

/// A vector with the same bits in every lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Constant {
    /// The value that holds it.
    pub value: Value,
    /// The bits of a lane.
    pub bits: u64,
}

/// Statements, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// In execution order.
    pub statements: Vec<Statement>,
}

impl Block {
    /// Calls `f` on every computed value of the block and of nested blocks, in order.
    pub fn for_each_op(&self, f: &mut dyn FnMut(Value, &Op)) {
        for statement in &self.statements {
            match statement {
                Statement::Let(value, op) => f(*value, op),
                Statement::Loop(node) => node.body.for_each_op(f),
                Statement::IfAny(node) => node.body.for_each_op(f),
                Statement::Store { .. }
                | Statement::StoreFirst { .. }
                | Statement::Prefetch(_)
                | Statement::ByteProduct(_) => {}
            }
        }
    }

    fn sums_bytes(&self) -> bool {
        self.statements.iter().any(|statement| match statement {
            Statement::Let(_, op) => matches!(op, Op::DotBytes(..)),
            Statement::Loop(node) => node.body.sums_bytes(),
            Statement::IfAny(node) => node.body.sums_bytes(),
            Statement::Store { .. }
            | Statement::StoreFirst { .. }
            | Statement::Prefetch(_)
            | Statement::ByteProduct(_) => false,
        })
    }

    /// Returns whether it multiplies matrices of bytes.
    fn has_byte_products(&self) -> bool {
        self.statements.iter().any(|statement| match statement {
            Statement::ByteProduct(_) => true,
            Statement::Loop(node) => node.body.has_byte_products(),
            // The body of an `IfAny` has no effects.
            Statement::Let(..)
            | Statement::Store { .. }
            | Statement::StoreFirst { .. }
            | Statement::Prefetch(_)
            | Statement::IfAny(_) => false,
        })
    }
}

/// A statement of a block.
#[derive(Clone, Debug)]
pub enum Statement {
    /// Computes a value.
    Let(Value, Op),
    /// Writes consecutive elements; lanes beyond `count` touch no memory.
    Store {
        /// The vector.
        value: Value,
        /// The address of the first element.
        addr: Addr,
        /// Active lanes, in `0..=lanes`; `None` if all are active.
        count: Option<Value>,
    },
    /// Writes the first lane.
    StoreFirst {
        /// The vector.
        value: Value,
        /// The address of the element.
        addr: Addr,
    },
    /// Prefetches memory; does not change any result, and the address may be invalid.
    Prefetch(Addr),
    /// Multiplies matrices of bytes in memory.
    ByteProduct(Box<ByteProduct>),
    /// Repeats statements.
    Loop(Box<Loop>),
    /// Computes values that few lanes need.
    IfAny(Box<IfAny>),
}

impl Statement {
    /// Calls `f` on every value that the statement defines for those after it.
    pub fn for_each_result(&self, mut f: impl FnMut(Value)) {
        match self {
            Statement::Let(value, _) => f(*value),
            Statement::Loop(node) => {
                f(node.last);
                node.carried.iter().for_each(|carried| f(carried.result));
            }
            Statement::IfAny(node) => node.merged.iter().for_each(|merged| f(merged.result)),
            Statement::Store { .. }
            | Statement::StoreFirst { .. }
            | Statement::Prefetch(_)
            | Statement::ByteProduct(_) => {}
        }
    }
}

/// The condition of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LoopKind {
    /// Main loop: continues while a whole step is below the upper bound, `index + step <= upper`.
    Whole,
    /// Remainder loop: continues while the index is below the upper bound, `index < upper`.
    Rest,
}

/// A counted loop.
///
/// `index` starts at `lower` and grows by `step`. `last` is its value after the loop, which is `lower` if the trip
/// count is 0.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The condition.
    pub kind: LoopKind,
    /// The index, defined inside.
    pub index: Value,
    /// The first index.
    pub lower: Value,
    /// The bound.
    pub upper: Value,
    /// The increment, above 0.
    pub step: i64,
    /// The index at the end, defined after the loop.
    pub last: Value,
    /// Loop-carried values.
    pub carried: Vec<Carried>,
    /// The body.
    pub body: Block,
}

/// A loop-carried value.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// The value inside, defined at the start of an iteration.
    pub param: Value,
    /// Its value in the first iteration.
    pub init: Value,
    /// Its value in the next iteration.
    pub next: Value,
    /// Its value after the loop: `next` of the last iteration, or `init`.
    pub result: Value,
}

/// Values computed in the lanes where a mask is set; the computation is skipped if no lane is set.
///
/// The body computes vectors and has no effects and no loops: it does not write memory or set the status. The results
/// are blended lane by lane, so that executing the body for inactive lanes does not change them.
#[derive(Clone, Debug)]
pub struct IfAny {
    /// The lanes that need the body.
    pub mask: Value,
    /// The computation.
    pub body: Block,
    /// The values.
    pub merged: Vec<Merged>,
}

/// A vector that an [`IfAny`] computes in some lanes.
#[derive(Clone, Copy, Debug)]
pub struct Merged {
    /// The value of lanes where the mask is not set.
    pub otherwise: Value,
    /// The value of the other lanes, from the body.
    pub computed: Value,
    /// The blend, defined after the statement.
    pub result: Value,
}
