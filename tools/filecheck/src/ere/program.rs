//! Compilation of expressions to instructions.

use super::byte_set::ByteSet;
use super::node::{Assertion, Expression, Node, NodeKind, Sequence};
use std::ops::Range;

/// An instruction; targets are indices into the program.
///
/// The instructions of a sequence of nodes are contiguous and jump out of it only to its end. Therefore any slice of a
/// sequence is a program too.
#[derive(Clone, Copy, Debug)]
pub enum Instruction {
    /// Matches a byte.
    Byte(u8),
    /// Matches a byte of a set.
    Set(ByteSet),
    /// Continues only if the assertion holds.
    Assert(Assertion),
    /// Start of a group.
    Open(usize),
    /// End of a group.
    Close(usize),
    /// Continues at both targets, the first one preferred.
    Split(usize, usize),
    /// Continues at the target.
    Jump(usize),
    /// Entry of a loop. Loops whose body may match the empty string have a `slot`.
    LoopEnter { slot: Option<usize> },
    /// End of an iteration; continues at `body` or after the loop.
    LoopBack { body: usize, slot: Option<usize> },
    /// Matches the text of a group and continues at `resume`. The instructions in between are the shape of the group.
    Reference { group: usize, resume: usize },
}

/// An expression with its instructions.
#[derive(Debug)]
pub struct Program {
    /// The instructions.
    pub code: Vec<Instruction>,
    /// The expression, whose nodes refer to `code`.
    pub expression: Expression,
    /// The number of loop slots.
    pub slots: usize,
    /// Whether the program has assertions.
    pub has_assertions: bool,
    /// Whether the number of assertions at one position is limited, see [`super::simulate`].
    pub limits_assertions: bool,
    /// A prefix of every match.
    pub prefix: Vec<u8>,
    /// A substring of every match.
    pub required: Vec<u8>,
}

impl Program {
    /// Compiles `expression`.
    pub fn new(mut expression: Expression) -> Program {
        let mut layout = Layout {
            code: Vec::new(),
            slots: 0,
        };
        let mut sequence = std::mem::take(&mut expression.sequence);
        layout.sequence(&mut sequence);
        let runs = literal_runs(&sequence);
        let starts_literal = sequence
            .iter()
            .find(|node| !is_border(node))
            .is_some_and(|node| byte(node).is_some());
        let prefix = if starts_literal {
            runs[0].clone()
        } else {
            Vec::new()
        };
        let required = runs.into_iter().max_by_key(Vec::len).unwrap_or_default();
        // LLVM's program has two more operators for its start and end.
        let limits_assertions = operators(&sequence) + 2 <= SMALL;
        let is_assertion =
            |instruction: &Instruction| matches!(instruction, Instruction::Assert(_));
        let has_assertions = layout.code.iter().any(is_assertion);
        expression.sequence = sequence;
        Program {
            code: layout.code,
            expression,
            slots: layout.slots,
            has_assertions,
            limits_assertions,
            prefix,
            required,
        }
    }

    /// Returns the instructions of the whole expression.
    pub fn whole(&self) -> Range<usize> {
        0..self.code.len()
    }
}

/// LLVM's matcher uses another algorithm for expressions of up to this many operators.
const SMALL: usize = 64;

/// Returns the number of operators of LLVM's program for `sequence`.
fn operators(sequence: &[Node]) -> usize {
    let count = |node: &Node| match &node.kind {
        NodeKind::Either(branches) => {
            2 * branches.len()
                + branches
                    .iter()
                    .map(|branch| operators(branch))
                    .sum::<usize>()
        }
        NodeKind::Plus(body) => operators(body) + 2,
        NodeKind::Star(body) => operators(body) + 4,
        NodeKind::Reference { shape, .. } => operators(shape) + 2,
        NodeKind::Byte(_)
        | NodeKind::Set(_)
        | NodeKind::Assert(_)
        | NodeKind::Open(_)
        | NodeKind::Close(_) => 1,
    };
    sequence.iter().map(count).sum()
}

/// Returns the instructions of consecutive nodes.
pub fn code_of(nodes: &[Node]) -> Range<usize> {
    match nodes {
        [] => 0..0,
        [first, .., last] => first.code.start..last.code.end,
        [only] => only.code.clone(),
    }
}

fn is_nullable(sequence: &[Node]) -> bool {
    sequence.iter().all(|node| match &node.kind {
        NodeKind::Byte(_) | NodeKind::Set(_) => false,
        NodeKind::Either(branches) => branches.iter().any(|branch| is_nullable(branch)),
        NodeKind::Plus(body) | NodeKind::Reference { shape: body, .. } => is_nullable(body),
        NodeKind::Star(_) | NodeKind::Assert(_) | NodeKind::Open(_) | NodeKind::Close(_) => true,
    })
}

fn is_border(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Open(_) | NodeKind::Close(_))
}

fn byte(node: &Node) -> Option<u8> {
    match node.kind {
        NodeKind::Byte(byte) => Some(byte),
        _ => None,
    }
}

/// Returns the runs of literal bytes on the outermost level, which every match contains.
fn literal_runs(sequence: &[Node]) -> Vec<Vec<u8>> {
    let mut runs = Vec::new();
    let mut run = Vec::new();
    for node in sequence.iter().filter(|node| !is_border(node)) {
        match byte(node) {
            Some(byte) => run.push(byte),
            None if run.is_empty() => {}
            None => runs.push(std::mem::take(&mut run)),
        }
    }
    runs.push(run);
    runs
}

struct Layout {
    code: Vec<Instruction>,
    slots: usize,
}

impl Layout {
    fn sequence(&mut self, sequence: &mut Sequence) {
        for node in sequence {
            let start = self.code.len();
            self.node(&mut node.kind);
            node.code = start..self.code.len();
        }
    }

    /// Reserves an instruction that is replaced once its target is known.
    fn reserve(&mut self) -> usize {
        self.code.push(Instruction::Jump(0));
        self.code.len() - 1
    }

    fn node(&mut self, kind: &mut NodeKind) {
        match kind {
            NodeKind::Byte(byte) => self.code.push(Instruction::Byte(*byte)),
            NodeKind::Set(set) => self.code.push(Instruction::Set(*set)),
            NodeKind::Assert(assertion) => self.code.push(Instruction::Assert(*assertion)),
            NodeKind::Open(group) => self.code.push(Instruction::Open(*group)),
            NodeKind::Close(group) => self.code.push(Instruction::Close(*group)),
            NodeKind::Either(branches) => self.either(branches),
            NodeKind::Plus(body) => self.plus(body),
            NodeKind::Star(body) => {
                let split = self.reserve();
                self.plus(body);
                self.code[split] = Instruction::Split(split + 1, self.code.len());
            }
            NodeKind::Reference { group, shape } => {
                let reference = self.reserve();
                self.sequence(shape);
                self.code[reference] = Instruction::Reference {
                    group: *group,
                    resume: self.code.len(),
                };
            }
        }
    }

    fn either(&mut self, branches: &mut [Sequence]) {
        let mut jumps = Vec::new();
        let last = branches.len() - 1;
        for (i, branch) in branches.iter_mut().enumerate() {
            if i == last {
                self.sequence(branch);
                continue;
            }
            let split = self.reserve();
            self.sequence(branch);
            jumps.push(self.reserve());
            self.code[split] = Instruction::Split(split + 1, self.code.len());
        }
        for jump in jumps {
            self.code[jump] = Instruction::Jump(self.code.len());
        }
    }

    fn plus(&mut self, body: &mut Sequence) {
        let slot = is_nullable(body).then_some(self.slots);
        self.slots += usize::from(slot.is_some());
        self.code.push(Instruction::LoopEnter { slot });
        let body_start = self.code.len();
        self.sequence(body);
        self.code.push(Instruction::LoopBack {
            body: body_start,
            slot,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::{Syntax, parse};
    use super::*;

    fn program(source: &str) -> Program {
        Program::new(parse(source.as_bytes(), Syntax::default()).expect("valid"))
    }

    #[test]
    fn literals_are_found() {
        let program = program("ab(c)d.*(longer)x?y");
        assert_eq!(program.prefix, b"abcd");
        assert_eq!(program.required, b"longer");
    }

    #[test]
    fn a_set_in_front_leaves_no_prefix() {
        let program = program("[ab]cd");
        assert_eq!(program.prefix, b"");
        assert_eq!(program.required, b"cd");
    }
}
