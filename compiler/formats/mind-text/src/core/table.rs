//! Syntax of each op in Core text, derived from the op tables.

use indexmap::IndexMap;
use mind_ir::attr::AttrKind;
use mind_ir::builtin::Yield;
use mind_ir::opdef::{Op, OpDef, Registry, Trait, nearest};
use mind_ir::types::DType;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::foreign;

/// Syntax of an attribute's value, after its key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AttrSyntax {
    /// `7`
    Int,
    /// `true`
    Bool,
    /// `1.5`, a value of the dtype.
    Float(DType),
    /// `x` or `"a b"`
    Name,
    /// `[1, 2]`
    Ints,
    /// `[0, 1]`; in parentheses also `[0:4:2, 1:]`, which sets the two following attributes too.
    Starts,
    /// `[4, _]`, with an open end.
    Ends,
    /// `[2, -1, B]`
    Dims,
    /// `valid`, `same` or `[[1, 1], [0, 0]]`
    Pad,
    /// `param` or `input`
    Role,
    /// `lt`
    Word(&'static [&'static str]),
    /// `[[1.0],[2.0]]`
    Data,
    /// The element that fills a splat, instead of [`AttrSyntax::Data`].
    Fill,
    /// `f32`
    DType,
    /// The dtype of [`AttrSyntax::Data`].
    ElementType,
    /// The shape of [`AttrSyntax::Data`].
    Extents,
}

/// A key between an op's braces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) form: AttrSyntax,
    /// The attribute's index in the op's table entry.
    pub(super) row: usize,
    /// Whether its default is omitted in printing.
    pub(super) elided: bool,
}

/// Syntax of one op.
#[derive(Debug)]
pub(super) struct OpSyntax {
    pub(super) def: &'static OpDef,
    /// The printed name.
    pub(super) name: &'static str,
    /// Its keys in the order of the table entry, which is also the order of arguments in parentheses.
    pub(super) keys: Vec<Key>,
    /// Positions in `keys`, sorted by name.
    pub(super) sorted: Vec<usize>,
}

/// Syntax of an attribute that does not follow from its kind.
struct Irregular {
    op: &'static str,
    attr: &'static str,
    key: &'static str,
    form: AttrSyntax,
    elided: bool,
}

const fn irregular(
    op: &'static str,
    attr: &'static str,
    key: &'static str,
    form: AttrSyntax,
    elided: bool,
) -> Irregular {
    Irregular {
        op,
        attr,
        key,
        form,
        elided,
    }
}

const IRREGULAR: &[Irregular] = &[
    irregular("core.input", "param", "role", AttrSyntax::Role, true),
    irregular(
        "core.const_f32",
        "value",
        "value",
        AttrSyntax::Float(DType::F32),
        false,
    ),
    irregular("core.gather", "axis", "axis", AttrSyntax::Int, true),
    irregular(
        "core.transpose",
        "permutation",
        "permutation",
        AttrSyntax::Ints,
        true,
    ),
    irregular("core.slice", "starts", "starts", AttrSyntax::Starts, false),
    irregular("core.slice", "ends", "ends", AttrSyntax::Ends, false),
    irregular(
        "tensor.slice",
        "starts",
        "starts",
        AttrSyntax::Starts,
        false,
    ),
    irregular("tensor.slice", "ends", "ends", AttrSyntax::Ends, false),
    irregular("tensor.broadcast", "like", "like", AttrSyntax::Ints, true),
    irregular("tensor.reshape", "carry", "carry", AttrSyntax::Ints, true),
    irregular(
        "tensor.contract",
        "lhs_batch",
        "lhs_batch",
        AttrSyntax::Ints,
        true,
    ),
    irregular(
        "tensor.contract",
        "rhs_batch",
        "rhs_batch",
        AttrSyntax::Ints,
        true,
    ),
];

/// Attributes that are regular except that their defaults are omitted in printing, by op.
const ELIDED: &[(&str, &str)] = &[
    ("core.gather", "bounds"),
    ("tensor.contract", "parts"),
    ("loops.product", "parts"),
];

impl OpSyntax {
    fn new(def: &'static OpDef, name: &'static str) -> OpSyntax {
        let mut keys = Vec::new();
        for (row, attr) in def.attrs.iter().enumerate() {
            let key = |name, form| Key {
                name,
                form,
                row,
                elided: def.has(Trait::Interface) || ELIDED.contains(&(def.name, attr.name)),
            };
            let written = IRREGULAR
                .iter()
                .find(|entry| entry.op == def.name && entry.attr == attr.name);
            if let Some(&Irregular {
                key: name,
                form,
                elided,
                ..
            }) = written
            {
                keys.push(Key {
                    name,
                    form,
                    row,
                    elided,
                });
                continue;
            }
            let form = match attr.kind {
                AttrKind::Int => AttrSyntax::Int,
                AttrKind::Bool => AttrSyntax::Bool,
                AttrKind::Float => AttrSyntax::Float(DType::F64),
                AttrKind::Str => AttrSyntax::Name,
                AttrKind::Ints => AttrSyntax::Ints,
                AttrKind::Dims => AttrSyntax::Dims,
                AttrKind::Pad => AttrSyntax::Pad,
                AttrKind::LiteralData => AttrSyntax::Data,
                AttrKind::ElementType => AttrSyntax::DType,
                AttrKind::Word(words) => AttrSyntax::Word(words),
            };
            keys.push(key(attr.name, form));
            if form == AttrSyntax::Data {
                keys.push(key("dtype", AttrSyntax::ElementType));
                keys.push(key("shape", AttrSyntax::Extents));
                keys.push(key("fill", AttrSyntax::Fill));
            }
        }
        let mut sorted: Vec<usize> = (0..keys.len()).collect();
        sorted.sort_by_key(|&at| keys[at].name);
        let repeated = sorted
            .windows(2)
            .find(|pair| keys[pair[0]].name == keys[pair[1]].name);
        assert!(
            repeated.is_none(),
            "{}: two attributes have one key in Core text",
            def.name
        );
        OpSyntax {
            def,
            name,
            keys,
            sorted,
        }
    }

    /// Returns the position of the key called `name`.
    pub(super) fn key(&self, name: &str) -> Option<usize> {
        self.keys.iter().position(|key| key.name == name)
    }

    /// Returns the keys that are allowed in parentheses: all but `fill`, because `data` takes its place.
    pub(super) fn positional(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.keys.len()).filter(|&at| self.keys[at].form != AttrSyntax::Fill)
    }
}

/// Syntax of all ops of a registry.
#[derive(Debug)]
pub(super) struct OpTable {
    /// By the address of the definition.
    ops: IndexMap<usize, OpSyntax, FxBuildHasher>,
    by_name: FxHashMap<&'static str, usize>,
}

impl OpTable {
    /// Builds the table for the ops of `registry`.
    ///
    /// An op is printed by its name in Core text, or by its full name if it has none or an earlier op has the same;
    /// both are parsed. Panics if two attributes of one op have the same key.
    pub(super) fn new(registry: &Registry) -> OpTable {
        let mut table = OpTable {
            ops: IndexMap::default(),
            by_name: FxHashMap::default(),
        };
        let ops = registry.ops().filter(|&def| !std::ptr::eq(def, Yield::DEF));
        for (index, def) in ops.enumerate() {
            table.by_name.insert(def.name, index);
            let free = def
                .names
                .core
                .filter(|name| !table.by_name.contains_key(name));
            let name = free.unwrap_or(def.name);
            table.by_name.insert(name, index);
            let address = std::ptr::from_ref(def).addr();
            table.ops.insert(address, OpSyntax::new(def, name));
        }
        table
    }

    /// Returns every op with its printed name.
    pub(super) fn ops(&self) -> impl Iterator<Item = (&'static str, &'static OpDef)> + '_ {
        self.ops.values().map(|op| (op.name, op.def))
    }

    /// Returns the op called `name`.
    pub(super) fn named(&self, name: &str) -> Option<&OpSyntax> {
        self.by_name.get(name).map(|&index| &self.ops[index])
    }

    /// Returns the syntax of `def`, if the registry has it.
    pub(super) fn of(&self, def: &'static OpDef) -> Option<&OpSyntax> {
        self.ops.get(&std::ptr::from_ref(def).addr())
    }

    /// Returns the op that `BinOp` applies under `name`.
    pub(super) fn binary(&self, name: &str) -> Option<&OpSyntax> {
        self.named(name).filter(|op| is_binary(op.def))
    }

    /// Returns the name of the op that another tool calls `name`, else the most similar name.
    pub(super) fn nearest(&self, name: &str) -> Option<&'static str> {
        let foreign = foreign::op(name, self.ops.values().map(|op| op.def));
        let own = foreign.and_then(|def| self.of(def)).map(|op| op.name);
        own.or_else(|| nearest(name, self.ops.values().map(|op| op.name)))
    }

    /// Returns the name most similar to `name` among those allowed in `BinOp`.
    pub(super) fn nearest_binary(&self, name: &str) -> Option<&'static str> {
        let binary = || self.ops.values().filter(|op| is_binary(op.def));
        let foreign = foreign::op(name, binary().map(|op| op.def));
        let own = foreign.and_then(|def| self.of(def)).map(|op| op.name);
        own.or_else(|| nearest(name, binary().map(|op| op.name)))
    }
}

fn is_binary(def: &OpDef) -> bool {
    def.operands.len() == 2 && def.has(Trait::Elementwise)
}
