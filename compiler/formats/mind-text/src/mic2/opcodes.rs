//! The opcodes of mic@2, derived from the op tables.

use mind_ir::opdef::{OpDef, Registry, Results, Trait};
use rustc_hash::FxHashMap;

use super::node::{self, ReadNode, WriteNode};
use super::reader::InputOp;
use super::special::SPECIALS;
use crate::foreign;
use crate::words::Words;

/// How a node line of an opcode is read.
#[derive(Clone, Copy)]
pub(super) struct Opcode {
    pub(super) def: &'static OpDef,
    pub(super) read: ReadNode,
    /// The number of inputs if the line consists of them only; `None` if it may hold more.
    pub(super) plain: Option<usize>,
}

/// How an op is written.
#[derive(Clone, Copy)]
pub(super) struct Spelling {
    pub(super) opcode: &'static str,
    pub(super) write: WriteNode,
}

/// The ops of a registry that mic@2 can express.
pub(super) struct Opcodes {
    pub(super) input: Option<InputOp>,
    opcodes: Words<Opcode>,
    /// Every op of the registry, for messages.
    all: Box<[&'static OpDef]>,
    spellings: FxHashMap<usize, Spelling>,
}

impl Opcodes {
    pub(super) fn new(registry: &Registry) -> Opcodes {
        let single = |def: &&'static OpDef| def.results == Results::One && def.regions == 0;
        let ops = || registry.ops().filter(single);
        let is_input = |def: &&'static OpDef| def.has(Trait::Interface) && def.names.mic2.is_some();
        let special = |def: &OpDef| SPECIALS.iter().find(|special| special.op == def.name);
        let named = |def: &'static OpDef| Some((def.names.mic2?, def)).filter(|_| !is_input(&def));
        let opcode = |(word, def): (&'static str, &'static OpDef)| {
            let regular = node::is_regular(def).then_some(node::read as ReadNode);
            let read = special(def).and_then(|special| special.read).or(regular)?;
            let plain = node::plain_arity(def).filter(|_| special(def).is_none());
            Some((word, Opcode { def, read, plain }))
        };
        let spelling = |def: &'static OpDef| {
            let opcode = def.names.mic2.unwrap_or_default();
            let says = !opcode.is_empty() && node::is_regular(def) && !is_input(&def);
            let regular = says.then_some(node::write as WriteNode);
            let write = special(def).and_then(|special| special.write).or(regular)?;
            Some((address(def), Spelling { opcode, write }))
        };
        Opcodes {
            input: ops().find(is_input).and_then(input_op),
            all: registry.ops().collect(),
            opcodes: Words::new(ops().filter_map(named).filter_map(opcode)),
            spellings: ops().filter_map(spelling).collect(),
        }
    }

    /// Returns the op called `word`.
    #[inline]
    pub(super) fn get(&self, word: &[u8]) -> Option<&Opcode> {
        self.opcodes.get(word)
    }

    /// Returns the op that the first word of `text` names, and the length of that word. Finds short words only.
    #[inline]
    pub(super) fn first_word(&self, text: &[u8]) -> Option<(&Opcode, usize)> {
        self.opcodes.first_word(text)
    }

    /// Returns every opcode.
    pub(super) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.opcodes.words()
    }

    /// Returns the op that another format or tool calls `word`.
    pub(super) fn foreign(&self, word: &str) -> Option<&'static OpDef> {
        foreign::op(word, self.all.iter().copied())
    }

    /// Returns how `def` is written; `None` if mic@2 cannot express it.
    #[inline]
    pub(super) fn spelling(&self, def: &'static OpDef) -> Option<Spelling> {
        self.spellings.get(&address(def)).copied()
    }
}

fn input_op(def: &'static OpDef) -> Option<InputOp> {
    let name = def.attr_index("name")?;
    let param = def.attr_index("param")?;
    Some(InputOp { def, name, param })
}

fn address(def: &'static OpDef) -> usize {
    std::ptr::from_ref(def).addr()
}
