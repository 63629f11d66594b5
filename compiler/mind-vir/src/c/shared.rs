//! Functions of a file of several programs.

use indexmap::IndexMap;

use crate::error::CompileError;
use crate::ir::Function;

use super::function::{DECLARATION, definition};
use super::module::Callee;
use super::symbol::{Symbol, SymbolError};

/// The functions that the programs of one file call: those that would have the same text are one.
#[derive(Clone, Debug)]
pub struct SharedFunctions {
    /// What the names of all begin with.
    prefix: Symbol,
    /// Their texts without the names, and the names.
    functions: IndexMap<String, Symbol>,
}

impl SharedFunctions {
    /// None yet; their names will begin with `prefix`.
    ///
    /// # Errors
    ///
    /// No name of C begins so.
    pub fn new(prefix: &str) -> Result<SharedFunctions, SymbolError> {
        Ok(SharedFunctions {
            prefix: Symbol::new(prefix)?,
            functions: IndexMap::new(),
        })
    }

    /// `function` for a module of the file.
    ///
    /// # Errors
    ///
    /// The function is not valid.
    pub fn callee<'p>(&mut self, function: &'p Function) -> Result<Callee<'p>, CompileError> {
        let number = self.functions.len();
        let named = self.functions.entry(definition(function)?);
        let name = named.or_insert_with(|| self.prefix.derived(function.name(), number));
        Ok(Callee {
            name: name.clone(),
            function,
            is_shared: true,
        })
    }

    /// The texts of all.
    pub(super) fn text(&self) -> String {
        let functions = self.functions.iter();
        let functions =
            functions.map(|(definition, name)| format!("\n{DECLARATION} {name}{definition}"));
        functions.collect()
    }
}
