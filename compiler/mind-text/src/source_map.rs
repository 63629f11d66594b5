//! Where the names of a text stand, for tools that show and edit it.

use mind_diag::Span;
use mind_ir::ValueId;
use mind_ir::opdef::OpDef;
use rustc_hash::FxHashMap;

/// What a name in a text stands for.
#[derive(Clone, Copy, Debug)]
pub enum Entity {
    /// A value, by the number it has in the text; in MIL by the offset of its definition.
    Value(u64),
    /// An entry of a table of types, by its number.
    Type(u64),
    /// An entry of a table of names, by its number.
    Name(u64),
    /// A dimension symbol, by its number in the order in which symbols were read.
    Symbol(u32),
    /// An op.
    Op(&'static OpDef),
    /// The attribute of an op, by its position in the table entry; in MIL an argument or attribute, by
    /// none.
    Attr(&'static OpDef, Option<usize>),
    /// A dtype.
    DType,
    /// A function of a program.
    Function,
}

impl PartialEq for Entity {
    fn eq(&self, other: &Entity) -> bool {
        match (self, other) {
            (Entity::Value(a), Entity::Value(b))
            | (Entity::Type(a), Entity::Type(b))
            | (Entity::Name(a), Entity::Name(b)) => a == b,
            (Entity::Symbol(a), Entity::Symbol(b)) => a == b,
            (Entity::Op(a), Entity::Op(b)) => std::ptr::eq(*a, *b),
            (Entity::Attr(a, at), Entity::Attr(b, other)) => std::ptr::eq(*a, *b) && at == other,
            (Entity::DType, Entity::DType) | (Entity::Function, Entity::Function) => true,
            _ => false,
        }
    }
}

impl Eq for Entity {}

/// What a name does where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It declares what it stands for.
    Definition,
    /// It begins the line that defines a value without naming it, as the opcodes of mic@2 do.
    Implicit,
    /// It reads or uses what it stands for.
    Reference,
}

/// A name where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Occurrence {
    /// Where.
    pub span: Span,
    /// What it stands for.
    pub entity: Entity,
    /// What it does.
    pub role: Role,
}

/// The names of one text, filled while it is read. Lines with errors give those in front of the error.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    occurrences: Vec<Occurrence>,
    values: FxHashMap<u64, ValueId>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Every name in the order of the text.
    pub fn occurrences(&self) -> &[Occurrence] {
        &self.occurrences
    }

    /// The value of the graph that [`Entity::Value`] stands for; `None` if its line was rejected.
    pub fn value(&self, number: u64) -> Option<ValueId> {
        self.values.get(&number).copied()
    }

    /// Adds a name.
    pub fn record(&mut self, span: Span, entity: Entity, role: Role) {
        self.occurrences.push(Occurrence { span, entity, role });
    }

    /// Says which value of the module has `number`.
    pub fn bind(&mut self, number: u64, value: ValueId) {
        self.values.insert(number, value);
    }

    /// Puts the names in the order of the text.
    pub fn sort(&mut self) {
        self.occurrences
            .sort_by_key(|found| (found.span.start, found.span.end));
        self.occurrences.dedup();
    }
}
