//! A scratch graph, in which ops are typed, folded and evaluated before they exist in the module.
//!
//! A *signature* is an op with its attributes and operand types. Each signature has one op in the scratch graph. The
//! operands are results of placeholder ops, about which only the type is known, so the hooks of the op table can run on
//! it.

use mind_diag::Span;
use mind_ir::attr::Attr;
use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::{Folded, Op, OpDef, Results};
use mind_ir::tensor::Tensor;
use mind_ir::types::{TypeTable, TypeView};
use mind_ir::verify::infer_op;
use mind_ir::{OpId, Symbols, Ty, ValueId};
use mind_rules::Unknown;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// The inferred properties of an op over operands of given types.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signature {
    op: OpId,
    /// The type of the result; `None` if the shape rule rejects the operands.
    pub(crate) ty: Option<Ty>,
    /// The index of the operand to which the op folds whatever the values are, for example operand 0 of a reshape to
    /// its own shape.
    pub(crate) equals: Option<usize>,
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    /// The address of the op's definition.
    def: usize,
    attrs: SmallVec<[u32; 4]>,
    operands: SmallVec<[Ty; 4]>,
}

/// The scratch graph of a module. Symbols have the same ids in both; types are imported on first use.
pub(crate) struct Scratch {
    graph: Graph,
    operands: FxHashMap<(Ty, usize), ValueId>,
    signatures: FxHashMap<Key, Signature>,
    dims: DimEnv,
    /// The scratch type of each type of the module.
    imported: Vec<Option<Ty>>,
}

impl Scratch {
    /// Creates the scratch graph of `module`.
    pub(crate) fn new(module: &Graph) -> Scratch {
        let mut graph = Graph::new();
        let symbols = module.symbols();
        for index in 0..symbols.len() {
            graph.intern(symbols.get(mind_ir::Sym::new(index)));
        }
        Scratch {
            graph,
            operands: FxHashMap::default(),
            signatures: FxHashMap::default(),
            dims: DimEnv::default(),
            imported: Vec::new(),
        }
    }

    /// Returns the types of the scratch graph.
    pub(crate) fn types(&self) -> &TypeTable {
        self.graph.types()
    }

    /// Returns the names of the module's symbols.
    pub(crate) fn symbols(&self) -> &Symbols {
        self.graph.symbols()
    }

    /// Returns the id of `ty` in the scratch graph.
    pub(crate) fn intern(&mut self, ty: TypeView<'_>) -> Ty {
        self.graph.intern_type(ty)
    }

    /// Returns the scratch type that equals type `ty` of `module`.
    pub(crate) fn import(&mut self, module: &Graph, ty: Ty) -> Ty {
        if self.imported.len() <= ty.index() {
            self.imported.resize(ty.index() + 1, None);
        }
        if let Some(known) = self.imported[ty.index()] {
            return known;
        }
        let own = self.graph.intern_type(module.types().get(ty));
        self.imported[ty.index()] = Some(own);
        own
    }

    /// Returns the signature of `def` with these attributes over operands of these types. `key` holds the ids of the
    /// attributes.
    pub(crate) fn signature(
        &mut self,
        def: &'static OpDef,
        key: &[u32],
        attrs: &[Attr<'_>],
        operands: &[Ty],
    ) -> Signature {
        let key = Key {
            def: std::ptr::from_ref(def).addr(),
            attrs: key.into(),
            operands: operands.into(),
        };
        if let Some(&known) = self.signatures.get(&key) {
            return known;
        }
        let mut used: FxHashMap<Ty, usize> = FxHashMap::default();
        let mut values: SmallVec<[ValueId; 4]> = SmallVec::new();
        for &ty in operands {
            let nth = used.entry(ty).or_default();
            values.push(self.operand(ty, *nth));
            *nth += 1;
        }
        let signature = self.create(def, attrs, &values);
        self.signatures.insert(key, signature);
        signature
    }

    fn create(&mut self, def: &'static OpDef, attrs: &[Attr<'_>], values: &[ValueId]) -> Signature {
        let results = usize::from(def.results == Results::One);
        let new = NewOp {
            def,
            operands: values,
            attrs,
            results,
            span: Span::FILE,
        };
        let op = self.graph.insert(InsertPoint::End(self.graph.body()), new);
        let typed = infer_op(&mut self.graph, op)
            .ok()
            .filter(|types| types.len() == 1);
        let Some(types) = typed else {
            return Signature {
                op,
                ty: None,
                equals: None,
            };
        };
        self.graph.set_types(op, &types);
        let equals =
            def.fold
                .and_then(|fold| fold(op, &self.graph))
                .and_then(|folded| match folded {
                    Folded::Value(value) => values.iter().position(|&operand| operand == value),
                    Folded::Number(_) => None,
                });
        Signature {
            op,
            ty: Some(types[0]),
            equals,
        }
    }

    /// Returns the `nth` placeholder of type `ty`.
    fn operand(&mut self, ty: Ty, nth: usize) -> ValueId {
        if let Some(&known) = self.operands.get(&(ty, nth)) {
            return known;
        }
        let new = NewOp {
            def: Unknown::DEF,
            operands: &[],
            attrs: &[],
            results: 1,
            span: Span::FILE,
        };
        let op = self.graph.insert(InsertPoint::End(self.graph.body()), new);
        self.graph.set_types(op, &[ty]);
        let value = self.graph.result(op);
        self.operands.insert((ty, nth), value);
        value
    }

    /// Returns the result of the op of `signature` on `operands`. `None` if it must not be folded: integer overflow,
    /// division by zero, more than `limit` bytes, or a type other than the inferred one.
    pub(crate) fn evaluate(
        &self,
        signature: Signature,
        operands: &[&Tensor],
        limit: u64,
    ) -> Option<Tensor> {
        let eval = self.graph.def(signature.op).eval?;
        let cx = EvalCx::fold(&self.graph, &self.dims, limit);
        let results: SmallVec<[Tensor; 1]> = eval(signature.op, &cx, operands).ok()?;
        let [result]: [Tensor; 1] = results.into_inner().ok()?;
        let ty = self.graph.types().get(signature.ty?);
        let shape: SmallVec<[i64; 4]> = smallvec_of(ty)?;
        let same = result.dtype() == ty.dtype
            && result
                .shape()
                .iter()
                .map(|&extent| extent as i64)
                .eq(shape.iter().copied());
        same.then_some(result)
    }
}

fn smallvec_of(ty: TypeView<'_>) -> Option<SmallVec<[i64; 4]>> {
    let mut shape: SmallVec<[i64; 4]> = smallvec![];
    for dim in ty.shape {
        shape.push(dim.fixed()?);
    }
    Some(shape)
}
