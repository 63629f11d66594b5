//! The ops that e-nodes can apply, numbered.

use mind_ir::attr::AttrKind;
use mind_ir::opdef::{OpDef, Registry, Results, Trait};
use rustc_hash::FxHashMap;

/// The number of an op in an [`OpTable`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OpIx(u16);

impl OpIx {
    /// This number as an index.
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// The rows of a registry, numbered in its order. Behind them, the results of each op of several have a number each, under
/// which patterns match them.
#[derive(Debug)]
pub struct OpTable {
    defs: Vec<&'static OpDef>,
    /// Ops of several results, with the number of one of them.
    projections: Vec<(&'static OpDef, usize)>,
    /// By the row's address, which is its identity.
    numbers: FxHashMap<usize, Numbered>,
}

/// What is known of a row.
#[derive(Clone, Copy, Debug)]
struct Numbered {
    number: OpIx,
    is_transparent: bool,
}

impl OpTable {
    /// Numbers the ops of `registry`; those past 65,536 are not looked into.
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

    /// The number of `def`, if the registry has it.
    pub fn number(&self, def: &'static OpDef) -> Option<OpIx> {
        self.numbers.get(&address(def)).map(|row| row.number)
    }

    /// The row of `op`.
    pub fn def(&self, op: OpIx) -> &'static OpDef {
        match op.index().checked_sub(self.defs.len()) {
            None => self.defs[op.index()],
            Some(projection) => self.projections[projection].0,
        }
    }

    /// Whether `op` is one result of an op of several.
    pub fn is_projection(&self, op: OpIx) -> bool {
        op.index() >= self.defs.len()
    }

    /// Which result of its row `op` is.
    pub fn result(&self, op: OpIx) -> usize {
        let projection = op.index().checked_sub(self.defs.len());
        projection.map_or(0, |projection| self.projections[projection].1)
    }

    /// The number of one result of `def`, if that is pure, has several results and no regions, and its shape rule gives
    /// their types.
    pub fn projection(&self, def: &'static OpDef, result: usize) -> Option<OpIx> {
        let own = |&(other, number): &(&OpDef, usize)| std::ptr::eq(other, def) && number == result;
        let at = self.defs.len() + self.projections.iter().position(own)?;
        u16::try_from(at).ok().map(OpIx)
    }

    /// Every row, in order.
    pub fn defs(&self) -> &[&'static OpDef] {
        &self.defs
    }

    /// The number of `def` if e-nodes may stand for it: pure, of one result whose type its shape rule
    /// gives, without regions.
    pub fn transparent(&self, def: &'static OpDef) -> Option<OpIx> {
        let row = self.numbers.get(&address(def))?;
        row.is_transparent.then_some(row.number)
    }
}

/// Whether e-nodes may stand for ops of this row.
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

/// Whether the results of an op follow from its operands and its attributes, which rules can say.
fn is_function(def: &OpDef) -> bool {
    let mut attrs = def.attrs.iter();
    def.has(Trait::Pure) && def.regions == 0 && attrs.all(|attr| attr.kind != AttrKind::LiteralData)
}

/// Each result of the ops of several.
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
