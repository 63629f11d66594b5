//! The module's inputs.

use mind_ir::graph::Graph;
use mind_ir::opdef::Inferred;
use mind_ir::ops;
use mind_ir::verify::InferResult;

ops! {
    /// A named input of the module, of a declared type; a `param` is a weight, bound once.
    ///
    /// Shapes: as declared; any extent but a negative one.
    /// Errors: E3006 extent negative, E4004 no type, or one outside the profile.
    /// Source: mind-spec v1.0 ir.md, "Reference encoding"; mic@1 `param`; mic@2 `a` and `p`.
    Input = "core.input" {
        attrs: { name: Str, param: Bool = false },
        traits: [Interface, DeclaresType],
        names: { core: "Input", mic1: "input", mic2: "a" },
        infer: infer_input,
    }
}

fn infer_input(_: Input, _: &Graph) -> InferResult {
    Ok(Inferred::Declared)
}
