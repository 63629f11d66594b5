//! Functions shared by the programs of a file.

use indexmap::IndexMap;

use crate::error::CompileError;
use crate::ir::Function;

use super::function::{DECLARATION, definition};
use super::module::Callee;
use super::symbol::{Symbol, SymbolError};
use super::template::Template;

/// Minimum length of text from which functions that differ only in numbers are merged into one with parameters.
const LONG: usize = 8 << 10;

/// Maximum number of such parameters.
const MOST_NUMBERS: usize = 96;

/// The functions that the programs of a file call. Equal functions are merged, and long ones that differ only in
/// numbers become calls of one function with parameters.
#[derive(Clone, Debug)]
pub struct SharedFunctions {
    /// The prefix of all names.
    prefix: Symbol,
    /// The number of functions.
    count: usize,
    /// The templates, and for each list of numbers the name of its function.
    functions: IndexMap<Template, IndexMap<Vec<String>, Symbol>>,
}

impl SharedFunctions {
    /// Returns an empty collection whose names begin with `prefix`.
    ///
    /// # Errors
    ///
    /// Errors if a C identifier cannot begin with `prefix`.
    pub fn new(prefix: &str) -> Result<SharedFunctions, SymbolError> {
        Ok(SharedFunctions {
            prefix: Symbol::new(prefix)?,
            count: 0,
            functions: IndexMap::new(),
        })
    }

    /// Returns `function` as a callee of a module of the file.
    ///
    /// # Errors
    ///
    /// Errors if the function is invalid.
    pub fn callee<'p>(&mut self, function: &'p Function) -> Result<Callee<'p>, CompileError> {
        let (template, numbers) = Template::of(&definition(function)?);
        let alike = self.functions.entry(template).or_default();
        let name = alike.entry(numbers).or_insert_with(|| {
            let name = self.prefix.derived(function.name(), self.count);
            self.count += 1;
            name
        });
        Ok(Callee {
            name: name.clone(),
            function,
            is_shared: true,
        })
    }

    /// Returns the text of all functions.
    pub(super) fn text(&self) -> String {
        let functions = self.functions.iter();
        functions
            .map(|(template, alike)| texts(template, alike))
            .collect()
    }
}

/// Returns the text of functions that differ only in numbers.
fn texts(template: &Template, alike: &IndexMap<Vec<String>, Symbol>) -> String {
    let places = alike.keys().next().map_or(0, Vec::len);
    // The parameter for each position; positions whose numbers always agree share one.
    let mut given: IndexMap<Vec<&str>, String> = IndexMap::new();
    let names: Vec<Option<String>> = (0..places)
        .map(|place| {
            let all: Vec<&str> = alike
                .keys()
                .map(|numbers| numbers[place].as_str())
                .collect();
            if all.iter().all(|number| number == &all[0]) {
                return None;
            }
            let count = given.len();
            let name = given.entry(all).or_insert_with(|| format!("p{count}"));
            Some(name.clone())
        })
        .collect();
    if given.is_empty() || given.len() > MOST_NUMBERS || template.bytes() < LONG {
        let all = alike.iter().map(|(numbers, name)| {
            let text = template.text(numbers.iter().map(String::as_str));
            format!("\n{DECLARATION} {name}{text}")
        });
        return all.collect();
    }
    let Some((first, name)) = alike.first() else {
        return String::new();
    };
    let of_all = name.suffixed("of");
    let more: Vec<String> = given
        .values()
        .map(|name| format!("int64_t {name}"))
        .collect();
    let places = names.iter().zip(first);
    let places = places.map(|(name, number)| name.as_deref().unwrap_or(number));
    let text = template.with_params(&more.join(", "), places);
    let mut texts = format!("\nMIND_KEPT {DECLARATION} {of_all}{text}");
    let params = template.params();
    let own = params
        .split(", ")
        .filter_map(|param| param.rsplit([' ', '*']).next());
    let own: Vec<&str> = own.filter(|name| !name.is_empty()).collect();
    for (at, name) in alike.values().enumerate() {
        let numbers = given.keys().map(|all| all[at]);
        let arguments: Vec<&str> = own.iter().copied().chain(numbers).collect();
        let (params, arguments) = (
            if params.is_empty() { "void" } else { params },
            arguments.join(", "),
        );
        texts += &format!(
            "\n{DECLARATION} {name}({params}) {{\n    return {of_all}({arguments});\n}}\n"
        );
    }
    texts
}
