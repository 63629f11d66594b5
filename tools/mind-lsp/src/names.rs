//! The names of a document, whatever its language.

use std::ops::Range;

use mind_ir::opdef::OpDef;
use mind_text::{Entity, Role, SourceMap};

/// What kind of thing a name declares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    /// A value of a module, or one that a rule matches.
    Value,
    /// An entry of a table of types.
    Type,
    /// An entry of a table of names.
    Text,
    /// A dimension.
    Dimension,
    /// A function of a program.
    Function,
    /// A rule.
    Rule,
    /// An attribute, dtype or list of extents that a rule binds.
    Binding,
}

/// A thing that has a name, by its number among those of its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Symbol {
    pub(crate) kind: Kind,
    pub(crate) number: u64,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Thing {
    /// Something that the document declares.
    Symbol(Symbol),
    /// An op.
    Op(&'static OpDef),
    /// The attribute of an op, by its position where the op's table entry has it.
    Attr(&'static OpDef, Option<usize>),
    /// A dtype.
    DType,
    /// A function or predicate of rule files.
    Call(&'static str),
    /// A word of the language.
    Keyword,
}

/// A name where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) range: Range<usize>,
    pub(crate) thing: Thing,
    pub(crate) role: Role,
}

impl Found {
    /// What it declares or reads, if that is something of the document's own.
    pub(crate) fn symbol(&self) -> Option<Symbol> {
        match self.thing {
            Thing::Symbol(symbol) => Some(symbol),
            _ => None,
        }
    }

    /// Whether it declares what it stands for.
    pub(crate) fn declares(&self) -> bool {
        self.role != Role::Reference && self.symbol().is_some()
    }
}

/// The names of one document in the order of its text.
#[derive(Debug, Default)]
pub(crate) struct Names {
    all: Vec<Found>,
}

impl Names {
    /// The names in `all`, which are in the order of the text.
    pub(crate) fn new(all: Vec<Found>) -> Names {
        Names { all }
    }

    /// The names that a reader recorded.
    pub(crate) fn of_map(map: &SourceMap) -> Names {
        let found = map.occurrences().iter().map(|found| {
            let symbol = |kind, number| Thing::Symbol(Symbol { kind, number });
            let range = found.span.start as usize..found.span.end as usize;
            let thing = match found.entity {
                Entity::Value(number) => symbol(Kind::Value, number),
                Entity::Type(number) => symbol(Kind::Type, number),
                Entity::Name(number) => symbol(Kind::Text, number),
                Entity::Symbol(number) => symbol(Kind::Dimension, number.into()),
                Entity::Function => symbol(Kind::Function, range.start as u64),
                Entity::Op(def) => Thing::Op(def),
                Entity::Attr(def, at) => Thing::Attr(def, at),
                Entity::DType => Thing::DType,
            };
            Found {
                range,
                thing,
                role: found.role,
            }
        });
        Names::new(found.collect())
    }

    /// Every name.
    pub(crate) fn all(&self) -> &[Found] {
        &self.all
    }

    /// The names that `offset` is in or at the end of, the last that begins first.
    pub(crate) fn at(&self, offset: usize) -> impl Iterator<Item = &Found> {
        /// More names than that never end at one place.
        const NEAR: usize = 4;
        let end = self
            .all
            .partition_point(|found| found.range.start <= offset);
        let near = self.all[end.saturating_sub(NEAR)..end].iter().rev();
        near.filter(move |found| offset <= found.range.end)
    }

    /// The names that begin in `range`.
    pub(crate) fn within(&self, range: &Range<usize>) -> impl Iterator<Item = &Found> {
        let before = |bound: usize| self.all.partition_point(|found| found.range.start < bound);
        let end = before(range.end);
        self.all[before(range.start).min(end)..end].iter()
    }

    /// The entity of the document that `offset` is in, and its name.
    pub(crate) fn symbol_at(&self, offset: usize) -> Option<(&Found, Symbol)> {
        self.at(offset)
            .find_map(|found| Some((found, found.symbol()?)))
    }

    /// Every name that stands for `symbol`.
    pub(crate) fn of(&self, symbol: Symbol) -> impl Iterator<Item = &Found> {
        self.all
            .iter()
            .filter(move |found| found.symbol() == Some(symbol))
    }

    /// Where `symbol` is declared: its first declaration, or its first use where it needs none.
    pub(crate) fn declaration(&self, symbol: Symbol) -> Option<&Found> {
        self.of(symbol).find(|found| found.declares()).or_else(|| {
            self.of(symbol)
                .next()
                .filter(|_| symbol.kind == Kind::Dimension)
        })
    }
}
