//! Named counters of passes, and what their rules did.

/// Counters in the order in which passes first named them.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    rows: Vec<(String, String, u64)>,
    rules: Vec<(String, String, RuleCounts)>,
    pass: String,
}

/// What came of a rule or pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RuleCounts {
    /// Places where it matched.
    pub matched: u64,
    /// Those where it acted, or made two e-classes one.
    pub applied: u64,
    /// Those where its result has no type or another one.
    pub refused: u64,
    /// Changes of the result that it led to.
    pub chosen: u64,
    /// What the changes saved that it led to as the last one, in picoseconds of the cost model.
    pub saved: i64,
}

impl RuleCounts {
    /// A pattern that acted this often. Each time is a change of the result.
    pub fn acted(count: u64) -> RuleCounts {
        RuleCounts {
            matched: count,
            applied: count,
            chosen: count,
            ..RuleCounts::default()
        }
    }

    fn plus(self, other: RuleCounts) -> RuleCounts {
        RuleCounts {
            matched: self.matched + other.matched,
            applied: self.applied + other.applied,
            refused: self.refused + other.refused,
            chosen: self.chosen + other.chosen,
            saved: self.saved.saturating_add(other.saved),
        }
    }
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

    /// Adds what came of a rule or pattern of the current pass.
    pub fn add_rule(&mut self, rule: &str, counts: RuleCounts) {
        let row = self
            .rules
            .iter_mut()
            .find(|(pass, own, _)| *pass == self.pass && own == rule);
        match row {
            Some((_, _, own)) => *own = own.plus(counts),
            None => {
                let (pass, rule) = (self.pass.clone(), rule.to_owned());
                self.rules.push((pass, rule, counts));
            }
        }
    }

    /// The counters as (pass, name, count).
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        self.rows
            .iter()
            .map(|(pass, name, count)| (pass.as_str(), name.as_str(), *count))
    }

    /// What came of each rule, as (pass, rule, counts).
    pub fn rules(&self) -> impl Iterator<Item = (&str, &str, RuleCounts)> {
        self.rules
            .iter()
            .map(|(pass, rule, counts)| (pass.as_str(), rule.as_str(), *counts))
    }
}
