//! The extents of symbolic dimensions, and where each comes from.

use mind_ir::attr::Attr;
use mind_ir::eval::DimEnv;
use mind_ir::opdef::nearest;
use mind_ir::types::Dim;
use mind_ir::{Graph, Sym};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{BindError, Origin};
use crate::inputs::inputs;

/// Extents for symbolic dimensions that nothing fixes: by the symbol's position among the module's
/// symbols in alphabetical order, and again from the first after the last.
pub const SYMBOL_EXTENTS: [usize; 8] = [3, 5, 7, 11, 13, 17, 19, 23];

/// The extent for every `?` of an input that is made up.
pub const DYNAMIC_EXTENT: usize = 2;

/// The extents of symbolic dimensions, and where each comes from.
#[derive(Clone, Debug, Default)]
pub struct Extents {
    symbols: FxHashMap<Sym, (usize, Origin)>,
    dynamic: Option<usize>,
}

impl Extents {
    /// The extents that the caller asks for, by name; `?` stands for every dynamic dimension.
    ///
    /// # Errors
    ///
    /// Names that the module does not have, two extents for one name.
    pub fn given<'a>(
        g: &Graph,
        pairs: impl IntoIterator<Item = (&'a str, usize)>,
    ) -> Result<Extents, BindError> {
        let mut extents = Extents::default();
        for (name, extent) in pairs {
            extents.give(g, name, extent)?;
        }
        Ok(extents)
    }

    fn give(&mut self, g: &Graph, name: &str, extent: usize) -> Result<(), BindError> {
        if name == "?" {
            return match *self.dynamic.get_or_insert(extent) {
                bound if bound == extent => Ok(()),
                bound => Err(BindError::Symbol {
                    symbol: name.to_owned(),
                    first: bound,
                    first_origin: Origin::Given,
                    second: extent,
                    second_origin: Origin::Given,
                }),
            };
        }
        let known = symbols(g);
        match known.iter().find(|&&sym| g.name(sym) == name) {
            Some(&sym) => self.bind(g, sym, extent, Origin::Given),
            None => {
                let nearest = nearest(name, known.iter().map(|&sym| g.name(sym)));
                let nearest = nearest.map(str::to_owned);
                Err(BindError::UnknownSymbol {
                    symbol: name.to_owned(),
                    nearest,
                })
            }
        }
    }

    /// Binds `sym`. Errors: the extent it already has, if that is another.
    pub(crate) fn bind(
        &mut self,
        g: &Graph,
        sym: Sym,
        extent: usize,
        origin: Origin,
    ) -> Result<(), BindError> {
        match self.symbols.get(&sym) {
            Some((bound, first)) if *bound != extent => Err(BindError::Symbol {
                symbol: g.name(sym).to_owned(),
                first: *bound,
                first_origin: first.clone(),
                second: extent,
                second_origin: origin,
            }),
            Some(_) => Ok(()),
            None => {
                self.symbols.insert(sym, (extent, origin));
                Ok(())
            }
        }
    }

    /// Gives every symbol that has none the extent that [`SYMBOL_EXTENTS`] has for it.
    pub(crate) fn fill(&mut self, g: &Graph) {
        let mut all = symbols(g);
        all.sort_unstable_by_key(|&sym| g.name(sym));
        for (sym, extent) in all.into_iter().zip(SYMBOL_EXTENTS.into_iter().cycle()) {
            self.symbols.entry(sym).or_insert((extent, Origin::Default));
        }
    }

    /// Returns the extents that neither the caller nor an array gives, of the dimensions of the inputs that are made up,
    /// each once and in the order of the inputs. Unnamed dimensions are `?`.
    pub(crate) fn chosen(
        &self,
        g: &Graph,
        is_made_up: impl Fn(&str) -> bool,
    ) -> Vec<(String, usize)> {
        let mut chosen: Vec<(String, usize)> = Vec::new();
        let made_up = inputs(g).into_iter();
        let made_up = made_up.filter(|input| is_made_up(input.name));
        for dim in made_up.flat_map(|input| input.ty.shape) {
            let own = match *dim {
                Dim::Fixed(_) => None,
                Dim::Symbol(sym) => match self.symbols.get(&sym) {
                    Some((extent, Origin::Default)) => Some((g.name(sym), *extent)),
                    Some(_) | None => None,
                },
                Dim::Dynamic if self.dynamic.is_none() => Some(("?", DYNAMIC_EXTENT)),
                Dim::Dynamic => None,
            };
            if let Some((name, extent)) = own
                && !chosen.iter().any(|(known, _)| known == name)
            {
                chosen.push((name.to_owned(), extent));
            }
        }
        chosen
    }

    /// The extent of `dim` in an array that is made up; `None` for a symbol without one.
    pub(crate) fn made_up(&self, dim: Dim) -> Option<usize> {
        match dim {
            Dim::Fixed(extent) => usize::try_from(extent).ok(),
            Dim::Symbol(sym) => self.symbols.get(&sym).map(|(extent, _)| *extent),
            Dim::Dynamic => Some(self.dynamic.unwrap_or(DYNAMIC_EXTENT)),
        }
    }

    /// The extents alone, for evaluation.
    pub fn env(&self) -> DimEnv {
        let mut env = DimEnv::default();
        for (&sym, &(extent, _)) in &self.symbols {
            env.bind(sym, extent).expect("a symbol is bound once");
        }
        env
    }
}

/// The symbols that stand for extents in the module's types and attributes, inputs first, each once.
fn symbols(g: &Graph) -> Vec<Sym> {
    let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
    let mut note = |dims: &[Dim]| {
        for dim in dims {
            if let Dim::Symbol(sym) = *dim
                && seen.insert(sym)
            {
                found.push(sym);
            }
        }
    };
    inputs(g).iter().for_each(|input| note(input.ty.shape));
    for op in g.walk() {
        for attr in g.attrs(op) {
            if let Attr::Dims(dims) = *attr {
                note(dims);
            }
        }
        for ty in g
            .results(op)
            .into_iter()
            .filter_map(|value| g.type_id(value))
        {
            note(g.types().get(ty).shape);
        }
    }
    found
}
