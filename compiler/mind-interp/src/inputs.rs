//! The inputs of a module.

use std::collections::BTreeMap;

use mind_ir::attr::Attr;
use mind_ir::opdef::Trait;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, TypeView};
use mind_ir::{Graph, OpId};

/// Arrays by the name of their input.
pub type Arrays = BTreeMap<String, Tensor>;

/// The dtype and the extents of an array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArrayType {
    /// The element type.
    pub dtype: DType,
    /// The extents, outermost first.
    pub shape: Vec<usize>,
}

impl ArrayType {
    /// The type of `array`.
    pub fn of(array: &Tensor) -> ArrayType {
        ArrayType {
            dtype: array.dtype(),
            shape: array.shape().to_vec(),
        }
    }
}

/// The types of arrays by the name of the input they are for.
pub type ArrayTypes = BTreeMap<String, ArrayType>;

/// An input of a module.
#[derive(Clone, Copy, Debug)]
pub struct InputSpec<'g> {
    /// The name of the array that it is bound to. Inputs with the same name are bound to the same array.
    pub name: &'g str,
    /// The declared type.
    pub ty: TypeView<'g>,
    /// Whether it is a weight, which is bound once, and not an argument of every call.
    pub param: bool,
    /// The op that declares it.
    pub op: OpId,
}

/// Returns the inputs of a verified module, in order: its [`Trait::Interface`] ops with an attribute `name`. They are
/// weights if their attribute `param` is true.
///
/// # Panics
///
/// If an input is untyped.
pub fn inputs(g: &Graph) -> Vec<InputSpec<'_>> {
    g.ops(g.body()).filter_map(|op| input(g, op)).collect()
}

fn input(g: &Graph, op: OpId) -> Option<InputSpec<'_>> {
    let def = g.def(op);
    if !def.has(Trait::Interface) {
        return None;
    }
    let Attr::Str(name) = g.attr(op, def.attr_index("name")?) else {
        return None;
    };
    let param = def.attr_index("param").map(|index| g.attr(op, index));
    Some(InputSpec {
        name: g.name(name),
        ty: g.ty(g.result(op)),
        param: param == Some(Attr::Bool(true)),
        op,
    })
}
