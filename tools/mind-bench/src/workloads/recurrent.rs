//! Recurrent layers.

use super::Workload;

/// An LSTM layer of 512 units over 64 steps: one product with the inputs of all steps, then a scan.
pub(super) fn all() -> Vec<Workload> {
    const STEPS: u64 = 64;
    const UNITS: u64 = 512;
    let gates = 4 * UNITS;
    let text = format!(
        "%0 = Input {{name=x}} : tensor<f32[{STEPS}, {UNITS}]>
%1 = Input {{name=w, role=param}} : tensor<f32[{UNITS}, {gates}]>
%2 = Input {{name=r, role=param}} : tensor<f32[{UNITS}, {gates}]>
%3 = Input {{name=b, role=param}} : tensor<f32[{gates}]>
%4 = ConstTensor {{dtype=f32, fill=0.0, shape=[1, {UNITS}]}}
%5 = MatMul (%0, %1)
%6 = Add (%5, %3)
%7, %8, %9 = Scan (%4, %4, %6, %2) {{carried=2, scanned=1}} {{
  args: %10, %11, %12, %13
  %14 = MatMul (%10, %13)
  %15 = Add (%14, %12)
  %16 = Split (%15) {{axis=1, count=4, part=0}}
  %17 = Split (%15) {{axis=1, count=4, part=1}}
  %18 = Split (%15) {{axis=1, count=4, part=2}}
  %19 = Split (%15) {{axis=1, count=4, part=3}}
  %20 = Sigmoid (%16)
  %21 = Sigmoid (%17)
  %22 = Sigmoid (%18)
  %23 = Tanh (%19)
  %24 = Mul (%22, %11)
  %25 = Mul (%20, %23)
  %26 = Add (%24, %25)
  %27 = Tanh (%26)
  %28 = Mul (%21, %27)
  yield: %28, %26, %28
}}
outputs: %7, %8, %9
"
    );
    let weights = 2 * UNITS * gates + gates;
    let results = STEPS * UNITS + 2 * UNITS;
    vec![Workload {
        name: format!("lstm-{STEPS}-{UNITS}"),
        text,
        flops: 2 * STEPS * UNITS * gates * 2,
        bytes: 4 * (STEPS * UNITS + weights + results),
    }]
}
