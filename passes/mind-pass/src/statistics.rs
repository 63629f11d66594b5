//! Named counters of passes, and counters per rule.

/// Counters in the order in which passes first named them.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    rows: Vec<(String, String, u64)>,
    rules: Vec<(String, String, RuleCounts)>,
    pass: String,
}

/// Counters of a rule or pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RuleCounts {
    /// Matches.
    pub matched: u64,
    /// Matches that were applied, or merged two e-classes.
    pub applied: u64,
    /// Matches whose result has an invalid or a different type.
    pub refused: u64,
    /// Changes of the extracted result that used the rule.
    pub chosen: u64,
    /// Modelled cost saved by the changes in which this was the last rule, in picoseconds.
    pub saved: i64,
}

impl RuleCounts {
    /// Returns the counters of a pattern that was applied `count` times, where each application changes the result.
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

    /// Adds the counters of a rule or pattern of the current pass.
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

    /// Returns the counters as (pass, name, count).
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        self.rows
            .iter()
            .map(|(pass, name, count)| (pass.as_str(), name.as_str(), *count))
    }

    /// Returns the counters of each rule as (pass, rule, counts).
    pub fn rules(&self) -> impl Iterator<Item = (&str, &str, RuleCounts)> {
        self.rules
            .iter()
            .map(|(pass, rule, counts)| (pass.as_str(), rule.as_str(), *counts))
    }
}
