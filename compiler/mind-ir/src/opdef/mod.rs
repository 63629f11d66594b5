//! Op tables: the declarations of ops.

mod constructor;
mod def;
pub mod families;
mod registry;
mod table;

pub use constructor::default_attrs;
pub use def::{
    AttrDef, DOC_SECTIONS, EvalHook, FoldHook, Folded, InferHook, Inferred, Names, Op, OpDef,
    Operand, OperandClass, Repeat, Results, Trait,
};
pub use registry::{Dialect, Registry, nearest};
