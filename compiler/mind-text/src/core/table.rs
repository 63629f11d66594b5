//! How each op looks in Core text, derived from the op tables.

use indexmap::IndexMap;
use mind_ir::attr::AttrKind;
use mind_ir::builtin::Yield;
use mind_ir::opdef::{Op, OpDef, Registry, Trait, nearest};
use mind_ir::types::DType;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::foreign;

/// What is written behind an attribute's key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
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
    /// `[0, 1]`; in parentheses also `[0:4:2, 1:]`, which gives the two attributes behind it too.
    Starts,
    /// `[4, _]`, the last one open.
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
    /// The element that stands for all elements of [`Form::Data`].
    Fill,
    /// `f32`
    DType,
    /// The dtype of [`Form::Data`].
    ElementType,
    /// The shape of [`Form::Data`].
    Extents,
}

/// A key between an op's braces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) form: Form,
    /// The row of the op's table entry that it belongs to.
    pub(super) row: usize,
    /// Whether it is not printed while it has its default.
    pub(super) elided: bool,
}

/// How one op looks.
#[derive(Debug)]
pub(super) struct OpSyntax {
    pub(super) def: &'static OpDef,
    /// The name that is printed.
    pub(super) name: &'static str,
    /// Its keys in the order of the table entry; this is also the order of arguments in parentheses.
    pub(super) keys: Vec<Key>,
    /// Positions in `keys`, by name.
    pub(super) sorted: Vec<usize>,
}

/// What an attribute looks like where its kind does not say it.
struct Irregular {
    op: &'static str,
    attr: &'static str,
    key: &'static str,
    form: Form,
    elided: bool,
}

const fn irregular(
    op: &'static str,
    attr: &'static str,
    key: &'static str,
    form: Form,
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
    irregular("core.input", "param", "role", Form::Role, true),
    irregular(
        "core.const_f32",
        "value",
        "value",
        Form::Float(DType::F32),
        false,
    ),
    irregular("core.gather", "axis", "axis", Form::Int, true),
    irregular(
        "core.transpose",
        "permutation",
        "permutation",
        Form::Ints,
        true,
    ),
    irregular("core.slice", "starts", "starts", Form::Starts, false),
    irregular("core.slice", "ends", "ends", Form::Ends, false),
    irregular("tensor.slice", "starts", "starts", Form::Starts, false),
    irregular("tensor.slice", "ends", "ends", Form::Ends, false),
    irregular("tensor.broadcast", "like", "like", Form::Ints, true),
    irregular("tensor.reshape", "carry", "carry", Form::Ints, true),
    irregular(
        "tensor.contract",
        "lhs_batch",
        "lhs_batch",
        Form::Ints,
        true,
    ),
    irregular(
        "tensor.contract",
        "rhs_batch",
        "rhs_batch",
        Form::Ints,
        true,
    ),
];

/// Attributes that are regular and not printed while they have their defaults, by op.
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
                AttrKind::Int => Form::Int,
                AttrKind::Bool => Form::Bool,
                AttrKind::Float => Form::Float(DType::F64),
                AttrKind::Str => Form::Name,
                AttrKind::Ints => Form::Ints,
                AttrKind::Dims => Form::Dims,
                AttrKind::Pad => Form::Pad,
                AttrKind::LiteralData => Form::Data,
                AttrKind::ElementType => Form::DType,
                AttrKind::Word(words) => Form::Word(words),
            };
            keys.push(key(attr.name, form));
            if form == Form::Data {
                keys.push(key("dtype", Form::ElementType));
                keys.push(key("shape", Form::Extents));
                keys.push(key("fill", Form::Fill));
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

    /// The position of the key called `name`.
    pub(super) fn key(&self, name: &str) -> Option<usize> {
        self.keys.iter().position(|key| key.name == name)
    }

    /// The keys that may stand in parentheses: all but `fill`, which `data` stands for.
    pub(super) fn positional(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.keys.len()).filter(|&at| self.keys[at].form != Form::Fill)
    }
}

/// How every op of a registry looks.
#[derive(Debug)]
pub(super) struct OpTable {
    /// By the address of the definition.
    ops: IndexMap<usize, OpSyntax, FxBuildHasher>,
    by_name: FxHashMap<&'static str, usize>,
}

impl OpTable {
    /// The table for the ops of `registry`.
    ///
    /// An op is printed by its name in Core text, or by its full name where it has none or an earlier op
    /// took it; either is read. Panics when two attributes of one op have the same key.
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

    /// Every op with the name that is printed.
    pub(super) fn ops(&self) -> impl Iterator<Item = (&'static str, &'static OpDef)> + '_ {
        self.ops.values().map(|op| (op.name, op.def))
    }

    /// The op called `name`.
    pub(super) fn named(&self, name: &str) -> Option<&OpSyntax> {
        self.by_name.get(name).map(|&index| &self.ops[index])
    }

    /// How `def` looks, if the registry has it.
    pub(super) fn of(&self, def: &'static OpDef) -> Option<&OpSyntax> {
        self.ops.get(&std::ptr::from_ref(def).addr())
    }

    /// The op that `BinOp` applies under `name`.
    pub(super) fn binary(&self, name: &str) -> Option<&OpSyntax> {
        self.named(name).filter(|op| is_binary(op.def))
    }

    /// The name of the op that `name` means: what another tool calls so, else the name most like it.
    pub(super) fn nearest(&self, name: &str) -> Option<&'static str> {
        let foreign = foreign::op(name, self.ops.values().map(|op| op.def));
        let own = foreign.and_then(|def| self.of(def)).map(|op| op.name);
        own.or_else(|| nearest(name, self.ops.values().map(|op| op.name)))
    }

    /// The name most like `name` that may stand in `BinOp`.
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
