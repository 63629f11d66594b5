//! Names for unknown extents of inputs.

use mind_ir::Graph;
use mind_ir::types::{Dim, Shape, TypeView};
use mind_mil::structure::Input;

/// Gives each unknown extent of an input a symbol named after input and axis, e.g. `x_0`, and returns whether there was
/// one.
pub(crate) fn name_extents(g: &mut Graph) -> bool {
    let inputs: Vec<Input> = g
        .ops(g.body())
        .filter_map(|op| g.view::<Input>(op))
        .collect();
    let mut has_open = false;
    for input in inputs {
        let value = input.result(g);
        let ty = g.ty(value);
        let (dtype, mut shape) = (ty.dtype, Shape::from_slice(ty.shape));
        if !shape.contains(&Dim::Dynamic) {
            continue;
        }
        has_open = true;
        let name = g.name(input.name(g)).to_owned();
        for (axis, dim) in shape.iter_mut().enumerate() {
            if *dim == Dim::Dynamic {
                *dim = Dim::Symbol(g.intern(&format!("{name}_{axis}")));
            }
        }
        let shape = &shape;
        let ty = g.intern_type(TypeView { dtype, shape });
        g.set_type(value, ty);
        g.declare(value, ty);
    }
    has_open
}
