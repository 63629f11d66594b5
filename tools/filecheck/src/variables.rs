//! Text and numeric variables of a run.

use crate::numeric::{Expression, Format, Integer, NumberId};
use std::collections::{BTreeMap, BTreeSet};

/// The name of the variable with the line of the current directive.
pub const LINE: &str = "@LINE";

#[derive(Debug)]
struct Number {
    name: String,
    format: Format,
    defined_on: Option<usize>,
    value: Option<Integer>,
}

/// All variables, including undefined ones.
#[derive(Debug)]
pub struct Variables {
    texts: BTreeMap<String, Vec<u8>>,
    /// Names that a pattern defines as text, whether it has matched or not.
    text_names: BTreeSet<String>,
    numbers: Vec<Number>,
    number_names: BTreeMap<String, NumberId>,
}

impl Default for Variables {
    fn default() -> Variables {
        let mut variables = Variables {
            texts: BTreeMap::new(),
            text_names: BTreeSet::new(),
            numbers: Vec::new(),
            number_names: BTreeMap::new(),
        };
        variables.number(LINE);
        variables
    }
}

impl Variables {
    /// Reserves `name` for a text variable. Fails if a numeric variable has the name.
    pub fn declare_text(&mut self, name: &str) -> Result<(), String> {
        if self.number_names.contains_key(name) {
            return Err(format!(
                "numeric variable with name '{name}' already exists"
            ));
        }
        self.text_names.insert(name.to_owned());
        Ok(())
    }

    /// Returns the numeric variable `name`, and creates it as unsigned if it is unknown.
    pub fn number(&mut self, name: &str) -> NumberId {
        if let Some(&id) = self.number_names.get(name) {
            return id;
        }
        self.add_number(name, Format::UNSIGNED, None)
    }

    /// Declares the numeric variable `name`, which a pattern on line `defined_on` defines in `format`.
    pub fn declare_number(
        &mut self,
        name: &str,
        format: Format,
        defined_on: Option<usize>,
    ) -> Result<NumberId, String> {
        if self.text_names.contains(name) {
            return Err(format!("string variable with name '{name}' already exists"));
        }
        match self.number_names.get(name) {
            Some(&id) if self.numbers[id.0].format != format => Err(format!(
                "format of '{name}' differs from its previous definition"
            )),
            Some(&id) => Ok(id),
            None => Ok(self.add_number(name, format, defined_on)),
        }
    }

    fn add_number(&mut self, name: &str, format: Format, defined_on: Option<usize>) -> NumberId {
        let id = NumberId(self.numbers.len());
        self.numbers.push(Number {
            name: name.to_owned(),
            format,
            defined_on,
            value: None,
        });
        self.number_names.insert(name.to_owned(), id);
        id
    }

    /// Returns the declared format of a numeric variable.
    pub fn format(&self, id: NumberId) -> Format {
        self.numbers[id.0].format
    }

    /// Returns the line of the directive that first defined a numeric variable.
    pub fn defined_on(&self, id: NumberId) -> Option<usize> {
        self.numbers[id.0].defined_on
    }

    /// Returns the value of a text variable.
    pub fn text(&self, name: &str) -> Option<&[u8]> {
        self.texts.get(name).map(Vec::as_slice)
    }

    /// Sets a text variable.
    pub fn set_text(&mut self, name: &str, value: &[u8]) {
        self.texts.insert(name.to_owned(), value.to_vec());
    }

    /// Sets a numeric variable.
    pub fn set_number(&mut self, id: NumberId, value: Integer) {
        self.numbers[id.0].value = Some(value);
    }

    /// Sets `@LINE`.
    pub fn set_line(&mut self, line: usize) {
        let id = self.number(LINE);
        self.set_number(id, Integer::from(line as u64));
    }

    /// Returns the value of `expression`, or why it does not have one.
    pub fn evaluate(&self, expression: &Expression) -> Result<Integer, String> {
        expression.evaluate(|id| {
            let number = &self.numbers[id.0];
            number
                .value
                .clone()
                .ok_or_else(|| format!("undefined variable: {}", number.name))
        })
    }

    /// Clears all variables whose names do not start with `$`.
    pub fn clear_local(&mut self) {
        self.texts.retain(|name, _| name.starts_with('$'));
        for number in self
            .numbers
            .iter_mut()
            .filter(|number| !number.name.starts_with('$'))
        {
            number.value = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_text_or_number() {
        let mut variables = Variables::default();
        assert_eq!(variables.declare_text("T"), Ok(()));
        assert!(
            variables
                .declare_number("T", Format::UNSIGNED, None)
                .is_err()
        );
        variables.number("N");
        assert!(variables.declare_text("N").is_err());
    }

    #[test]
    fn clearing_spares_globals() {
        let mut variables = Variables::default();
        variables.set_text("A", b"a");
        variables.set_text("$A", b"a");
        variables.clear_local();
        assert_eq!(variables.text("A"), None);
        assert_eq!(variables.text("$A"), Some(&b"a"[..]));
    }
}
