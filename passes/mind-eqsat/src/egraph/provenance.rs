//! Where e-nodes and unions come from.
//!
//! Each e-node keeps the application that made it, each union the one that asked for it, and each
//! application its rule and the e-nodes it matched: memory grows with what rules do, not with the size
//! of the proofs.

use egg::Id;

use mind_rules::RuleIx;

/// Where an e-node, or the union of two classes, comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// The input program.
    Program,
    /// Constant folding.
    Folding,
    /// A rule that was applied.
    Rule(ApplicationIx),
}

/// The number of an application in its region.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ApplicationIx(u32);

/// A rule applied at a match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Application {
    pub(crate) rule: RuleIx,
    /// Whether its right side was matched.
    pub(crate) reversed: bool,
    /// Where its e-nodes begin in [`Provenance::matched`].
    first: u32,
}

/// Two classes that became one, each by an e-node of it, and why.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Union {
    pub(crate) sides: [Id; 2],
    pub(crate) origin: Origin,
}

/// The history of a region.
#[derive(Debug)]
pub(crate) struct Provenance {
    /// By the id that an e-node was added under.
    origins: Vec<Origin>,
    applications: Vec<Application>,
    /// The e-nodes that applications matched, by the ids they were added under: the root's, those of
    /// other ops, and the constants that values turned out to be.
    matched: Vec<Id>,
    pub(crate) unions: Vec<Union>,
    /// What is now being added.
    pub(crate) current: Origin,
}

impl Default for Provenance {
    /// No history; what is added is the input program's.
    fn default() -> Provenance {
        Provenance {
            origins: Vec::new(),
            applications: Vec::new(),
            matched: Vec::new(),
            unions: Vec::new(),
            current: Origin::Program,
        }
    }
}

impl Provenance {
    /// Notes that the e-node `id` is added now.
    pub(crate) fn added(&mut self, id: Id) {
        if self.origins.len() <= usize::from(id) {
            self.origins.resize(usize::from(id) + 1, self.current);
        }
    }

    /// Where the e-node added as `id` comes from.
    pub(crate) fn origin(&self, id: Id) -> Origin {
        self.origins[usize::from(id)]
    }

    /// Begins an application of `rule`.
    pub(crate) fn begin(&mut self, rule: RuleIx, reversed: bool) -> Origin {
        let number = ApplicationIx(self.applications.len() as u32);
        self.applications.push(Application {
            rule,
            reversed,
            first: self.matched.len() as u32,
        });
        self.current = Origin::Rule(number);
        self.current
    }

    /// Ends the application begun last, which matched these e-nodes.
    pub(crate) fn end(&mut self, matched: impl IntoIterator<Item = Id>) {
        self.matched.extend(matched);
        self.current = Origin::Program;
    }

    /// Forgets the application begun last, which came to nothing.
    pub(crate) fn forget(&mut self) {
        self.applications.pop();
        self.current = Origin::Program;
    }

    /// The application with this number.
    pub(crate) fn application(&self, number: ApplicationIx) -> Application {
        self.applications[number.0 as usize]
    }

    /// The e-nodes that an application matched, the root's first; then what its values were known to be.
    pub(crate) fn matched(&self, number: ApplicationIx) -> &[Id] {
        let at = number.0 as usize;
        let end = match self.applications.get(at + 1) {
            Some(next) => next.first as usize,
            None => self.matched.len(),
        };
        &self.matched[self.applications[at].first as usize..end]
    }
}
