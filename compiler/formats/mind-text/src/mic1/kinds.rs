//! The node kinds of mic@1, derived from the op tables.

use mind_ir::attr::AttrKind;
use mind_ir::opdef::{OpDef, Registry, Results};
use rustc_hash::FxHashMap;

use super::form::Plain;
use super::node::{self, ReadNode, Spelling, WriteNode};
use super::special::{SPECIALS, Special};
use crate::foreign;
use crate::words::Words;

/// How a node line of a kind is read.
#[derive(Clone, Copy)]
pub(super) struct NodeKind {
    pub(super) def: &'static OpDef,
    pub(super) read: ReadNode,
    /// The canonical form of the kind's line.
    pub(super) plain: Plain,
}

/// The ops of a registry that mic@1 can express.
pub(super) struct NodeKinds {
    kinds: Words<NodeKind>,
    /// Every op of the registry, for messages.
    all: Box<[&'static OpDef]>,
    spellings: FxHashMap<usize, Spelling>,
}

impl NodeKinds {
    pub(super) fn new(registry: &Registry) -> NodeKinds {
        let is_expressible = |def: &&'static OpDef| {
            let named = matches!(def.results, Results::One | Results::Named(_));
            let regular = if def.regions == 0 {
                named
            } else {
                def.arguments.is_some()
            };
            let literal = def
                .attrs
                .iter()
                .any(|attr| attr.kind == AttrKind::LiteralData);
            let own = special(def).is_some_and(|special| special.read.is_some());
            def.names.mic1.is_some() && regular && (own || !literal)
        };
        let ops = || registry.ops().filter(is_expressible);
        NodeKinds {
            kinds: Words::new(ops().flat_map(kinds_of)),
            all: registry.ops().collect(),
            spellings: ops().map(|def| (address(def), spelling(def))).collect(),
        }
    }

    /// Returns the kind called `word`.
    #[inline]
    pub(super) fn get(&self, word: &[u8]) -> Option<&NodeKind> {
        self.kinds.get(word)
    }

    /// Returns the kind that the first word of `text` names, and the length of that word. Finds short words only.
    #[inline]
    pub(super) fn first_word(&self, text: &[u8]) -> Option<(&NodeKind, usize)> {
        self.kinds.first_word(text)
    }

    /// Returns the words of all kinds.
    pub(super) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.kinds.words()
    }

    /// Returns the op that another format or tool calls `word`.
    pub(super) fn foreign(&self, word: &str) -> Option<&'static OpDef> {
        foreign::op(word, self.all.iter().copied())
    }

    /// Returns how `def` is written; `None` if mic@1 cannot express it.
    #[inline]
    pub(super) fn spelling(&self, def: &'static OpDef) -> Option<&Spelling> {
        self.spellings.get(&address(def))
    }
}

fn special(def: &OpDef) -> Option<&'static Special> {
    SPECIALS.iter().find(|special| special.op == def.name)
}

fn kinds_of(def: &'static OpDef) -> Vec<(&'static str, NodeKind)> {
    let own = special(def).and_then(|special| special.read);
    let [plain, plain_alias] = match special(def) {
        Some(special) => special.plain,
        None => [Plain::of(def), Plain::No],
    };
    let named = NodeKind {
        def,
        read: own.unwrap_or(node::read),
        plain,
    };
    let aliases = special(def)
        .map_or(&[][..], |special| special.aliases)
        .iter();
    let aliases = aliases.map(|&(word, read)| {
        (
            word,
            NodeKind {
                def,
                read,
                plain: plain_alias,
            },
        )
    });
    def.names
        .mic1
        .map(|word| (word, named))
        .into_iter()
        .chain(aliases)
        .collect()
}

fn spelling(def: &'static OpDef) -> Spelling {
    let mut attrs: Vec<usize> = (0..def.attrs.len()).collect();
    attrs.sort_by_key(|&index| def.attrs[index].key);
    let write = special(def).and_then(|special| special.write);
    let write = write.unwrap_or(node::write as WriteNode);
    Spelling {
        kind: def.names.mic1.unwrap_or_default(),
        write,
        attrs,
    }
}

fn address(def: &'static OpDef) -> usize {
    std::ptr::from_ref(def).addr()
}
