//! The e-class analysis: type, constant value and facts about the elements.

use std::fmt;

use egg::{Analysis, DidMerge, EGraph, Id};
use mind_ir::Ty;
use mind_ir::opdef::Trait;
use mind_ir::tensor::Tensor;
use smallvec::SmallVec;

use super::constants::ConstId;
use super::language::{Head, Node};
use super::payload::{AttrId, AttrIds};
use super::provenance::{Origin, Provenance, Union};
use super::store::Store;
use crate::cost::CostClass;
use mind_ir::scalar::Facts;
use mind_rules::Constant;
use mind_rules::OpIx;

/// The e-graph of a region.
pub(crate) type Eg<'r> = EGraph<Node, Knowledge<'r>>;

/// The most bytes by which a folded constant may exceed its operands.
const FOLD_MARGIN: u64 = 1024;

/// The analysis data of an e-class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Data {
    pub(crate) ty: Ty,
    pub(crate) constant: Option<ConstId>,
    pub(crate) facts: Facts,
}

/// The type and facts of a leaf, known from outside the region.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct LeafData {
    pub(crate) ty: Ty,
    pub(crate) facts: Facts,
}

/// The analysis of a region, and the tables that outlive the region.
pub(crate) struct Knowledge<'r> {
    pub(crate) store: Store<'r>,
    pub(crate) leaves: Vec<LeafData>,
    pub(crate) provenance: Provenance,
    /// Whether only exact rules are applied. Other rules may unite -0 and +0, so differing constants are then not a
    /// contradiction.
    exact: bool,
    /// The data of the first two classes that were united although their types or constants differ. Such a region is
    /// kept as it is.
    pub(crate) contradiction: Option<[Data; 2]>,
}

impl fmt::Debug for Knowledge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Knowledge")
            .field("leaves", &self.leaves.len())
            .finish_non_exhaustive()
    }
}

impl<'r> Knowledge<'r> {
    /// Returns the analysis of an empty e-graph.
    pub(crate) fn new(store: Store<'r>, exact: bool) -> Knowledge<'r> {
        Knowledge {
            store,
            exact,
            leaves: Vec::new(),
            provenance: Provenance::default(),
            contradiction: None,
        }
    }
}

impl Analysis<Node> for Knowledge<'_> {
    type Data = Data;

    fn make(egraph: &mut EGraph<Node, Self>, node: &Node, id: Id) -> Data {
        egraph.analysis.provenance.added(id);
        knowledge_of(egraph, node)
    }

    fn remake(egraph: &mut EGraph<Node, Self>, node: &Node, _: Id) -> Data {
        knowledge_of(egraph, node)
    }

    fn merge(&mut self, a: &mut Data, b: Data) -> DidMerge {
        let before = *a;
        let differ = matches!((a.constant, b.constant), (Some(x), Some(y)) if x != y);
        if a.ty != b.ty || differ && self.exact {
            self.contradiction.get_or_insert([*a, b]);
        }
        a.constant = a.constant.or(b.constant);
        a.facts = a.facts.union(b.facts);
        DidMerge(*a != before, *a != b)
    }

    fn modify(egraph: &mut EGraph<Node, Self>, id: Id) {
        let Some(constant) = egraph[id].data.constant else {
            return;
        };
        let node = Node::nullary(Head::Const, constant);
        if egraph.lookup(node.clone()) == Some(egraph.find(id)) {
            return;
        }
        let provenance = &mut egraph.analysis.provenance;
        let current = std::mem::replace(&mut provenance.current, Origin::Folding);
        let folded = egraph.add_uncanonical(node);
        let provenance = &mut egraph.analysis.provenance;
        provenance.current = current;
        provenance.unions.push(Union {
            sides: [id, folded],
            origin: Origin::Folding,
        });
        egraph.union(id, folded);
    }
}

fn knowledge_of(egraph: &mut Eg<'_>, node: &Node) -> Data {
    match node.head {
        Head::Leaf => {
            let leaf = egraph.analysis.leaves[node.payload as usize];
            let dtype = egraph.analysis.store.ty(leaf.ty).dtype;
            Data {
                ty: leaf.ty,
                constant: None,
                facts: leaf.facts.union(Facts::of_dtype(dtype)),
            }
        }
        Head::Const => {
            let constant = egraph.analysis.store.constants.get(node.payload);
            let facts = egraph.analysis.store.constants.facts(node.payload);
            Data {
                ty: constant.ty,
                constant: Some(node.payload),
                facts,
            }
        }
        Head::Op(op) => {
            let ty = egraph.analysis.store.payload(node.payload).ty;
            let operands: SmallVec<[Data; 4]> = node
                .children
                .iter()
                .map(|&child| egraph[child].data)
                .collect();
            let same = node.children.len() == 2
                && egraph.find(node.children[0]) == egraph.find(node.children[1]);
            let store = &mut egraph.analysis.store;
            let constant = fold_constant(store, op, node.payload, ty, &operands);
            let facts = match constant {
                Some(constant) => store.constants.facts(constant),
                None => facts_of(store, op, ty, &operands, same),
            };
            Data {
                ty,
                constant,
                facts,
            }
        }
    }
}

fn facts_of(store: &Store<'_>, op: OpIx, ty: Ty, operands: &[Data], same: bool) -> Facts {
    let dtype = store.ty(ty).dtype;
    let own = Facts::of_dtype(dtype);
    let facts: SmallVec<[Facts; 4]> = operands.iter().map(|operand| operand.facts).collect();
    let more = match (store.ops.def(op).scalar, store.costs.class(op)) {
        (Some(function), _) if dtype.is_float() => function.facts(&facts, same),
        (Some(mind_ir::scalar::ScalarFn::Relu), _) => Facts::NONNEG,
        (None, CostClass::View | CostClass::Permute | CostClass::Move) => facts
            .into_iter()
            .reduce(Facts::intersection)
            .unwrap_or_default(),
        _ => Facts::NONE,
    };
    own.union(more)
}

/// Returns the result of `op` on constants; `None` if an operand is not constant or the op must not be folded.
fn fold_constant(
    store: &mut Store<'_>,
    op: OpIx,
    payload: u32,
    ty: Ty,
    operands: &[Data],
) -> Option<ConstId> {
    let ids: SmallVec<[ConstId; 4]> = operands
        .iter()
        .map(|operand| operand.constant)
        .collect::<Option<_>>()?;
    if ids.is_empty() {
        return None;
    }
    let splats = ids.iter().all(|&id| store.constants.get(id).splat);
    if splats {
        return fold_splats(store, op, payload, ty, &ids)
            .or_else(|| fold_dense(store, op, payload, &ids));
    }
    fold_dense(store, op, payload, &ids)
}

/// Folds ops whose result is a splat if their operands are: elementwise ops, and ops that only move elements.
fn fold_splats(
    store: &mut Store<'_>,
    op: OpIx,
    payload: u32,
    ty: Ty,
    ids: &[ConstId],
) -> Option<ConstId> {
    let def = store.ops.def(op);
    store.ty(ty).count().filter(|&count| count > 0)?;
    let elements: SmallVec<[Tensor; 4]> = ids
        .iter()
        .map(|&id| store.constants.get(id).data.clone())
        .collect();
    if def.has(Trait::Elementwise) {
        let scalars: SmallVec<[Ty; 4]> = elements
            .iter()
            .map(|element| {
                let ty = mind_ir::types::TensorType::fixed(element.dtype(), &[]);
                store.scratch.intern(ty.view())
            })
            .collect();
        let attrs: AttrIds = store.payload(payload).attrs.clone();
        let signature = store.signature(op, &attrs as &[AttrId], &scalars);
        let operands: SmallVec<[&Tensor; 4]> = elements.iter().collect();
        let result = store.scratch.evaluate(signature, &operands, FOLD_MARGIN)?;
        return foldable(&result).map(|_| store.constants.splat(ty, result));
    }
    let moves = matches!(
        store.costs.class(op),
        CostClass::View | CostClass::Permute | CostClass::Move
    );
    let one = ids.iter().all(|&id| {
        let (own, first) = (store.constants.get(id), store.constants.get(ids[0]));
        own.data.buffer().to_bytes() == first.data.buffer().to_bytes()
    });
    (moves && one).then(|| store.constants.splat(ty, elements[0].clone()))
}

fn fold_dense(store: &mut Store<'_>, op: OpIx, payload: u32, ids: &[ConstId]) -> Option<ConstId> {
    let bytes = |constant: &Constant| {
        let ty = store.ty(constant.ty);
        Some(ty.count()? as u64 * ty.dtype.size() as u64)
    };
    let mut limit = FOLD_MARGIN;
    for &id in ids {
        let constant = store.constants.get(id);
        let bytes = bytes(constant)?;
        // A splat is expanded here, which must not take more memory than the result may.
        if constant.splat && bytes > FOLD_MARGIN {
            return None;
        }
        limit += bytes;
    }
    let types: SmallVec<[Ty; 4]> = ids.iter().map(|&id| store.constants.get(id).ty).collect();
    let ty = store.payload(payload).ty;
    let work = {
        let operands: SmallVec<[_; 4]> = types.iter().map(|&ty| store.ty(ty)).collect();
        let (class, scalar) = (store.costs.class(op), store.ops.def(op).scalar);
        let model = &store.costs.model;
        model.work(class, scalar, &operands, store.ty(ty)).total()
    };
    store.fold_work = store.fold_work.checked_sub(work)?;
    let tensors: SmallVec<[Tensor; 4]> = ids
        .iter()
        .map(|&id| spelt_out(store, store.constants.get(id)))
        .collect::<Option<_>>()?;
    let attrs: AttrIds = store.payload(payload).attrs.clone();
    let signature = store.signature(op, &attrs as &[AttrId], &types);
    if signature.ty != Some(ty) {
        return None;
    }
    let operands: SmallVec<[&Tensor; 4]> = tensors.iter().collect();
    let result = store.scratch.evaluate(signature, &operands, limit)?;
    foldable(&result).map(|facts| store.constants.tensor(ty, result, facts))
}

/// Returns the constant with its splat expanded; `None` if its shape is unknown.
pub(crate) fn spelt_out(store: &Store<'_>, constant: &Constant) -> Option<Tensor> {
    if !constant.splat {
        return Some(constant.data.clone());
    }
    let shape = store.ty(constant.ty).static_shape()?;
    let shape: Vec<usize> = shape
        .into_iter()
        .map(usize::try_from)
        .collect::<Result<_, _>>()
        .ok()?;
    let count = shape.iter().product();
    Some(Tensor::new(shape, constant.data.buffer().splat(count)))
}

/// Returns the facts of a result that may be folded. NaN, infinities and empty tensors are not folded, so that they
/// arise at run time as before.
fn foldable(result: &Tensor) -> Option<Facts> {
    let facts = (result.count() > 0).then(|| Facts::of_tensor(result))?;
    facts.has(Facts::FINITE).then_some(facts)
}

/// Adds an e-node that applies `op`, or finds the operand to which `op` folds.
///
/// Returns the id of the e-node itself or the class of that operand; `None` if the op's shape rule rejects the
/// operands.
pub(crate) fn add_op(egraph: &mut Eg<'_>, op: OpIx, attrs: AttrIds, children: &[Id]) -> Option<Id> {
    let types: SmallVec<[Ty; 4]> = children
        .iter()
        .map(|&child| egraph[child].data.ty)
        .collect();
    let signature = egraph.analysis.store.signature(op, &attrs, &types);
    let ty = signature.ty?;
    if let Some(operand) = signature.equals.filter(|&operand| types[operand] == ty) {
        return Some(egraph.find(children[operand]));
    }
    Some(add_typed(egraph, op, attrs, children, ty))
}

/// Adds an e-node that applies `op` with a result of type `ty`; returns the id of the e-node itself.
pub(crate) fn add_typed(
    egraph: &mut Eg<'_>,
    op: OpIx,
    attrs: AttrIds,
    children: &[Id],
    ty: Ty,
) -> Id {
    let node = op_node(egraph, op, attrs, children, ty);
    egraph.add_uncanonical(node)
}

/// Returns the e-node that applies `op` with a result of type `ty`. Its children are canonical, and sorted if the op is
/// commutative.
pub(crate) fn op_node(
    egraph: &mut Eg<'_>,
    op: OpIx,
    attrs: AttrIds,
    children: &[Id],
    ty: Ty,
) -> Node {
    let mut children: SmallVec<[Id; 2]> = children.iter().map(|&id| egraph.find(id)).collect();
    let store = &mut egraph.analysis.store;
    if store.ops.def(op).has(Trait::Commutative) {
        children.sort_unstable();
    }
    let payload = store.intern_payload(attrs, ty);
    Node {
        head: Head::Op(op),
        payload,
        children,
    }
}
