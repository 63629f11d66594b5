//! MIL programs of a single op.

use mind_ir::tensor::{FloatNum, Tensor};
use mind_ir::types::DType;
use mind_ir::with_float;

/// A MIL op with inputs of small shapes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Program {
    /// The tested op.
    pub op: &'static str,
    /// The opset of the program.
    pub opset: &'static str,
    inputs: &'static str,
    statements: &'static str,
    outputs: &'static str,
}

const TEXT: &str = include_str!("mil_cases.txt");

/// Returns every case of `mil_cases.txt`, in order.
pub fn programs() -> Vec<Program> {
    TEXT.split("\n\n").filter_map(program).collect()
}

fn program(text: &'static str) -> Option<Program> {
    let (head, rest) = text.strip_prefix("op ")?.split_once("\nin ")?;
    let (op, opset) = head.split_once(' ').unwrap_or((head, "ios18"));
    let (inputs, rest) = rest.split_once('\n')?;
    let (statements, outputs) = rest.split_once("\nout ")?;
    Some(Program {
        op,
        opset,
        inputs,
        statements,
        outputs: outputs.trim_end(),
    })
}

impl Program {
    /// Returns the text with floats of the element type `float`: `fp16` or `fp32`.
    pub fn text(&self, float: &str) -> String {
        self.text_in(float, self.opset)
    }

    /// Returns the text as [`text`](Program::text), but in another opset, which may not support the form.
    pub fn text_in(&self, float: &str, opset: &str) -> String {
        let text = format!(
            "program(1.3)\n[]\n{{\n    func main<{opset}>({}) {{\n{}\n        }} -> ({});\n}}",
            self.inputs, self.statements, self.outputs
        );
        text.replace('@', float)
    }

    /// Returns the parameters, followed by the statements that call the op, with `@` for the float type.
    pub fn form(&self) -> String {
        let call = format!(" = {}(", self.op);
        let lines = self.statements.lines().map(str::trim);
        let own = lines.filter(|line| line.contains(&call) || line.starts_with(&call[3..]));
        format!("({}) {}", self.inputs, own.collect::<Vec<_>>().join(" "))
    }

    /// Returns element `at` of input `name`, which is exact in `fp16`.
    pub fn element(name: &str, at: usize) -> f64 {
        let mixed =
            (at * 37 + name.len() + usize::from(name.as_bytes().first().copied().unwrap_or(0)))
                % 23;
        match name {
            "i" => (mixed % 2) as f64,
            "p" => (mixed + 1) as f64 / 8.0,
            _ => (mixed as f64 - 11.0) / 8.0,
        }
    }

    /// Returns the elements of input `name`, each an [`element`](Program::element) in `dtype`: a float, `u16`, or
    /// `i32`.
    pub fn tensor(name: &str, dtype: DType, shape: Vec<usize>) -> Tensor {
        let numbers = (0..shape.iter().product()).map(|at| Program::element(name, at));
        with_float!(dtype, T => {
            let elements = numbers.map(<T as FloatNum>::from_f64);
            Tensor::of(shape, elements.collect::<Vec<T>>())
        }, else if dtype == DType::U16 {
            Tensor::of(shape, numbers.map(|number| number as u16).collect())
        } else {
            Tensor::of(shape, numbers.map(|number| number as i32).collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_paragraph_is_a_program() {
        let paragraphs = TEXT.split("\n\n").filter(|text| !text.starts_with('#'));
        assert_eq!(programs().len(), paragraphs.count());
    }
}
