//! Imports inputs.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::input::Input as CoreInput;
use mind_ir::opdef::Op;
use mind_mil::structure::Input;

use crate::emit::{Emit, One};

/// Returns a core input with the same name and type.
///
/// # Errors
///
/// If the input is a state.
pub(crate) fn input(input: Input, e: &mut Emit<'_>) -> One {
    let g = e.g();
    if input.state(g) {
        return Err(Refusal::no_counterpart("core keeps no state between runs"));
    }
    let value = input.result(g);
    let ty = g.type_id(value).expect("a verified value has a type");
    let attrs = CoreInput::attrs(input.name(e.g()), false, None);
    let op = e.b.create_typed(CoreInput::DEF, &[], &attrs, &[ty]);
    Ok(e.g().result(op))
}
