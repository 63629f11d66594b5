//! Choice of e-nodes, improved by maximum fanout-free cones.
//!
//! Replacing the e-node of a class adds the cost of everything that only the new e-node references, and saves the cost
//! of everything that only the old one referenced. Both follow from reference counts, so shared work counts once.

use super::dense::{ClassIx, Dense, DenseClass, NodeContent, NodeIx};
use crate::egraph::language::Head;
use crate::load::Loaded;

/// The most passes over all classes.
const PASSES: usize = 10;

const NONE: NodeIx = NodeIx::MAX;

/// One e-node for each class that can be computed, and the reference counts of classes.
pub(crate) struct Choice {
    nodes: Vec<NodeIx>,
    references: Vec<u32>,
    /// The total cost of all referenced classes.
    pub(crate) cost: u64,
}

impl Choice {
    /// Returns the cheapest choice found, starting from the program's own.
    pub(crate) fn best(dense: &Dense, loaded: &Loaded<'_>) -> Choice {
        let mut choice = Choice::program(dense, loaded);
        choice.improve(dense, loaded);
        choice
    }

    /// Returns the e-node chosen for `class`; `None` if the class cannot be computed.
    pub(crate) fn node(&self, class: ClassIx) -> Option<NodeIx> {
        let node = self.nodes[class as usize];
        (node != NONE).then_some(node)
    }

    /// Returns whether the e-node chosen for `class` is a constant or a leaf.
    pub(crate) fn is_given(&self, dense: &Dense, class: ClassIx) -> bool {
        let node = self.node(class).map(|node| dense.node(node).content);
        matches!(
            node,
            Some(NodeContent::Node {
                head: Head::Leaf | Head::Const,
                ..
            })
        )
    }

    /// Returns whether the results of the region depend on `class`.
    pub(crate) fn needs(&self, class: ClassIx) -> bool {
        self.references[class as usize] > 0
    }

    /// Returns the bytes that all referenced classes move.
    pub(crate) fn bytes(&self, dense: &Dense) -> u64 {
        let needed = (0..self.nodes.len() as ClassIx).filter(|&class| self.needs(class));
        let nodes = needed.filter_map(|class| self.node(class));
        nodes.fold(0, |sum, node| {
            sum.saturating_add(dense.node(node).price.bytes)
        })
    }

    /// Returns the choice of the program's own e-nodes; classes that it does not compute have those of `changed`.
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

    /// Chooses `node` for `class`. Returns the cost of classes that become referenced, and that of classes that become
    /// unreferenced.
    pub(crate) fn switch(&mut self, dense: &Dense, class: ClassIx, node: NodeIx) -> (u64, u64) {
        let current = std::mem::replace(&mut self.nodes[class as usize], node);
        if self.references[class as usize] == 0 {
            return (0, 0);
        }
        let added = self.reference(dense, node);
        (added, self.release(dense, current))
    }

    /// Returns the choice that corresponds to the program. A class takes a leaf or constant if it has one, else the
    /// program's own e-node; a class that the program does not compute takes its cheapest e-node by estimate.
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
                    dense.node(node).content,
                    NodeContent::Node {
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
        // The new e-node is referenced before the old one is released. In the other order, the walks would descend into
        // everything that both share.
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

    /// Returns whether `node` could replace the e-node chosen for `class`.
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
        // In descending order of rank, because a walk from a class reaches lower ranks only: no choice undoes an
        // earlier one.
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

    /// Adds a reference to `class`; returns the cost of newly referenced classes.
    fn reach(&mut self, dense: &Dense, class: ClassIx) -> u64 {
        let count = &mut self.references[class as usize];
        *count += 1;
        match *count {
            1 => self.reference(dense, self.nodes[class as usize]),
            _ => 0,
        }
    }

    /// Adds the references of `node`; returns its cost and that of newly referenced classes.
    fn reference(&mut self, dense: &Dense, node: NodeIx) -> u64 {
        self.walk(dense, node, |count| {
            *count += 1;
            *count == 1
        })
    }

    /// Removes the references of `node`. Returns its cost plus that of classes that become unreferenced.
    fn release(&mut self, dense: &Dense, node: NodeIx) -> u64 {
        self.walk(dense, node, |count| {
            *count -= 1;
            *count == 0
        })
    }

    /// Changes the count of each child by `step`, and descends into those for which it returns true; returns the cost
    /// of all visited e-nodes.
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

/// Counts the e-nodes of the program that read each class.
fn program_uses(dense: &Dense) -> Vec<u32> {
    let mut uses = vec![0u32; dense.classes.len()];
    for &node in dense.program.iter().flatten() {
        for &child in &dense.node(node).children {
            uses[child as usize] += 1;
        }
    }
    uses
}
