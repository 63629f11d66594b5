//! Numbering of the ops that e-nodes can apply.

use mind_ir::attr::AttrKind;
use mind_ir::opdef::{OpDef, Registry, Results, Trait};
use rustc_hash::FxHashMap;

/// The number of an op in an [`OpTable`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OpIx(u16);

impl OpIx {
    /// Returns this number as an index.
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// The ops of a registry, numbered in registry order. They are followed by the projections: each result of a
/// multi-result op has its own number, under which patterns match it.
#[derive(Debug)]
pub struct OpTable {
    defs: Vec<&'static OpDef>,
    /// Multi-result ops, each with a result index.
    projections: Vec<(&'static OpDef, usize)>,
    /// Keyed by the address of the definition, which is its identity.
    numbers: FxHashMap<usize, Numbered>,
}

/// The number and properties of an op.
#[derive(Clone, Copy, Debug)]
struct Numbered {
    number: OpIx,
    is_transparent: bool,
}

impl OpTable {
    /// Numbers the ops of `registry`; ops after the first 65,536 are ignored.
    pub fn new(registry: &Registry) -> OpTable {
        let defs: Vec<&'static OpDef> = registry.ops().take(1 << 16).collect();
        let numbers = defs.iter().enumerate().map(|(at, &def)| {
            let number = OpIx(at as u16);
            let is_transparent = is_transparent(def);
            (
                address(def),
                Numbered {
                    number,
                    is_transparent,
                },
            )
        });
        OpTable {
            numbers: numbers.collect(),
            projections: projections(&defs),
            defs,
        }
    }

    /// Returns the number of `def`; `None` if it is not in the registry.
    pub fn number(&self, def: &'static OpDef) -> Option<OpIx> {
        self.numbers.get(&address(def)).map(|row| row.number)
    }

    /// Returns the definition of `op`.
    pub fn def(&self, op: OpIx) -> &'static OpDef {
        match op.index().checked_sub(self.defs.len()) {
            None => self.defs[op.index()],
            Some(projection) => self.projections[projection].0,
        }
    }

    /// Returns whether `op` is a projection, that is one result of a multi-result op.
    pub fn is_projection(&self, op: OpIx) -> bool {
        op.index() >= self.defs.len()
    }

    /// Returns the result index of `op`; 0 if it is not a projection.
    pub fn result(&self, op: OpIx) -> usize {
        let projection = op.index().checked_sub(self.defs.len());
        projection.map_or(0, |projection| self.projections[projection].1)
    }

    /// Returns the number of a result of `def`; `None` unless `def` is pure, has several results and shape inference,
    /// and has neither regions nor a literal.
    pub fn projection(&self, def: &'static OpDef, result: usize) -> Option<OpIx> {
        let own = |&(other, number): &(&OpDef, usize)| std::ptr::eq(other, def) && number == result;
        let at = self.defs.len() + self.projections.iter().position(own)?;
        u16::try_from(at).ok().map(OpIx)
    }

    /// Returns all definitions, in order.
    pub fn defs(&self) -> &[&'static OpDef] {
        &self.defs
    }

    /// Returns the number of `def` if it can be represented as an e-node: pure, with one result, shape inference and no
    /// regions.
    pub fn transparent(&self, def: &'static OpDef) -> Option<OpIx> {
        let row = self.numbers.get(&address(def))?;
        row.is_transparent.then_some(row.number)
    }
}

/// Returns whether this op can be represented as an e-node.
fn is_transparent(def: &OpDef) -> bool {
    let opaque = [
        Trait::Interface,
        Trait::DeclaresType,
        Trait::Terminator,
        Trait::Constant,
    ];
    def.results == Results::One
        && def.infer.is_some()
        && is_function(def)
        && !opaque.into_iter().any(|each| def.has(each))
}

/// Returns whether the results of an op depend only on its operands and on attributes that rules can express.
fn is_function(def: &OpDef) -> bool {
    let mut attrs = def.attrs.iter();
    def.has(Trait::Pure) && def.regions == 0 && attrs.all(|attr| attr.kind != AttrKind::LiteralData)
}

/// Returns each result of each multi-result op.
fn projections(defs: &[&'static OpDef]) -> Vec<(&'static OpDef, usize)> {
    let several = defs.iter().filter_map(|&def| match def.results {
        Results::Named(names) if is_function(def) && def.infer.is_some() => Some((def, names)),
        Results::None | Results::One | Results::Named(_) | Results::Many => None,
    });
    several
        .flat_map(|(def, names)| (0..names.len()).map(move |result| (def, result)))
        .collect()
}

fn address(def: &'static OpDef) -> usize {
    std::ptr::from_ref(def).addr()
}
