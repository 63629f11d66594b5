//! Register pressure of a loop body, which limits its unroll factor.

use mind_ir::types::DType;
use mind_loops::node::Node;
use mind_vir::target::TargetInfo;

/// The register file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Registers {
    /// Vector registers.
    pub vectors: u32,
    /// Mask registers; `None` if masks are in vector registers.
    pub masks: Option<u32>,
}

impl Default for Registers {
    /// Returns the registers of a target with 16 vector registers and no masks.
    fn default() -> Registers {
        Registers {
            vectors: 16,
            masks: None,
        }
    }
}

impl Registers {
    /// Returns the registers of `target`.
    pub const fn of(target: &TargetInfo) -> Registers {
        /// The register k0 cannot predicate instructions.
        const MASKS: u32 = 7;
        Registers {
            vectors: target.vector_registers,
            masks: if target.has_masks { Some(MASKS) } else { None },
        }
    }

    /// Returns the largest unroll factor without spills if each iteration has a pressure of `most`.
    pub fn room(self, most: Alive) -> u32 {
        let vectors = self.vectors / most.of_vectors(self).max(1);
        match self.masks {
            Some(masks) if most.masks > 0 => vectors.min(masks / most.masks),
            _ => vectors,
        }
    }
}

/// Maximum number of values that are live at once.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Alive {
    numbers: u32,
    masks: u32,
    /// Vectors and masks together.
    both: u32,
}

impl Alive {
    /// Returns the pressure of computing `roots` in order, arguments first, each stored as soon as it is computed. Only
    /// the nodes in `computed` count, because others and constants are shared by all vectors.
    pub fn of(nodes: &[Node], roots: &[usize], computed: &[usize]) -> Alive {
        let mut walk = Walk {
            nodes,
            computed,
            order: Vec::new(),
            seen: vec![false; nodes.len()],
        };
        for &root in roots {
            walk.visit(root);
        }
        let order = walk.order;
        let mut last = vec![0; nodes.len()];
        for (at, &node) in order.iter().enumerate() {
            last[node] = at;
            for &arg in nodes[node].args() {
                last[arg] = at;
            }
        }
        let mut most = Alive::default();
        for at in 0..order.len() {
            // A result may reuse the register of an argument that dies.
            let is_alive = |node: usize| last[node] > at || node == order[at];
            let alive = order[..=at].iter().filter(|&&node| is_alive(node));
            most = most.max(Alive::count(nodes, alive));
        }
        most
    }

    fn count<'n>(nodes: &[Node], alive: impl Iterator<Item = &'n usize>) -> Alive {
        let mut count = Alive::default();
        for &node in alive {
            let is_mask = nodes[node].dtype() == Some(DType::Bool);
            count.masks += u32::from(is_mask);
            count.numbers += u32::from(!is_mask);
            count.both += 1;
        }
        count
    }

    fn max(self, other: Alive) -> Alive {
        Alive {
            numbers: self.numbers.max(other.numbers),
            masks: self.masks.max(other.masks),
            both: self.both.max(other.both),
        }
    }

    const fn of_vectors(self, registers: Registers) -> u32 {
        match registers.masks {
            Some(_) => self.numbers,
            None => self.both,
        }
    }
}

struct Walk<'n> {
    nodes: &'n [Node],
    computed: &'n [usize],
    order: Vec<usize>,
    seen: Vec<bool>,
}

impl Walk<'_> {
    fn visit(&mut self, node: usize) {
        let is_constant = matches!(self.nodes[node], Node::Constant { .. });
        let is_own = self.computed.contains(&node) && !is_constant;
        if !is_own || std::mem::replace(&mut self.seen[node], true) {
            return;
        }
        for &arg in self.nodes[node].args() {
            self.visit(arg);
        }
        self.order.push(node);
    }
}

#[cfg(test)]
mod tests {
    use mind_ir::scalar::ScalarFn;

    use super::*;

    fn apply(function: ScalarFn, args: &[usize]) -> Node {
        Node::Apply {
            function,
            dtype: DType::F32,
            args: args.to_vec(),
        }
    }

    /// `x < a ? x b : (x < b ? x + b : a)`.
    fn choices() -> Vec<Node> {
        let [x, a, b] = [0, 1, 2];
        vec![
            Node::Input(x),
            Node::Input(a),
            Node::Input(b),
            apply(ScalarFn::Less, &[x, a]),
            apply(ScalarFn::Less, &[x, b]),
            apply(ScalarFn::Mul, &[x, b]),
            apply(ScalarFn::Add, &[x, b]),
            apply(ScalarFn::Select, &[4, 6, a]),
            apply(ScalarFn::Select, &[3, 5, 7]),
        ]
    }

    #[test]
    fn values_live_until_they_are_read_for_the_last_time() {
        let nodes = choices();
        let all: Vec<usize> = (0..nodes.len()).collect();
        let most = |roots: &[usize], computed: &[usize]| Alive::of(&nodes, roots, computed);
        let alive = |numbers, masks, both| Alive {
            numbers,
            masks,
            both,
        };
        // After the second comparison, x, a, b, the product and both comparisons are live.
        assert_eq!(most(&[8], &all), alive(4, 2, 6));
        assert_eq!(most(&[5], &all), alive(2, 0, 2));
        // A stored value frees its register.
        assert_eq!(most(&[0, 1, 2], &all), alive(1, 0, 1));
        // A loop-invariant operand takes no register per vector.
        assert_eq!(most(&[8], &[0, 2, 3, 4, 5, 6, 7, 8]), alive(3, 2, 5));
    }

    #[test]
    fn registers_of_their_own_leave_room_for_more() {
        let choices = Alive::of(&choices(), &[8], &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
        let shared = Registers::default();
        assert_eq!(shared.room(choices), 2);
        let apart = Registers {
            vectors: 32,
            masks: Some(7),
        };
        assert_eq!(apart.room(choices), 3);
        assert_eq!(apart.room(Alive::default()), 32);
    }
}
