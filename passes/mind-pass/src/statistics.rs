//! Named counters of passes.

/// Counters in the order in which passes first named them.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    rows: Vec<(String, String, u64)>,
    pass: String,
}

impl Statistics {
    /// Counts for `pass` from now on.
    pub fn enter(&mut self, pass: &str) {
        pass.clone_into(&mut self.pass);
    }

    /// Adds `amount` to the counter `name` of the current pass.
    pub fn add(&mut self, name: &str, amount: u64) {
        let row = self
            .rows
            .iter_mut()
            .find(|(pass, own, _)| *pass == self.pass && own == name);
        match row {
            Some((_, _, count)) => *count += amount,
            None => self.rows.push((self.pass.clone(), name.to_owned(), amount)),
        }
    }

    /// The counters as (pass, name, count).
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        self.rows
            .iter()
            .map(|(pass, name, count)| (pass.as_str(), name.as_str(), *count))
    }
}
