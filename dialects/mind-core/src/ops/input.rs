//! Inputs of the module.

use mind_diag::Code;
use mind_ir::graph::Graph;
use mind_ir::opdef::Inferred;
use mind_ir::ops;
use mind_ir::types::{DType, Stored};
use mind_ir::verify::{InferResult, VerifyError};

ops! {
    /// A named input of the module, of a declared type. A `param` is a weight, which is bound once.
    ///
    /// `stored` is the storage format of an `f32` weight that is block-quantised along its rows; a `dense` weight is
    /// stored as declared. mic@1 and mic@2 cannot express it. Programs that share packed weights, as those of models
    /// do, read the quantised blocks of a matrix that is only used as the transposed right side of products. All other
    /// programs receive the dequantised weight. The bits of the results are the same.
    ///
    /// Shapes: as declared; any extent but a negative one.
    /// Errors: E3006 extent negative, E4004 no type, or one outside of the profile, E4022 `stored` of an input that is
    /// not an `f32` weight, or of rows that are not whole blocks.
    /// Source: mind-spec v1.0 ir.md, "Reference encoding"; mic@1 `param`; mic@2 `a` and `p`.
    Input = "core.input" {
        attrs: { name: Str, param: Bool = false, stored: Stored = None },
        traits: [Interface, DeclaresType],
        names: { core: "Input", mic1: "input", mic2: "a" },
        infer: infer_input,
        core_v1: |op, g| op.stored(g).is_none(),
    }
}

fn infer_input(op: Input, g: &Graph) -> InferResult {
    match stored_problem(op, g) {
        None => Ok(Inferred::Declared),
        Some((problem, help)) => Err(Box::new(VerifyError::Dialect {
            code: Code(4022),
            problem,
            help: Some(help),
        })),
    }
}

/// Returns why a weight cannot be stored as `stored`, and a way out.
fn stored_problem(op: Input, g: &Graph) -> Option<(String, String)> {
    let format = op.stored(g)?;
    let ty = g.types().get(g.declared(op.result(g))?);
    let is_f32 = ty.dtype == DType::F32;
    if !op.param(g) || !is_f32 {
        let problem = format!("an input stored as {} is a weight of f32", format.name());
        return Some((problem, "write `role=param` and dtype f32".to_owned()));
    }
    let row = ty.shape.last().and_then(|dim| dim.fixed());
    let is_whole = row.is_some_and(|row| row % format.elements() as i64 == 0);
    (!is_whole).then(|| {
        let problem = format!("a row stored as {} consists of whole blocks", format.name());
        let help = format!("the last extent is a multiple of {}", format.elements());
        (problem, help)
    })
}
