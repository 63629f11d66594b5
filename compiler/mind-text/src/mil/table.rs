//! The table entries that the text needs.

use mind_ir::opdef::{OpDef, Registry};
use rustc_hash::FxHashMap;

/// What the ops of every signature are prefixed with.
const PREFIX: &str = "mil.";

/// The entries of the mil dialect, if a registry has it.
pub(super) struct Table {
    pub(super) parts: Option<Parts>,
    by_name: FxHashMap<&'static str, &'static OpDef>,
}

/// The entries of what a program is made of.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub(super) program: &'static OpDef,
    pub(super) func: &'static OpDef,
    pub(super) input: &'static OpDef,
    pub(super) constant: &'static OpDef,
}

/// Positions of the attributes of ops that have signatures.
pub(super) const ARGS: usize = 0;
pub(super) const OUT: usize = 1;
pub(super) const NAME: usize = 2;

impl Table {
    pub(super) fn new(registry: &Registry) -> Table {
        let part = |name: &str| registry.get(name);
        let parts = || {
            Some(Parts {
                program: part("mil.program")?,
                func: part("mil.func")?,
                input: part("mil.input")?,
                constant: part("mil.const")?,
            })
        };
        let signed = |def: &&'static OpDef| {
            let names = def.attrs.iter().map(|attr| attr.name);
            def.name.starts_with(PREFIX) && names.eq(["args", "out", "name"])
        };
        let ops = registry.ops().filter(signed);
        Table {
            parts: parts(),
            by_name: ops.map(|def| (def.short_name(), def)).collect(),
        }
    }

    /// The op called `name`.
    pub(super) fn get(&self, name: &str) -> Option<&'static OpDef> {
        self.by_name.get(name).copied()
    }

    /// Whether an op of this kind has a signature.
    pub(super) fn is_op(&self, def: &'static OpDef) -> bool {
        self.get(def.short_name())
            .is_some_and(|own| std::ptr::eq(own, def))
    }

    /// Every op with its name, constants included.
    pub(super) fn ops(&self) -> impl Iterator<Item = (&'static str, &'static OpDef)> + '_ {
        let constant = self.parts.map(|parts| ("const", parts.constant));
        self.by_name
            .iter()
            .map(|(name, def)| (*name, *def))
            .chain(constant)
    }

    /// The ops' names.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.by_name.keys().copied()
    }
}

/// Whether the op is one whose arguments text may write as attributes.
pub(super) fn takes_attributes(name: &str) -> bool {
    name == "constexpr_affine_dequantize" || BEFORE_IOS18.contains(&name)
}

/// Whether a function of `opset` writes the arguments of the op as attributes: the definitions of before ios18 do.
pub(super) fn writes_attributes(name: &str, opset: &str) -> bool {
    let old = matches!(opset, "ios15" | "ios16" | "ios17");
    takes_attributes(name) && (old || !BEFORE_IOS18.contains(&name))
}

/// The element type of the result at `index` of the op, where its dtype does not say it: a sparse constant is given
/// as a mask and its elements.
pub(super) fn result_element(name: &str, index: usize) -> Option<&'static str> {
    let masked = matches!(
        name,
        "constexpr_lut_to_sparse" | "constexpr_sparse_blockwise_shift_scale"
    );
    (masked && index == 0).then_some("uint1")
}

/// Ops whose arguments were attributes until ios18 defined them anew.
const BEFORE_IOS18: [&str; 3] = [
    "constexpr_lut_to_dense",
    "constexpr_sparse_to_dense",
    "constexpr_cast",
];
