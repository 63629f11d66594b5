//! Names in a document, independent of its language.

use std::ops::Range;

use mind_ir::opdef::OpDef;
use mind_text::{Entity, Role, SourceMap};

/// The kind of a declared name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum NameKind {
    /// A value of a module, or one that a rule matches.
    Value,
    /// An entry of a type table.
    Type,
    /// An entry of a string table.
    Text,
    /// A symbolic dimension.
    Dimension,
    /// A function of a program.
    Function,
    /// A rule.
    Rule,
    /// An attribute, dtype or shape that a rule binds.
    Binding,
}

/// A declared entity, by its number among those of its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Symbol {
    pub(crate) kind: NameKind,
    pub(crate) number: u64,
}

/// The entity that a name refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Referent {
    /// An entity that the document declares.
    Symbol(Symbol),
    /// An op.
    Op(&'static OpDef),
    /// An attribute of an op, by its index in the op's definition if it is declared there.
    Attr(&'static OpDef, Option<usize>),
    /// A dtype.
    DType,
    /// A function or predicate of rule files.
    Call(&'static str),
    /// A keyword of the language.
    Keyword,
}

/// An occurrence of a name.
#[derive(Clone, Debug)]
pub(crate) struct Occurrence {
    pub(crate) range: Range<usize>,
    pub(crate) referent: Referent,
    pub(crate) role: Role,
}

impl Occurrence {
    /// Returns the symbol that it declares or refers to, if the document declares it.
    pub(crate) fn symbol(&self) -> Option<Symbol> {
        match self.referent {
            Referent::Symbol(symbol) => Some(symbol),
            _ => None,
        }
    }

    /// Returns whether it is a declaration.
    pub(crate) fn declares(&self) -> bool {
        self.role != Role::Reference && self.symbol().is_some()
    }
}

/// The names of one document, in text order.
#[derive(Debug, Default)]
pub(crate) struct Names {
    all: Vec<Occurrence>,
}

impl Names {
    /// Creates the names `all`, which must be in text order.
    pub(crate) fn new(all: Vec<Occurrence>) -> Names {
        Names { all }
    }

    /// Returns the names that a parser recorded.
    pub(crate) fn of_map(map: &SourceMap) -> Names {
        let found = map.occurrences().iter().map(|found| {
            let symbol = |kind, number| Referent::Symbol(Symbol { kind, number });
            let range = found.span.start as usize..found.span.end as usize;
            let referent = match found.entity {
                Entity::Value(number) => symbol(NameKind::Value, number),
                Entity::Type(number) => symbol(NameKind::Type, number),
                Entity::Name(number) => symbol(NameKind::Text, number),
                Entity::Symbol(number) => symbol(NameKind::Dimension, number.into()),
                Entity::Function => symbol(NameKind::Function, range.start as u64),
                Entity::Op(def) => Referent::Op(def),
                Entity::Attr(def, at) => Referent::Attr(def, at),
                Entity::DType => Referent::DType,
            };
            Occurrence {
                range,
                referent,
                role: found.role,
            }
        });
        Names::new(found.collect())
    }

    /// Returns every name.
    pub(crate) fn all(&self) -> &[Occurrence] {
        &self.all
    }

    /// Returns the names that contain `offset` or end at it, those that begin last first.
    pub(crate) fn at(&self, offset: usize) -> impl Iterator<Item = &Occurrence> {
        /// The maximal number of names that end at one offset.
        const NEAR: usize = 4;
        let end = self
            .all
            .partition_point(|found| found.range.start <= offset);
        let near = self.all[end.saturating_sub(NEAR)..end].iter().rev();
        near.filter(move |found| offset <= found.range.end)
    }

    /// Returns the names that begin in `range`.
    pub(crate) fn within(&self, range: &Range<usize>) -> impl Iterator<Item = &Occurrence> {
        let before = |bound: usize| self.all.partition_point(|found| found.range.start < bound);
        let end = before(range.end);
        self.all[before(range.start).min(end)..end].iter()
    }

    /// Returns the symbol at `offset`, and its name.
    pub(crate) fn symbol_at(&self, offset: usize) -> Option<(&Occurrence, Symbol)> {
        self.at(offset)
            .find_map(|found| Some((found, found.symbol()?)))
    }

    /// Returns every occurrence of `symbol`.
    pub(crate) fn of(&self, symbol: Symbol) -> impl Iterator<Item = &Occurrence> {
        self.all
            .iter()
            .filter(move |found| found.symbol() == Some(symbol))
    }

    /// Returns the first declaration of `symbol`, or its first use if it does not need a declaration.
    pub(crate) fn declaration(&self, symbol: Symbol) -> Option<&Occurrence> {
        self.of(symbol).find(|found| found.declares()).or_else(|| {
            self.of(symbol)
                .next()
                .filter(|_| symbol.kind == NameKind::Dimension)
        })
    }
}
