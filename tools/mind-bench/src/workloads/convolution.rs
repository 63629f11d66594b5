//! Convolutions: a layer of a residual network, and a small network.

use super::Workload;
use super::text::{Id, Text};

pub(super) fn all() -> Vec<Workload> {
    vec![layer(), lenet()]
}

/// 3×3 filters, 64 to 64 channels, 56×56 positions, padded.
fn layer() -> Workload {
    let shape = [1, 56, 56, 64];
    let mut t = Text::new("f32");
    let x = t.input("x", &shape);
    let y = t.conv(x, "filter", 56 * 56, [3, 3, 64, 64], "same");
    t.finish("conv-56-64", &[(y, &shape)])
}

/// LeNet-5 with relu, on one image.
fn lenet() -> Workload {
    let mut t = Text::new("f32");
    let image = t.input("image", &[1, 28, 28, 1]);
    let x = t.conv(image, "filter1", 28 * 28, [5, 5, 1, 6], "same");
    let x = biased(&mut t, "bias1", x, 6);
    let x = pooled(&mut t, x, 14, 6);
    let x = t.conv(x, "filter2", 10 * 10, [5, 5, 6, 16], "valid");
    let x = biased(&mut t, "bias2", x, 16);
    let x = pooled(&mut t, x, 5, 16);
    let x = t.op_with("Reshape", &[x], "new_shape=[1, 400]");
    let x = t.dense("dense1", x, [1, 400, 120]);
    let x = t.op("Relu", &[x]);
    let x = t.dense("dense2", x, [1, 120, 84]);
    let x = t.op("Relu", &[x]);
    let x = t.dense("dense3", x, [1, 84, 10]);
    let y = t.op_with("Softmax", &[x], "axis=1");
    t.finish("lenet", &[(y, &[1, 10])])
}

fn biased(t: &mut Text, name: &str, x: Id, channels: u64) -> Id {
    let bias = t.param(name, &[channels]);
    let sum = t.op("Add", &[x, bias]);
    t.op("Relu", &[sum])
}

/// Average pooling of 2×2 squares; the result has `side` by `side` positions.
fn pooled(t: &mut Text, x: Id, side: u64, channels: u64) -> Id {
    let split = format!("new_shape=[1, {side}, 2, {side}, 2, {channels}]");
    let squares = t.op_with("Reshape", &[x], &split);
    t.op_with("Mean", &[squares], "axes=[2, 4], keepdims=false")
}
