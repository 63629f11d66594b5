//! Construction of small modules.

use mind_core::ops::input::Input;
use mind_diag::Span;
use mind_ir::attr::Attr;
use mind_ir::builder::Builder;
use mind_ir::builtin::Yield;
use mind_ir::graph::InsertPoint;
use mind_ir::opdef::Op;
use mind_ir::types::{DType, Dim, TensorType};
use mind_ir::verify::{VerifyConfig, verify};
use mind_ir::{Graph, ValueId};

/// A module under construction.
#[derive(Default)]
pub struct Module {
    graph: Option<Graph>,
}

impl Module {
    pub fn new() -> Module {
        Module {
            graph: Some(Graph::new()),
        }
    }

    pub fn graph(&mut self) -> &mut Graph {
        self.graph.as_mut().unwrap()
    }

    /// Adds an argument with dimensions that are numbers, symbols or `?`.
    pub fn arg(&mut self, name: &str, dtype: DType, dims: &[&str]) -> ValueId {
        self.input(name, dtype, dims, false)
    }

    pub fn param(&mut self, name: &str, dtype: DType, dims: &[&str]) -> ValueId {
        self.input(name, dtype, dims, true)
    }

    fn input(&mut self, name: &str, dtype: DType, dims: &[&str], param: bool) -> ValueId {
        let g = self.graph();
        let dims: Vec<Dim> = dims.iter().map(|text| dim(g, text)).collect();
        let ty = g.intern_type(TensorType::new(dtype, dims).view());
        let attrs = Input::attrs(g.intern(name), param, None);
        let at = InsertPoint::End(g.body());
        let op = Builder::new(g, at, Span::new(1, 2)).create_typed(Input::DEF, &[], &attrs, &[ty]);
        g.result(op)
    }

    pub fn op<T: Op>(&mut self, operands: &[ValueId], attrs: &[Attr<'_>]) -> ValueId {
        let g = self.graph();
        let at = InsertPoint::End(g.body());
        let op = Builder::new(g, at, Span::new(3, 4))
            .create(T::DEF, operands, attrs)
            .unwrap();
        g.result(op)
    }

    /// Returns the verified module with these outputs.
    pub fn yields(&mut self, outputs: &[ValueId]) -> Graph {
        let mut g = self.graph.take().unwrap();
        let at = InsertPoint::End(g.body());
        Builder::new(&mut g, at, Span::FILE)
            .create(Yield::DEF, outputs, &[])
            .unwrap();
        let found = verify(&mut g, &VerifyConfig::default());
        assert!(found.is_empty(), "{found:?}");
        g
    }
}

pub fn dim(g: &mut Graph, text: &str) -> Dim {
    match text.parse() {
        Ok(extent) => Dim::Fixed(extent),
        Err(_) if text == "?" => Dim::Dynamic,
        Err(_) => Dim::Symbol(g.intern(text)),
    }
}
