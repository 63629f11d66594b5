//! Inputs.

use mind_core::ops::input::Input as CoreInput;
use mind_ir::opdef::Op;
use mind_ir::types::{DType, TensorType};
use mind_mil::structure::Input;

use crate::emit::{Emit, Imported};
use crate::refuse::Refused;
use crate::whole::only_indexes;

/// An input of core of the same name. One of narrow integers that only indexes gathers, cast or not, becomes `i32`,
/// since core's gathers take no narrower ones.
///
/// # Errors
///
/// A state.
pub(crate) fn input(input: Input, e: &mut Emit<'_>) -> Imported {
    let g = e.g();
    if input.state(g) {
        return Err(Refused::new("core keeps no state between runs"));
    }
    let value = input.result(g);
    let ty = g.ty(value);
    let narrow = matches!(ty.dtype, DType::U8 | DType::I8 | DType::U16 | DType::I16);
    let dtype = if narrow && only_indexes(g, value) {
        DType::I32
    } else {
        ty.dtype
    };
    let ty = TensorType::new(dtype, ty.shape.iter().copied());
    let ty = e.b.graph.intern_type(ty.view());
    let attrs = CoreInput::attrs(input.name(e.g()), false, None);
    let op = e.b.create_typed(CoreInput::DEF, &[], &attrs, &[ty]);
    Ok(e.g().result(op))
}
