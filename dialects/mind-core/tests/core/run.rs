//! Evaluation of single ops.

use mind_ir::attr::Attr;
use mind_ir::eval::{DimEnv, EvalCx, EvalError, Overflow};
use mind_ir::opdef::OpDef;
use mind_ir::tensor::Tensor;
use mind_ir::types::{Dim, TensorType};

use crate::module::{build, empty, input};

/// How an op is evaluated.
#[derive(Clone)]
pub struct Setup {
    /// What integer overflow does.
    pub overflow: Overflow,
    /// The most bytes of a result.
    pub limit: u64,
    /// Whether the operands' extents are `?` to the shape rule.
    pub open: bool,
    /// The extent of the symbol `B`.
    pub b: usize,
}

/// Execution with known extents.
pub const RUN: Setup = Setup {
    overflow: Overflow::Wrap,
    limit: EvalCx::TENSOR_LIMIT,
    open: false,
    b: 5,
};
/// Constant folding.
pub const FOLD: Setup = Setup {
    overflow: Overflow::Refuse,
    ..RUN
};
/// Execution where every extent is `?`.
pub const OPEN: Setup = Setup { open: true, ..RUN };

impl Setup {
    /// Evaluates an op, and checks that the result's type is the one its shape rule gives.
    #[track_caller]
    pub fn eval(
        &self,
        def: &'static OpDef,
        attrs: &[Attr<'_>],
        operands: &[&Tensor],
    ) -> Result<Tensor, EvalError> {
        let results = self.eval_all(def, attrs, operands)?;
        let [result] = <[Tensor; 1]>::try_from(results)
            .unwrap_or_else(|results| panic!("{} has {} results", def.name, results.len()));
        Ok(result)
    }

    /// Evaluates an op of any number of results, and checks that their types are those its shape rule gives.
    #[track_caller]
    pub fn eval_all(
        &self,
        def: &'static OpDef,
        attrs: &[Attr<'_>],
        operands: &[&Tensor],
    ) -> Result<Vec<Tensor>, EvalError> {
        let mut g = empty();
        let mut values = Vec::new();
        for tensor in operands {
            let dims = tensor.shape().iter().map(|&extent| {
                if self.open {
                    Dim::Dynamic
                } else {
                    Dim::Fixed(extent as i64)
                }
            });
            let ty = g.intern_type(TensorType::new(tensor.dtype(), dims).view());
            values.push(input(&mut g, ty));
        }
        let op = build(&mut g)
            .create(def, &values, attrs)
            .expect("the op is valid");
        let mut dims = DimEnv::default();
        dims.bind(mind_ir::Sym::new(0), self.b)
            .expect("B is bound once");
        let cx = EvalCx {
            graph: &g,
            dims: &dims,
            overflow: self.overflow,
            tensor_limit: self.limit,
            max_steps: EvalCx::MAX_STEPS,
        };
        let results = def.eval.expect("the op has a meaning")(op, &cx, operands)?;
        assert_eq!(results.len(), g.results(op).len(), "{}", def.name);
        for (result, value) in results.iter().zip(g.results(op)) {
            let ty = g.ty(value);
            assert_eq!(
                (result.dtype(), result.rank()),
                (ty.dtype, ty.rank()),
                "{}",
                def.name
            );
            for (dim, &extent) in ty.shape.iter().zip(result.shape()) {
                assert!(
                    dim.fixed().is_none_or(|known| known == extent as i64),
                    "{}",
                    def.name
                );
            }
        }
        Ok(results.into_vec())
    }

    /// The result of an op that has one.
    #[track_caller]
    pub fn get(&self, def: &'static OpDef, attrs: &[Attr<'_>], operands: &[&Tensor]) -> Tensor {
        self.eval(def, attrs, operands)
            .expect("the op has a result")
    }

    /// The message of a run-time mismatch of extents.
    #[track_caller]
    pub fn mismatch(
        &self,
        def: &'static OpDef,
        attrs: &[Attr<'_>],
        operands: &[&Tensor],
    ) -> String {
        match self.eval(def, attrs, operands) {
            Err(EvalError::Shape(text)) => text,
            other => panic!(
                "{} should find extents that do not fit: {other:?}",
                def.name
            ),
        }
    }
}
