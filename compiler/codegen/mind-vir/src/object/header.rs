//! The declarations of the public functions of an object file, for C and C++.

use std::fmt::Write as _;

use crate::c::{Array, Symbol, plain};
use crate::target::CodeTarget;

/// The arrays that the functions of a file take.
#[derive(Clone, Debug)]
pub struct Ports {
    /// The weights, which are bound.
    pub weights: Vec<Array>,
    /// The inputs of a run.
    pub inputs: Vec<Array>,
    /// The outputs of a run.
    pub outputs: Vec<Array>,
}

/// Returns the text of the header for a file of [`ObjectWriter`](super::ObjectWriter) with code for `targets`.
pub fn header(name: &Symbol, ports: &Ports, targets: &[CodeTarget]) -> String {
    let targets: Vec<String> = targets.iter().map(CodeTarget::to_string).collect();
    let mut text = format!(
        "/*\n * Functions for one module, compiled for {}.\n *\n * Bind the weights once, then run as often as you like:\n *\n \
         *     void *bound = malloc({name}_bound_bytes());\n \
         *     void *workspace = malloc({name}_workspace_bytes());\n \
         *     int status = {name}_bind(weights, bound, workspace);\n \
         *     status = {name}_run(bound, inputs, outputs, workspace);\n *\n \
         * Weights are not needed once they are bound. What is bound is not moved. Several threads may run at once,\n \
         * each with its own workspace. Arrays are contiguous and row-major, at any address.\n *\n \
         * Both return 0, or a sum of: 1 an integer was divided by zero, 2 the smallest integer was divided by -1,\n \
         * 4 an index was out of bounds, 16 a loop took too many steps, 32 an array of extents holds others than the\n \
         * result's. Or 8, and nothing is done: the processor has none of the instruction sets; the numbers of bytes are\n \
         * 0 then.\n *\n",
        targets.join(", ")
    );
    let lists = [
        ("weights", &ports.weights),
        ("inputs", &ports.inputs),
        ("outputs", &ports.outputs),
    ];
    for (kind, arrays) in lists {
        for (number, array) in arrays.iter().enumerate() {
            let extents: Vec<String> = array.shape.iter().map(usize::to_string).collect();
            // Writing to a string is infallible.
            let _ = writeln!(
                text,
                " * {kind}[{number}]  {}: {}[{}], {} bytes",
                plain(&array.name),
                array.dtype,
                extents.join(", "),
                array.bytes()
            );
        }
    }
    let guard = format!("{}_H", name.to_string().to_ascii_uppercase());
    text += &format!(
        " */\n#ifndef {guard}\n#define {guard}\n\n#include <stddef.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n\
         size_t {name}_bound_bytes(void);\nsize_t {name}_workspace_bytes(void);\n\
         int {name}_bind(const void *const *weights, void *bound, void *workspace);\n\
         int {name}_run(const void *bound, const void *const *inputs, void *const *outputs, void *workspace);\n\n\
         #ifdef __cplusplus\n}}\n#endif\n\n#endif\n"
    );
    text
}
