//! Source locations of names, for tools that show and edit a text.

use mind_diag::Span;
use mind_ir::ValueId;
use mind_ir::opdef::OpDef;
use rustc_hash::FxHashMap;

/// The entity that a name refers to.
#[derive(Clone, Copy, Debug)]
pub enum Entity {
    /// A value, by its number in the text; in MIL by the offset of its definition.
    Value(u64),
    /// An entry of a table of types, by its number.
    Type(u64),
    /// An entry of a table of names, by its number.
    Name(u64),
    /// A dimension symbol, by its number in the order in which symbols were read.
    Symbol(u32),
    /// An op.
    Op(&'static OpDef),
    /// An attribute of an op, by its position in the table entry; in MIL an argument or attribute, without a position.
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

/// Role of an occurrence of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Declares the entity.
    Definition,
    /// Begins the line that defines a value without naming it, for example an opcode of mic@2.
    Implicit,
    /// Reads or uses the entity.
    Reference,
}

/// An occurrence of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Occurrence {
    /// The bytes of the name.
    pub span: Span,
    /// The entity that the name refers to.
    pub entity: Entity,
    /// The role of the name here.
    pub role: Role,
}

/// The names of one text, recorded while it is read. A line with an error contributes the names before the error.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    occurrences: Vec<Occurrence>,
    values: FxHashMap<u64, ValueId>,
}

impl SourceMap {
    /// Creates an empty map.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Returns all occurrences in text order.
    pub fn occurrences(&self) -> &[Occurrence] {
        &self.occurrences
    }

    /// Returns the graph value of an [`Entity::Value`]; `None` if its line was rejected.
    pub fn value(&self, number: u64) -> Option<ValueId> {
        self.values.get(&number).copied()
    }

    /// Adds an occurrence.
    pub fn record(&mut self, span: Span, entity: Entity, role: Role) {
        self.occurrences.push(Occurrence { span, entity, role });
    }

    /// Sets the graph value of the entity with `number`.
    pub fn bind(&mut self, number: u64, value: ValueId) {
        self.values.insert(number, value);
    }

    /// Sorts the occurrences in text order.
    pub fn sort(&mut self) {
        self.occurrences
            .sort_by_key(|found| (found.span.start, found.span.end));
        self.occurrences.dedup();
    }
}
