//! Extents of symbolic dimensions.

use mind_ir::attr::Attr;
use mind_ir::eval::DimEnv;
use mind_ir::opdef::nearest;
use mind_ir::types::Dim;
use mind_ir::{Graph, Sym};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{BindError, Origin};
use crate::inputs::inputs;

/// The default extents of symbolic dimensions. The symbols of the module, in alphabetical order, take these extents in
/// turn, starting over after the last.
pub const SYMBOL_EXTENTS: [usize; 8] = [3, 5, 7, 11, 13, 17, 19, 23];

/// The default extent of a `?` dimension of a generated input.
pub const DYNAMIC_EXTENT: usize = 2;

/// The extents of symbolic dimensions, and the source of each.
#[derive(Clone, Debug, Default)]
pub struct Extents {
    symbols: FxHashMap<Sym, (usize, Origin)>,
    dynamic: Option<usize>,
}

impl Extents {
    /// Returns extents that the caller chooses by name. The name `?` represents all unnamed dimensions.
    ///
    /// # Errors
    ///
    /// If the module does not have a dimension with this name, or a name has two extents.
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

    /// Binds `sym` to an extent.
    ///
    /// # Errors
    ///
    /// If it is bound to a different extent.
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

    /// Binds every unbound symbol to its default from [`SYMBOL_EXTENTS`].
    pub(crate) fn fill(&mut self, g: &Graph) {
        let mut all = symbols(g);
        all.sort_unstable_by_key(|&sym| g.name(sym));
        for (sym, extent) in all.into_iter().zip(SYMBOL_EXTENTS.into_iter().cycle()) {
            self.symbols.entry(sym).or_insert((extent, Origin::Default));
        }
    }

    /// Returns the default extents of the dimensions of generated inputs, which neither the caller nor an array
    /// determines, each once and in the order of the inputs. Unnamed dimensions are `?`.
    pub(crate) fn chosen(
        &self,
        g: &Graph,
        is_random: impl Fn(&str) -> bool,
    ) -> Vec<(String, usize)> {
        let mut chosen: Vec<(String, usize)> = Vec::new();
        let random = inputs(g).into_iter();
        let random = random.filter(|input| is_random(input.name));
        for dim in random.flat_map(|input| input.ty.shape) {
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

    /// Returns the extent of `dim` in a generated array; `None` for an unbound symbol.
    pub(crate) fn random_extent(&self, dim: Dim) -> Option<usize> {
        match dim {
            Dim::Fixed(extent) => usize::try_from(extent).ok(),
            Dim::Symbol(sym) => self.symbols.get(&sym).map(|(extent, _)| *extent),
            Dim::Dynamic => Some(self.dynamic.unwrap_or(DYNAMIC_EXTENT)),
        }
    }

    /// Returns the extents for evaluation.
    pub fn env(&self) -> DimEnv {
        let mut env = DimEnv::default();
        for (&sym, &(extent, _)) in &self.symbols {
            env.bind(sym, extent).expect("a symbol is bound once");
        }
        env
    }
}

/// Returns the symbols in the module's types and attributes, each once, starting with those of the inputs.
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
