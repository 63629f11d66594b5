//! Evaluation of single ops.

use mind_ir::attr::Attr;
use mind_ir::eval::{DimEnv, EvalCx, EvalError, Overflow};
use mind_ir::opdef::OpDef;
use mind_ir::tensor::Tensor;
use mind_ir::types::{Dim, TensorType};

use crate::module::{build, empty, input};

/// The configuration of an evaluation.
#[derive(Clone)]
pub struct Setup {
    /// The behaviour on integer overflow.
    pub overflow: Overflow,
    /// The largest size of a result, in bytes.
    pub limit: u64,
    /// Whether the shape rule sees the extents of the operands as `?`.
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
    /// Evaluates an op, and checks that the type of the result is that of its shape rule.
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

    /// Evaluates an op with any number of results, and checks that their types are those of its shape rule.
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

    /// Returns the result of an op with one result.
    #[track_caller]
    pub fn get(&self, def: &'static OpDef, attrs: &[Attr<'_>], operands: &[&Tensor]) -> Tensor {
        self.eval(def, attrs, operands)
            .expect("the op has a result")
    }

    /// Returns the message of a mismatch of extents at run time.
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
