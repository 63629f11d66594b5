//! The origins of e-nodes and unions.
//!
//! Every e-node records the rule application that added it, every union the application that requested it, and every
//! application its rule and the e-nodes that it matched. Memory therefore grows with the number of applications and not
//! with the size of proofs.

use egg::Id;

use mind_rules::RuleIx;

/// The origin of an e-node or a union.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// The input program.
    Program,
    /// Constant folding.
    Folding,
    /// The application of a rule.
    Rule(ApplicationIx),
}

/// The index of an application in its region.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ApplicationIx(u32);

/// A rule applied at a match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Application {
    pub(crate) rule: RuleIx,
    /// Whether the rule was applied from right to left.
    pub(crate) reversed: bool,
    /// The start of its e-nodes in [`Provenance::matched`].
    first: u32,
}

/// A union of two classes, each represented by one of its e-nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Union {
    pub(crate) sides: [Id; 2],
    pub(crate) origin: Origin,
}

/// The history of a region's e-graph.
#[derive(Debug)]
pub(crate) struct Provenance {
    /// The origin of each e-node, by the id under which it was added.
    origins: Vec<Origin>,
    applications: Vec<Application>,
    /// The e-nodes that applications matched, by the ids under which they were added: for each application that of the
    /// root, those of other ops, and the constants that matched values are equal to.
    matched: Vec<Id>,
    pub(crate) unions: Vec<Union>,
    /// The origin of e-nodes that are being added.
    pub(crate) current: Origin,
}

impl Default for Provenance {
    /// Returns an empty history, in which new e-nodes come from the input program.
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
    /// Records the origin of the new e-node `id`.
    pub(crate) fn added(&mut self, id: Id) {
        if self.origins.len() <= usize::from(id) {
            self.origins.resize(usize::from(id) + 1, self.current);
        }
    }

    /// Returns the origin of the e-node that was added as `id`.
    pub(crate) fn origin(&self, id: Id) -> Origin {
        self.origins[usize::from(id)]
    }

    /// Begins an application of `rule`, to which new e-nodes are attributed.
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

    /// Ends the current application, which matched these e-nodes.
    pub(crate) fn end(&mut self, matched: impl IntoIterator<Item = Id>) {
        self.matched.extend(matched);
        self.current = Origin::Program;
    }

    /// Drops the current application, which changed nothing.
    pub(crate) fn forget(&mut self) {
        self.applications.pop();
        self.current = Origin::Program;
    }

    /// Returns the application with this index.
    pub(crate) fn application(&self, number: ApplicationIx) -> Application {
        self.applications[number.0 as usize]
    }

    /// Returns the e-nodes that an application matched, the root first, followed by the constants that matched values
    /// are equal to.
    pub(crate) fn matched(&self, number: ApplicationIx) -> &[Id] {
        let at = number.0 as usize;
        let end = match self.applications.get(at + 1) {
            Some(next) => next.first as usize,
            None => self.matched.len(),
        };
        &self.matched[self.applications[at].first as usize..end]
    }
}
