//! Graphs of a model before names are assigned.

use mind_ir::types::DType;

use super::functions::Function;
use super::operator::Operator;
use crate::proto::TypeProto;

/// A value of the model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Val(u32);

impl Val {
    pub fn new(index: usize) -> Val {
        Val(index as u32)
    }

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A graph of the model.
#[derive(Default)]
pub(super) struct GraphDraft {
    pub inputs: Vec<(Val, TypeProto)>,
    pub outputs: Vec<(Val, Option<TypeProto>)>,
    pub nodes: Vec<NodeDraft>,
}

/// A node of the model.
pub(super) struct NodeDraft {
    pub callee: Callee,
    /// `None` is an omitted input.
    pub inputs: Vec<Option<Val>>,
    /// `None` is an unused output.
    pub outputs: Vec<Option<Val>>,
    pub attrs: Vec<(&'static str, AttrDraft)>,
}

/// The operator or function of a node.
#[derive(Clone, Copy)]
pub(super) enum Callee {
    Operator(&'static Operator),
    Function(&'static Function),
}

impl Callee {
    pub fn name(self) -> &'static str {
        match self {
            Callee::Operator(operator) => operator.name,
            Callee::Function(function) => function.name,
        }
    }
}

/// The value of an attribute.
pub(super) enum AttrDraft {
    Int(i64),
    Float(f32),
    Word(String),
    Ints(Vec<i64>),
    Graph(GraphDraft),
}

impl From<i64> for AttrDraft {
    fn from(own: i64) -> AttrDraft {
        AttrDraft::Int(own)
    }
}

impl From<bool> for AttrDraft {
    fn from(own: bool) -> AttrDraft {
        AttrDraft::Int(i64::from(own))
    }
}

impl From<f32> for AttrDraft {
    fn from(own: f32) -> AttrDraft {
        AttrDraft::Float(own)
    }
}

impl From<&str> for AttrDraft {
    fn from(own: &str) -> AttrDraft {
        AttrDraft::Word(own.to_owned())
    }
}

impl From<&[i64]> for AttrDraft {
    fn from(own: &[i64]) -> AttrDraft {
        AttrDraft::Ints(own.to_vec())
    }
}

impl From<DType> for AttrDraft {
    fn from(own: DType) -> AttrDraft {
        AttrDraft::Int(i64::from(crate::tensor::element_type(own)))
    }
}

impl From<GraphDraft> for AttrDraft {
    fn from(own: GraphDraft) -> AttrDraft {
        AttrDraft::Graph(own)
    }
}
