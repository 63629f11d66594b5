//! Writer of Core text.

use std::fmt::Write;

use super::Workload;

/// A value of the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Id(usize);

/// A module that is being written; tensors have the same dtype unless another one is given.
pub(super) struct Text {
    dtype: &'static str,
    lines: String,
    next: usize,
    flops: u64,
    bytes: u64,
}

impl Text {
    pub(super) fn new(dtype: &'static str) -> Text {
        Text {
            dtype,
            lines: String::new(),
            next: 0,
            flops: 0,
            bytes: 0,
        }
    }

    fn line(&mut self, rest: &str) -> Id {
        let id = self.next;
        self.next += 1;
        // Writing to a string cannot fail.
        let _ = writeln!(self.lines, "%{id} = {rest}");
        Id(id)
    }

    fn count_bytes(&mut self, dtype: &str, shape: &[u64]) {
        let size = match dtype {
            "i8" | "u8" => 1,
            "f16" | "bf16" => 2,
            "i64" => 8,
            _ => 4,
        };
        self.bytes += size * shape.iter().product::<u64>();
    }

    /// Adds an input.
    pub(super) fn input(&mut self, name: &str, shape: &[u64]) -> Id {
        self.port(name, self.dtype, "", shape)
    }

    /// Adds a weight.
    pub(super) fn param(&mut self, name: &str, shape: &[u64]) -> Id {
        self.port(name, self.dtype, ", role=param", shape)
    }

    /// Adds an input of a dtype, with further attributes.
    pub(super) fn port(&mut self, name: &str, dtype: &str, role: &str, shape: &[u64]) -> Id {
        self.count_bytes(dtype, shape);
        self.line(&format!(
            "Input {{name={name}{role}}} : tensor<{dtype}{shape:?}>"
        ))
    }

    /// Adds a scalar constant.
    pub(super) fn number(&mut self, value: f64) -> Id {
        self.line(&format!(
            "ConstTensor {{dtype={}, fill={value:?}, shape=[]}}",
            self.dtype
        ))
    }

    pub(super) fn op(&mut self, name: &str, operands: &[Id]) -> Id {
        self.op_with(name, operands, "")
    }

    /// Adds an op with attributes, for example `axis=1`.
    pub(super) fn op_with(&mut self, name: &str, operands: &[Id], attributes: &str) -> Id {
        let operands: Vec<String> = operands.iter().map(|id| format!("%{}", id.0)).collect();
        let operands = operands.join(", ");
        match attributes {
            "" => self.line(&format!("{name} ({operands})")),
            _ => self.line(&format!("{name} ({operands}) {{{attributes}}}")),
        }
    }

    /// Adds an op with two results.
    pub(super) fn pair(&mut self, name: &str, operand: Id, attributes: &str) -> [Id; 2] {
        let first = self.next;
        self.next += 2;
        let (second, operand) = (first + 1, operand.0);
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.lines,
            "%{first}, %{second} = {name} (%{operand}) {{{attributes}}}"
        );
        [Id(first), Id(second)]
    }

    /// Counts multiplications and additions.
    pub(super) fn count_flops(&mut self, flops: u64) {
        self.flops += flops;
    }

    /// Adds a matrix product with extents `[batch, m, k, n]`.
    pub(super) fn matmul(&mut self, lhs: Id, rhs: Id, [batch, m, k, n]: [u64; 4]) -> Id {
        self.flops += 2 * batch * m * k * n;
        self.op("MatMul", &[lhs, rhs])
    }

    /// Adds `x W + b` with weights of these names, where `x` is `[m, k]`.
    pub(super) fn dense(&mut self, name: &str, x: Id, [m, k, n]: [u64; 3]) -> Id {
        let weight = self.param(&format!("{name}_weight"), &[k, n]);
        let bias = self.param(&format!("{name}_bias"), &[n]);
        let product = self.matmul(x, weight, [1, m, k, n]);
        self.op("Add", &[product, bias])
    }

    /// Adds a convolution of an NHWC image with a filter `[kh, kw, c, f]`; the result has `positions` positions.
    pub(super) fn conv(
        &mut self,
        image: Id,
        name: &str,
        positions: u64,
        filter: [u64; 4],
        padding: &str,
    ) -> Id {
        let weight = self.param(name, &filter);
        self.flops += 2 * positions * filter.iter().product::<u64>();
        self.op_with(
            "Conv2d",
            &[image, weight],
            &format!("strides=[1, 1], padding={padding}"),
        )
    }

    /// Returns the module with these outputs, of these shapes.
    pub(super) fn finish(self, name: impl Into<String>, outputs: &[(Id, &[u64])]) -> Workload {
        let dtype = self.dtype;
        let outputs: Vec<(Id, &str, &[u64])> = outputs
            .iter()
            .map(|&(id, shape)| (id, dtype, shape))
            .collect();
        self.finish_as(name, &outputs)
    }

    /// Returns the module with these outputs, of these dtypes and shapes.
    pub(super) fn finish_as(
        mut self,
        name: impl Into<String>,
        outputs: &[(Id, &str, &[u64])],
    ) -> Workload {
        for (_, dtype, shape) in outputs {
            self.count_bytes(dtype, shape);
        }
        let outputs: Vec<String> = outputs
            .iter()
            .map(|output| format!("%{}", output.0.0))
            .collect();
        Workload {
            name: name.into(),
            text: format!("{}outputs: {}\n", self.lines, outputs.join(", ")),
            flops: self.flops,
            bytes: self.bytes,
        }
    }
}
