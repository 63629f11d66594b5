//! Symbols for the names of dimensions, because foreign formats allow other characters than modules do.

use std::collections::{HashMap, HashSet};

/// The symbols of open dimensions. Different names of the foreign model have different symbols.
#[derive(Default)]
pub struct DimSymbols {
    symbols: HashMap<String, String>,
    taken: HashSet<String>,
}

impl DimSymbols {
    /// Assigns symbols to these names. Names that are valid symbols come first, so that they keep their spelling.
    pub fn of<'n>(names: impl Iterator<Item = &'n str> + Clone) -> DimSymbols {
        let mut found = DimSymbols::default();
        for name in names.clone().filter(|name| spelled(name) == **name) {
            found.symbol(name);
        }
        for name in names {
            found.symbol(name);
        }
        found
    }

    /// Returns the symbol of the dimension `name`.
    pub fn symbol(&mut self, name: &str) -> String {
        if let Some(symbol) = self.symbols.get(name) {
            return symbol.clone();
        }
        let symbol = self.unnamed(name);
        self.symbols.insert(name.to_owned(), symbol.clone());
        symbol
    }

    /// Returns an unused symbol for a dimension without a name. It is `wanted`, with a number appended if that is
    /// taken.
    pub fn unnamed(&mut self, wanted: &str) -> String {
        let base = spelled(wanted);
        let numbered = (2u32..).map(|count| format!("{base}_{count}"));
        let mut candidates = std::iter::once(base.clone()).chain(numbered);
        let free = candidates.find(|own| !self.taken.contains(own));
        let symbol = free.unwrap_or(base);
        self.taken.insert(symbol.clone());
        symbol
    }
}

/// Returns a name in which characters that a symbol cannot have are replaced, for example `a_b` for `a.b`.
fn spelled(name: &str) -> String {
    let spelled = name.chars().map(|own| match own {
        own if own.is_ascii_alphanumeric() => own,
        _ => '_',
    });
    let spelled: String = spelled.collect();
    match spelled.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => spelled,
        _ => format!("d{spelled}"),
    }
}

#[cfg(test)]
mod tests {
    use super::DimSymbols;

    #[test]
    fn names_that_are_spelled_alike_stay_distinct() {
        let names = ["a.b", "a_b", "a b", "1", "d1"];
        let mut symbols = DimSymbols::of(names.into_iter());
        let found = names.map(|name| symbols.symbol(name));
        assert_eq!(found, ["a_b_2", "a_b", "a_b_3", "d1_2", "d1"]);
        assert_eq!(symbols.symbol("a.b"), "a_b_2");
        assert_eq!(symbols.unnamed("a_b"), "a_b_4");
    }
}
