//! Bodies of products and convolutions.

use mind_ir::graph::Graph;
use mind_ir::opdef::OpDef;
use mind_ir::verify::VerifyError;
use mind_ir::{BlockId, OpId};

/// Checks that the body has exactly one op `primitive`, and that its operands are the first two arguments, which have
/// no other uses.
///
/// # Errors
///
/// An error without a code, because the structure of the graph is broken.
pub(crate) fn check_single(
    g: &Graph,
    op: &'static str,
    body: BlockId,
    primitive: &'static OpDef,
) -> Result<(), VerifyError> {
    let broken = |problem: String| Err(VerifyError::Structure { problem });
    let name = primitive.name;
    let of_kind = |inner: &OpId| std::ptr::eq(g.def(*inner), primitive);
    let found: Vec<OpId> = g.ops(body).filter(of_kind).collect();
    let &[only] = &found[..] else {
        return broken(format!(
            "the body of `{op}` holds one `{name}`, found {}",
            found.len()
        ));
    };
    let arguments = g.arguments(body);
    let sides = [arguments.get(0), arguments.get(1)];
    if g.operands(only) != sides {
        return broken(format!(
            "`{name}` takes the first two arguments of its body"
        ));
    }
    if sides.iter().any(|&side| !g.uses(side).is_single()) {
        return broken(format!(
            "the first two arguments of the body of `{op}` are read by `{name}` alone"
        ));
    }
    Ok(())
}
