//! The parameters of a function.

use super::builder::Builder;
use super::function::{Block, Function};
use super::op::Value;
use super::types::Type;

/// Declares the parameters of a function, all of them before its body: a [`Builder`] cannot add one, so a kernel has no
/// pointer that its caller does not know.
#[derive(Debug)]
pub struct Signature {
    function: Function,
}

impl Signature {
    /// A function called `name` over vectors of `lanes` lanes.
    pub fn new(name: &str, lanes: u32) -> Signature {
        Signature {
            function: Function {
                name: name.to_owned(),
                lanes,
                types: Vec::new(),
                params: Vec::new(),
                buffers: Vec::new(),
                scratch: None,
                scratch_parts: Vec::new(),
                streamed: Vec::new(),
                constants: Vec::new(),
                body: Block::default(),
            },
        }
    }

    /// The next parameter, a pointer to memory that the caller of the function answers for.
    pub fn ptr(&mut self) -> Value {
        self.param(Type::Ptr)
    }

    /// The next parameter, a pointer to a buffer of `bytes` bytes: all that is read or written from it on.
    pub fn buffer(&mut self, bytes: usize) -> Value {
        let value = self.ptr();
        self.function.buffers.push((value, bytes));
        value
    }

    /// The next parameter, an index.
    pub fn index(&mut self) -> Value {
        self.param(Type::Index)
    }

    /// The builder of the body.
    pub fn body(self) -> Builder {
        Builder::of(self.function)
    }

    fn param(&mut self, ty: Type) -> Value {
        self.function.types.push(ty);
        let value = Value(self.function.types.len() as u32 - 1);
        self.function.params.push(value);
        value
    }
}
