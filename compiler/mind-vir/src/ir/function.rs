//! Functions of vector IR: structured loops over statements.

use super::byte_product::ByteProduct;
use super::op::{Addr, Op, Value};
use super::types::{Lane, Type};

/// A function over vectors of one number of lanes.
#[derive(Clone, Debug)]
pub struct Function {
    pub(crate) name: String,
    pub(crate) lanes: u32,
    pub(crate) types: Vec<Type>,
    pub(crate) params: Vec<Value>,
    /// Pointers with the bytes of their buffers.
    pub(crate) buffers: Vec<(Value, usize)>,
    pub(crate) scratch: Option<Scratch>,
    /// Pointers into the scratch memory with the bytes of their parts of it.
    pub(crate) scratch_parts: Vec<(Value, usize)>,
    pub(crate) streamed: Vec<Value>,
    pub(crate) constants: Vec<Constant>,
    pub(crate) body: Block,
}

impl Function {
    /// The name in the text form.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Lanes of every vector.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// The parameters: pointers and indices. The scratch memory, if there is any, is the last one.
    pub fn params(&self) -> &[Value] {
        &self.params
    }

    /// The bytes that may be read and written from where parameter `param` points to; `None` if the function leaves
    /// that to its caller.
    pub fn buffer_bytes(&self, param: Value) -> Option<usize> {
        if let Some(scratch) = self.scratch.filter(|scratch| scratch.param == param) {
            return Some(scratch.bytes);
        }
        let declared = self.buffers.iter().find(|(pointer, _)| *pointer == param);
        declared.map(|&(_, bytes)| bytes)
    }

    /// The scratch memory that a call needs; `None` if it needs none.
    pub fn scratch(&self) -> Option<Scratch> {
        self.scratch
    }

    /// Pointers at which whole vectors are written that nothing reads again soon.
    ///
    /// It is a hint: such stores may go past the caches.
    pub fn streamed(&self) -> &[Value] {
        &self.streamed
    }

    /// The vectors that are the same in every call.
    pub fn constants(&self) -> &[Constant] {
        &self.constants
    }

    /// The bits of a lane of `value`, if it is one of those.
    pub fn constant(&self, value: Value) -> Option<u64> {
        let mut constants = self.constants.iter();
        let found = constants.find(|known| known.value == value)?;
        Some(found.bits)
    }

    /// The statements.
    pub fn body(&self) -> &Block {
        &self.body
    }

    /// Whether it adds up products of bytes, for which a processor with VNNI has one instruction.
    pub fn sums_bytes(&self) -> bool {
        self.body.sums_bytes()
    }

    /// Whether it multiplies matrices of bytes.
    pub fn has_byte_products(&self) -> bool {
        self.body.has_byte_products()
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.types[value.index()]
    }

    /// How many values there are; their indices are dense.
    pub fn value_count(&self) -> usize {
        self.types.len()
    }

    /// The widest lane type of any vector; the narrowest there is if there are none.
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
    /// If the value is no vector.
    pub fn lane(&self, value: Value) -> Lane {
        match self.ty(value) {
            Type::Vector(lane) => lane,
            other => panic!("a verified function has a vector here, found {other}"),
        }
    }
}

/// Memory that one call at a time has for itself, aligned to 64 bytes. It holds anything when the call begins.
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
    /// The value it is known by.
    pub value: Value,
    /// The bits of a lane.
    pub bits: u64,
}

/// Statements, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// In the order they run.
    pub statements: Vec<Statement>,
}

impl Block {
    /// Calls `f` on every value that is computed here or further inside, in order.
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

    /// Whether it multiplies matrices of bytes.
    fn has_byte_products(&self) -> bool {
        self.statements.iter().any(|statement| match statement {
            Statement::ByteProduct(_) => true,
            Statement::Loop(node) => node.body.has_byte_products(),
            // The body of the last one only computes.
            Statement::Let(..)
            | Statement::Store { .. }
            | Statement::StoreFirst { .. }
            | Statement::Prefetch(_)
            | Statement::IfAny(_) => false,
        })
    }
}

/// What a block is made of.
#[derive(Clone, Debug)]
pub enum Statement {
    /// Computes a value.
    Let(Value, Op),
    /// Writes consecutive elements; lanes beyond `count` touch no memory.
    Store {
        /// The vector.
        value: Value,
        /// Where the first element goes.
        addr: Addr,
        /// Lanes that take part, in `0..=lanes`; all where there is none.
        count: Option<Value>,
    },
    /// Writes the first lane.
    StoreFirst {
        /// The vector.
        value: Value,
        /// Where the element goes.
        addr: Addr,
    },
    /// Asks for memory that will be read soon; has no effect on any result, wherever the address lies.
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

/// When a loop goes round again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LoopKind {
    /// While a whole step fits below the upper bound: `index + step <= upper`.
    Whole,
    /// While the index is below the upper bound: `index < upper`.
    Rest,
}

/// A counted loop.
///
/// `index` starts at `lower` and grows by `step`. `last` is its value when the loop ends, `lower` if it
/// never ran.
#[derive(Clone, Debug)]
pub struct Loop {
    /// When it goes round.
    pub kind: LoopKind,
    /// The index, defined inside.
    pub index: Value,
    /// The first index.
    pub lower: Value,
    /// The bound.
    pub upper: Value,
    /// What the index grows by, above 0.
    pub step: i64,
    /// The index at the end, defined after the loop.
    pub last: Value,
    /// Values that go from one round to the next.
    pub carried: Vec<Carried>,
    /// What is repeated.
    pub body: Block,
}

/// A value that goes from one round of a loop to the next.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// The value inside, defined at the start of a round.
    pub param: Value,
    /// What it is in the first round.
    pub init: Value,
    /// What it is in the next one.
    pub next: Value,
    /// What it is after the loop: `next` of the last round, or `init`.
    pub result: Value,
}

/// Values that are computed where a mask holds, by statements that are skipped if it holds nowhere.
///
/// The body computes vectors and does nothing else: it writes no memory and sets no status, and has no loops. The results
/// are merged lane by lane, so that it makes no difference whether the body runs where no lane needs it.
#[derive(Clone, Debug)]
pub struct IfAny {
    /// The lanes that need the body.
    pub mask: Value,
    /// What computes the values.
    pub body: Block,
    /// The values.
    pub merged: Vec<Merged>,
}

/// A vector that an [`IfAny`] computes in some lanes.
#[derive(Clone, Copy, Debug)]
pub struct Merged {
    /// What the lanes hold that do not need the body.
    pub otherwise: Value,
    /// What the others hold, from the body.
    pub computed: Value,
    /// Both, after the statement.
    pub result: Value,
}
