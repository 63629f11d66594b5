//! A choice of e-nodes, improved by maximum fanout-free cones.
//!
//! Replacing a class's e-node costs what the new one newly reaches and saves what the old one alone
//! kept alive. Both are found by counting references, so that shared work is counted once.

use super::dense::{ClassIx, Dense, DenseClass, NodeIx, What};
use crate::egraph::language::Head;
use crate::load::Loaded;

/// The most passes over all classes.
const PASSES: usize = 10;

const NONE: NodeIx = NodeIx::MAX;

/// One e-node per class that can be computed, and how often each class is read.
pub(crate) struct Choice {
    nodes: Vec<NodeIx>,
    references: Vec<u32>,
    /// The cost of everything that is read.
    pub(crate) cost: u64,
}

impl Choice {
    /// The cheapest choice found, starting from the program's own.
    pub(crate) fn best(dense: &Dense, loaded: &Loaded<'_>) -> Choice {
        let mut choice = Choice::program(dense, loaded);
        choice.improve(dense, loaded);
        choice
    }

    /// The e-node chosen for `class`; `None` for a class that cannot be computed.
    pub(crate) fn node(&self, class: ClassIx) -> Option<NodeIx> {
        let node = self.nodes[class as usize];
        (node != NONE).then_some(node)
    }

    /// Whether `class` is chosen to be a constant, or a value from before.
    pub(crate) fn is_given(&self, dense: &Dense, class: ClassIx) -> bool {
        let node = self.node(class).map(|node| dense.node(node).what);
        matches!(
            node,
            Some(What::Node {
                head: Head::Leaf | Head::Const,
                ..
            })
        )
    }

    /// Whether the result of the region needs `class`.
    pub(crate) fn needs(&self, class: ClassIx) -> bool {
        self.references[class as usize] > 0
    }

    /// The bytes that everything read moves.
    pub(crate) fn bytes(&self, dense: &Dense) -> u64 {
        let needed = (0..self.nodes.len() as ClassIx).filter(|&class| self.needs(class));
        let nodes = needed.filter_map(|class| self.node(class));
        nodes.fold(0, |sum, node| {
            sum.saturating_add(dense.node(node).price.bytes)
        })
    }

    /// The program's own e-nodes; for classes that it does not compute, those of `changed`.
    pub(crate) fn unchanged(dense: &Dense, changed: &Choice) -> Choice {
        let own = |class: &DenseClass| class.program.and_then(|op| dense.program[op as usize]);
        let nodes = dense.classes.iter().zip(&changed.nodes);
        let nodes = nodes.map(|(class, &node)| own(class).unwrap_or(node));
        let mut choice = Choice {
            nodes: nodes.collect(),
            references: vec![0; dense.classes.len()],
            cost: 0,
        };
        for &root in &dense.roots {
            choice.cost = choice.cost.saturating_add(choice.reach(dense, root));
        }
        choice
    }

    /// Chooses `node` for `class`; gives what is newly needed costs, and what no longer is did.
    pub(crate) fn switch(&mut self, dense: &Dense, class: ClassIx, node: NodeIx) -> (u64, u64) {
        let current = std::mem::replace(&mut self.nodes[class as usize], node);
        if self.references[class as usize] == 0 {
            return (0, 0);
        }
        let added = self.reference(dense, node);
        (added, self.release(dense, current))
    }

    /// The program's own e-nodes, what is there already before them, and the cheapest for classes that
    /// the program does not compute.
    pub(crate) fn program(dense: &Dense, loaded: &Loaded<'_>) -> Choice {
        let len = dense.classes.len();
        let mut choice = Choice {
            nodes: vec![NONE; len],
            references: vec![0; len],
            cost: 0,
        };
        let mut order: Vec<ClassIx> = (0..len as ClassIx).collect();
        order.sort_by_key(|&class| (dense.class(class).rank, class));
        let uses = program_uses(dense);
        let mut tree: Vec<u64> = vec![0; len];
        for class in order {
            let row = dense.class(class);
            let own = row.program.and_then(|op| dense.program[op as usize]);
            let given = |&&node: &&NodeIx| {
                let leaf = matches!(
                    dense.node(node).what,
                    What::Node {
                        head: Head::Leaf | Head::Const,
                        ..
                    }
                );
                leaf && dense.selectable(loaded, node)
            };
            let estimate = |node: NodeIx| {
                let node = dense.node(node);
                let share = |&child: &ClassIx| {
                    tree[child as usize] / u64::from(uses[child as usize].max(1))
                };
                node.children
                    .iter()
                    .map(share)
                    .fold(node.price.cost, u64::saturating_add)
            };
            let chosen = row.nodes.iter().find(given).copied().or(own).or_else(|| {
                let nodes = row.nodes.iter().copied();
                let possible = nodes.filter(|&node| dense.selectable(loaded, node));
                possible.min_by_key(|&node| (estimate(node), node))
            });
            if let Some(node) = chosen {
                tree[class as usize] = estimate(node);
                choice.nodes[class as usize] = node;
            }
        }
        for &root in &dense.roots {
            choice.cost = choice.cost.saturating_add(choice.reach(dense, root));
        }
        choice
    }

    fn improve(&mut self, dense: &Dense, loaded: &Loaded<'_>) {
        let several = |&class: &ClassIx| dense.class(class).nodes.len() > 1;
        let mut order: Vec<ClassIx> = (0..dense.classes.len() as ClassIx)
            .filter(several)
            .collect();
        order.sort_by_key(|&class| std::cmp::Reverse((dense.class(class).rank, class)));
        for _ in 0..PASSES {
            let before = self.cost;
            for &class in &order {
                for &node in &dense.class(class).nodes {
                    self.try_node(dense, loaded, class, node);
                }
            }
            for parts in &dense.together {
                self.try_together(dense, loaded, parts);
            }
            if self.cost == before {
                break;
            }
        }
    }

    /// Chooses `node` for `class` if that is cheaper.
    fn try_node(&mut self, dense: &Dense, loaded: &Loaded<'_>, class: ClassIx, node: NodeIx) {
        let current = self.nodes[class as usize];
        if !self.possible(dense, loaded, class, node) {
            return;
        }
        // The new e-node is referenced first: released first, everything below it would be walked.
        let added = self.reference(dense, node);
        let released = self.release(dense, current);
        if added < released {
            self.nodes[class as usize] = node;
            self.cost = self.cost.saturating_sub(released).saturating_add(added);
        } else {
            self.reference(dense, current);
            self.release(dense, node);
        }
    }

    /// Whether `node` could be chosen for `class` in place of what is.
    fn possible(&self, dense: &Dense, loaded: &Loaded<'_>, class: ClassIx, node: NodeIx) -> bool {
        let computable = |&child: &ClassIx| self.nodes[child as usize] != NONE;
        self.references[class as usize] > 0
            && node != self.nodes[class as usize]
            && dense.selectable(loaded, node)
            && dense.node(node).children.iter().all(computable)
    }

    /// Chooses all of `nodes`, each for its class, if that is cheaper.
    fn try_together(&mut self, dense: &Dense, loaded: &Loaded<'_>, nodes: &[NodeIx]) {
        let mut order: Vec<NodeIx> = nodes.to_vec();
        order.sort_by_key(|&node| {
            let class = dense.node(node).class;
            std::cmp::Reverse((dense.class(class).rank, class))
        });
        let (mut added, mut released) = (0u64, 0u64);
        let mut replaced: Vec<(ClassIx, NodeIx)> = Vec::new();
        // Below a class only lower ranks are walked: from the highest on, no choice undoes another.
        for node in order {
            let class = dense.node(node).class;
            if !self.possible(dense, loaded, class, node) {
                continue;
            }
            let current = self.nodes[class as usize];
            added = added.saturating_add(self.reference(dense, node));
            released = released.saturating_add(self.release(dense, current));
            self.nodes[class as usize] = node;
            replaced.push((class, current));
        }
        if added < released {
            self.cost = self.cost.saturating_sub(released).saturating_add(added);
            return;
        }
        for (class, before) in replaced.into_iter().rev() {
            let node = std::mem::replace(&mut self.nodes[class as usize], before);
            self.reference(dense, before);
            self.release(dense, node);
        }
    }

    /// Counts a reference to `class`; gives the cost of what it newly needs.
    fn reach(&mut self, dense: &Dense, class: ClassIx) -> u64 {
        let count = &mut self.references[class as usize];
        *count += 1;
        match *count {
            1 => self.reference(dense, self.nodes[class as usize]),
            _ => 0,
        }
    }

    /// Counts the references of `node`; gives its cost and that of all it newly needs.
    fn reference(&mut self, dense: &Dense, node: NodeIx) -> u64 {
        self.walk(dense, node, |count| {
            *count += 1;
            *count == 1
        })
    }

    /// Takes the references of `node` back; gives its cost and that of all it alone needed.
    fn release(&mut self, dense: &Dense, node: NodeIx) -> u64 {
        self.walk(dense, node, |count| {
            *count -= 1;
            *count == 0
        })
    }

    /// Changes the count of each child by `step`, and goes on below those for which it returns true; returns the cost
    /// of all nodes on the way.
    fn walk(&mut self, dense: &Dense, node: NodeIx, step: impl Fn(&mut u32) -> bool) -> u64 {
        let mut cost = 0u64;
        let mut work = vec![node];
        while let Some(node) = work.pop() {
            let row = dense.node(node);
            cost = cost.saturating_add(row.price.cost);
            for &child in &row.children {
                if step(&mut self.references[child as usize]) {
                    work.push(self.nodes[child as usize]);
                }
            }
        }
        cost
    }
}

/// How many e-nodes of the program read each class.
fn program_uses(dense: &Dense) -> Vec<u32> {
    let mut uses = vec![0u32; dense.classes.len()];
    for &node in dense.program.iter().flatten() {
        for &child in &dense.node(node).children {
            uses[child as usize] += 1;
        }
    }
    uses
}
