//! The positions at which the classes of a choice are computed.

use smallvec::SmallVec;

use crate::egraph::language::Head;
use crate::extract::{Choice, ClassIx, Dense, DenseNode, NodeContent};
use crate::load::Loaded;

/// The most bytes, when expanded, of a splat constant that is copied into a group.
const INLINE_LIMIT: u64 = 1 << 16;

/// The position of classes that are not computed.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Returns the position in the region at which each needed class is computed. It is that of the program's first op for
/// the class, so that it dominates all readers of the program's value, or else the position of its first reader.
pub(crate) fn anchors(dense: &Dense, choice: &Choice, loaded: &Loaded<'_>) -> Vec<u32> {
    let mut anchors = vec![NOWHERE; dense.classes.len()];
    for &root in &dense.roots {
        if let Some(op) = dense.class(root).program {
            anchors[root as usize] = loaded.ops[op as usize].position;
        }
    }
    let mut order: Vec<ClassIx> = (0..dense.classes.len() as ClassIx)
        .filter(|&class| choice.needs(class))
        .collect();
    order.sort_by_key(|&class| std::cmp::Reverse((dense.class(class).rank, class)));
    for class in order {
        let Some(node) = choice.node(class) else {
            continue;
        };
        let row = dense.class(class);
        let node = dense.node(node);
        if let Some(op) = row.program {
            let anchor = &mut anchors[class as usize];
            *anchor = (*anchor).min(loaded.ops[op as usize].position);
        }
        let own = anchors[class as usize];
        let inlined = inlined(loaded, dense, choice, node);
        for (&child, inlined) in node.children.iter().zip(inlined) {
            if !inlined {
                let anchor = &mut anchors[child as usize];
                *anchor = (*anchor).min(own);
            }
        }
    }
    anchors
}

/// Returns which children of a group become constants of its body. One child remains an operand.
pub(crate) fn inlined(
    loaded: &Loaded<'_>,
    dense: &Dense,
    choice: &Choice,
    node: &DenseNode,
) -> SmallVec<[bool; 4]> {
    let store = &loaded.egraph.analysis.store;
    let small_splat = |&class: &ClassIx| {
        let Some(node) = choice.node(class) else {
            return false;
        };
        let NodeContent::Node {
            head: Head::Const,
            payload,
        } = dense.node(node).content
        else {
            return false;
        };
        let constant = store.constants.get(payload);
        let ty = store.ty(constant.ty);
        let bytes = ty
            .count()
            .map_or(u64::MAX, |count| count as u64 * ty.dtype.size() as u64);
        constant.splat && bytes <= INLINE_LIMIT
    };
    let group = matches!(node.content, NodeContent::Group(_));
    let mut inlined: SmallVec<[bool; 4]> = node
        .children
        .iter()
        .map(|child| group && small_splat(child))
        .collect();
    if inlined.iter().all(|&inlined| inlined)
        && let Some(first) = inlined.first_mut()
    {
        *first = false;
    }
    inlined
}
