//! The steps of elementary functions as vector operations.

use std::marker::PhantomData;

use mind_ir::scalar::math::Steps;

use mind_vir::ir::{
    BinaryOp, Builder, ConvertOp, Lane, MaskOp, Predicate, ShiftOp, UnaryOp, Value,
};

/// Appends each step to a function of vector IR, in lanes of `f32` or `f64`.
#[derive(Debug)]
pub struct VectorSteps<'b, T> {
    builder: &'b mut Builder,
    lane: PhantomData<T>,
}

impl<'b, T> VectorSteps<'b, T> {
    /// Returns steps that append to `builder`.
    pub fn new(builder: &'b mut Builder) -> VectorSteps<'b, T> {
        VectorSteps {
            builder,
            lane: PhantomData,
        }
    }
}

macro_rules! vector_steps {
    ($float:ident, $lane:ident, $int:ident) => {
        impl Steps for VectorSteps<'_, $float> {
            type Lane = $float;
            type Value = Value;
            type Int = Value;
            type Mask = Value;

            fn value(&mut self, c: $float) -> Value {
                self.builder.constant(Lane::$lane, c.to_bits().into())
            }
            fn int(&mut self, c: <$float as mind_ir::scalar::math::Lane>::Bits) -> Value {
                self.builder.constant(Lane::$int, c.into())
            }
            fn add(&mut self, a: Value, b: Value) -> Value {
                self.builder.binary(BinaryOp::Add, a, b)
            }
            fn sub(&mut self, a: Value, b: Value) -> Value {
                self.builder.binary(BinaryOp::Sub, a, b)
            }
            fn neg(&mut self, a: Value) -> Value {
                self.builder.unary(UnaryOp::Neg, a)
            }
            fn mul(&mut self, a: Value, b: Value) -> Value {
                self.builder.binary(BinaryOp::Mul, a, b)
            }
            fn div(&mut self, a: Value, b: Value) -> Value {
                self.builder.binary(BinaryOp::Div, a, b)
            }
            fn sqrt(&mut self, a: Value) -> Value {
                self.builder.unary(UnaryOp::Sqrt, a)
            }
            fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
                self.builder.fma(a, b, c)
            }
            fn round(&mut self, a: Value) -> Value {
                self.builder.unary(UnaryOp::Round, a)
            }
            fn lt(&mut self, a: Value, b: Value) -> Value {
                self.builder.compare(Predicate::Lt, a, b)
            }
            fn eq(&mut self, a: Value, b: Value) -> Value {
                self.builder.compare(Predicate::Eq, a, b)
            }
            fn unordered(&mut self, a: Value, b: Value) -> Value {
                self.builder.compare(Predicate::Unordered, a, b)
            }
            fn either(&mut self, a: Value, b: Value) -> Value {
                self.builder.mask_op(MaskOp::Or, a, b)
            }
            fn if_any<const N: usize>(
                &mut self,
                mask: Value,
                otherwise: [Value; N],
                body: impl FnOnce(&mut Self) -> [Value; N],
            ) -> [Value; N] {
                let open = self.builder.open_block();
                let computed = body(self);
                let builder = &mut *self.builder;
                let results = builder.close_if_any(open, mask, &otherwise, &computed);
                std::array::from_fn(|at| results[at])
            }
            fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
                self.builder.select(mask, a, b)
            }
            fn min(&mut self, a: Value, b: Value) -> Value {
                self.builder.binary(BinaryOp::Min, a, b)
            }
            fn max(&mut self, a: Value, b: Value) -> Value {
                self.builder.binary(BinaryOp::Max, a, b)
            }
            fn scale(&mut self, a: Value, k: Value) -> Value {
                self.builder.binary(BinaryOp::Scale, a, k)
            }
            fn scale_sum(&mut self, q: Value, k: Value) -> Value {
                self.builder.binary(BinaryOp::ScaleSum, q, k)
            }
            fn bits(&mut self, a: Value) -> Value {
                self.builder.convert(ConvertOp::Bits, Lane::$int, a)
            }
            fn float(&mut self, a: Value) -> Value {
                self.builder.convert(ConvertOp::Bits, Lane::$lane, a)
            }
            fn iadd(&mut self, a: Value, b: Value) -> Value {
                self.builder.binary(BinaryOp::Add, a, b)
            }
            fn isub(&mut self, a: Value, b: Value) -> Value {
                self.builder.binary(BinaryOp::Sub, a, b)
            }
            fn and(&mut self, a: Value, b: Value) -> Value {
                self.builder.binary(BinaryOp::And, a, b)
            }
            fn or(&mut self, a: Value, b: Value) -> Value {
                self.builder.binary(BinaryOp::Or, a, b)
            }
            fn shl(&mut self, a: Value, n: u32) -> Value {
                self.builder.shift(ShiftOp::Shl, a, n)
            }
            fn shr(&mut self, a: Value, n: u32) -> Value {
                self.builder.shift(ShiftOp::Shr, a, n)
            }
        }
    };
}

vector_steps!(f32, F32, I32);
vector_steps!(f64, F64, I64);
