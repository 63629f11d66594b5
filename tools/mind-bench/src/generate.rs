//! Generated modules of any size.

use std::fmt::Write;

/// Returns a module of about `ops` ops in mic@1: layers of matmul, bias, relu and residual between chains of
/// elementwise ops, of which one in ten repeats an earlier one, one in ten is an identity and one in twenty is dead.
/// Deterministic.
pub fn layered(ops: usize) -> String {
    let mut text = String::from(
        "mic@1\nT0 [f32;64,64]\nT1 [f32;64]\nT2 f32\nN0 param \"x\" T0\nN1 param \"w\" T0\n\
         N2 param \"b\" T1\nN3 const.f32 1.0 T2\n",
    );
    let mut next = 4;
    let mut node = |text: &mut String, line: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "N{next} {line}");
        next += 1;
        next - 1
    };
    let (mut x, mut step, mut previous) = (0, 0usize, None);
    let mut made = 0;
    while made < ops {
        step += 1;
        match step % 20 {
            0 | 10 => {
                let product = node(&mut text, format_args!("matmul N{x} N1 T0"));
                let biased = node(&mut text, format_args!("add N{product} N2 T0"));
                let active = node(&mut text, format_args!("relu N{biased} T0"));
                x = node(&mut text, format_args!("add N{active} N{x} T0"));
                made += 4;
            }
            3 | 13 => {
                x = node(&mut text, format_args!("mul N{x} N3 T0"));
                made += 1;
            }
            7 => {
                node(&mut text, format_args!("exp N{x} T0"));
                made += 1;
            }
            5 | 15 if previous.is_some() => {
                let (lhs, rhs) = previous.unwrap_or_default();
                let again = node(&mut text, format_args!("add N{lhs} N{rhs} T0"));
                x = node(&mut text, format_args!("mul N{x} N{again} T0"));
                made += 2;
            }
            4 | 14 => {
                let sum = node(&mut text, format_args!("add N{x} N0 T0"));
                previous = Some((x, 0));
                x = node(&mut text, format_args!("sub N{sum} N{x} T0"));
                made += 2;
            }
            _ => {
                x = node(&mut text, format_args!("relu N{x} T0"));
                x = node(&mut text, format_args!("add N{x} N0 T0"));
                made += 2;
            }
        }
    }
    let _ = writeln!(text, "O N{x}");
    text
}

/// Returns a transformer of about `ops` ops as Core text: pre-norm blocks of masked attention and a feed-forward layer
/// with gelu. Normalisations and activations are composed of elementary ops, and each block has its own weights.
/// Deterministic.
pub fn transformer(ops: usize) -> String {
    let mut text = String::new();
    let mut next = 0;
    let mut node = |text: &mut String, line: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "%{next} = {line}");
        next += 1;
        next - 1
    };
    let mut x = node(
        &mut text,
        format_args!("Input {{name=x}} : tensor<f32[2, 64, 64]>"),
    );
    let mask = node(
        &mut text,
        format_args!("Input {{name=mask}} : tensor<f32[64, 64]>"),
    );
    let mut constant =
        |text: &mut String, value: &str| node(text, format_args!("ConstF32 {{value={value}}}"));
    let eps = constant(&mut text, "0.00001");
    let scale = constant(&mut text, "0.125");
    let [half, one] = ["0.5", "1.0"].map(|value| constant(&mut text, value));
    let [cubic, root] = ["0.044715", "0.7978846"].map(|value| constant(&mut text, value));
    let mut layer = 0;
    while layer * BLOCK < ops {
        let mut weight = |text: &mut String, name: &str, shape: &str| {
            let shape = format_args!("tensor<f32[{shape}]>");
            node(
                text,
                format_args!("Input {{name={name}{layer}, role=param}} : {shape}"),
            )
        };
        let [g1, b1, g2, b2, c2] =
            ["g1_", "b1_", "g2_", "b2_", "c2_"].map(|name| weight(&mut text, name, "64"));
        let [wq, wk, wv, wo] =
            ["wq", "wk", "wv", "wo"].map(|name| weight(&mut text, name, "64, 64"));
        let up = weight(&mut text, "up", "64, 256");
        let c1 = weight(&mut text, "c1_", "256");
        let down = weight(&mut text, "down", "256, 64");
        let mut op = |line: std::fmt::Arguments<'_>| node(&mut text, line);
        let normal = normalised(&mut op, x, eps, g1, b1);
        let q = op(format_args!("MatMul (%{normal}, %{wq})"));
        let k = op(format_args!("MatMul (%{normal}, %{wk})"));
        let v = op(format_args!("MatMul (%{normal}, %{wv})"));
        let k = op(format_args!("Transpose (%{k}) {{permutation=[0, 2, 1]}}"));
        let scores = op(format_args!("MatMul (%{q}, %{k})"));
        let scores = op(format_args!("Mul (%{scores}, %{scale})"));
        let scores = op(format_args!("Add (%{scores}, %{mask})"));
        let most = op(format_args!("Max (%{scores}) {{axes=[2], keepdims=true}}"));
        let scores = op(format_args!("Sub (%{scores}, %{most})"));
        let scores = op(format_args!("Exp (%{scores})"));
        let sum = op(format_args!("Sum (%{scores}) {{axes=[2], keepdims=true}}"));
        let scores = op(format_args!("Div (%{scores}, %{sum})"));
        let heads = op(format_args!("MatMul (%{scores}, %{v})"));
        let heads = op(format_args!("MatMul (%{heads}, %{wo})"));
        x = op(format_args!("Add (%{x}, %{heads})"));
        let normal = normalised(&mut op, x, eps, g2, b2);
        let hidden = op(format_args!("MatMul (%{normal}, %{up})"));
        let hidden = op(format_args!("Add (%{hidden}, %{c1})"));
        let square = op(format_args!("Mul (%{hidden}, %{hidden})"));
        let cube = op(format_args!("Mul (%{square}, %{hidden})"));
        let cube = op(format_args!("Mul (%{cube}, %{cubic})"));
        let inner = op(format_args!("Add (%{hidden}, %{cube})"));
        let inner = op(format_args!("Mul (%{inner}, %{root})"));
        let inner = op(format_args!("Tanh (%{inner})"));
        let inner = op(format_args!("Add (%{inner}, %{one})"));
        let hidden = op(format_args!("Mul (%{hidden}, %{half})"));
        let hidden = op(format_args!("Mul (%{hidden}, %{inner})"));
        let hidden = op(format_args!("MatMul (%{hidden}, %{down})"));
        let hidden = op(format_args!("Add (%{hidden}, %{c2})"));
        x = op(format_args!("Add (%{x}, %{hidden})"));
        layer += 1;
    }
    let _ = writeln!(text, "outputs: %{x}");
    text
}

/// Returns a module of about `ops` ops as Core text: half of them are the operands of one op, each the sum of the input
/// and a constant. The input therefore has as many uses. Deterministic.
pub fn wide(ops: usize) -> String {
    let mut text = String::from("%0 = Input {name=x} : tensor<f32[1]>\n");
    let operands = ops.div_ceil(2);
    for operand in 0..operands {
        let constant = 2 * operand + 1;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "%{constant} = ConstTensor {{data=[{operand}.5], dtype=f32, shape=[1]}}\n\
             %{} = Add (%0, %{constant})",
            constant + 1
        );
    }
    let sums: Vec<String> = (1..=operands).map(|at| format!("%{}", 2 * at)).collect();
    let last = 2 * operands + 1;
    let _ = writeln!(
        text,
        "%{last} = Concat ({}) {{axis=0}}\noutputs: %{last}",
        sums.join(", ")
    );
    text
}

/// The ops of a block of [`transformer`].
const BLOCK: usize = 59;

/// Writes a layer normalisation of `x` over its last axis in elementary ops.
fn normalised(
    op: &mut impl FnMut(std::fmt::Arguments<'_>) -> usize,
    x: usize,
    eps: usize,
    scale: usize,
    shift: usize,
) -> usize {
    let mean = op(format_args!("Mean (%{x}) {{axes=[2], keepdims=true}}"));
    let distance = op(format_args!("Sub (%{x}, %{mean})"));
    let square = op(format_args!("Mul (%{distance}, %{distance})"));
    let variance = op(format_args!("Mean (%{square}) {{axes=[2], keepdims=true}}"));
    let variance = op(format_args!("Add (%{variance}, %{eps})"));
    let deviation = op(format_args!("Sqrt (%{variance})"));
    let normal = op(format_args!("Div (%{distance}, %{deviation})"));
    let scaled = op(format_args!("Mul (%{normal}, %{scale})"));
    op(format_args!("Add (%{scaled}, %{shift})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mind_driver::formats::Format;
    use mind_driver::session::Session;
    use mind_text::Limits;

    #[test]
    fn modules_have_about_as_many_ops_as_were_asked_for() {
        let formats = Session::default().formats;
        for ops in [100, 1_000] {
            for (format, text) in [
                (Format::Mic1, layered(ops)),
                (Format::Core, transformer(ops)),
                (Format::Core, wide(ops)),
            ] {
                let g = formats.parse(format, &text, 0, &Limits::none()).unwrap();
                let made = g.ops(g.body()).count();
                assert!(
                    (ops..ops + 80).contains(&made),
                    "{format:?}: {made} for {ops}"
                );
            }
        }
    }
}
