//! The parameters of a function.

use super::builder::Builder;
use super::function::{Block, Function};
use super::op::Value;
use super::types::Type;

/// Declares the parameters of a function. They must be complete before its body, because a [`Builder`] cannot add one;
/// hence a kernel has no pointer that its caller does not know.
#[derive(Debug)]
pub struct Signature {
    function: Function,
}

impl Signature {
    /// Returns a function called `name` over vectors of `lanes` lanes.
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

    /// Adds a pointer parameter to memory of unspecified size, for which the caller of the function is responsible.
    pub fn ptr(&mut self) -> Value {
        self.param(Type::Ptr)
    }

    /// Adds a pointer parameter to a buffer of `bytes` bytes.
    pub fn buffer(&mut self, bytes: usize) -> Value {
        let value = self.ptr();
        self.function.buffers.push((value, bytes));
        value
    }

    /// Adds an index parameter.
    pub fn index(&mut self) -> Value {
        self.param(Type::Index)
    }

    /// Returns the builder of the body.
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
