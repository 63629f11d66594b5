//! Pooling, and convolutions of other forms than those of residual networks.

use super::Workload;
use super::text::Text;

/// Channels-last layout; `peers.py` transposes for implementations with channels first.
pub(super) fn all() -> Vec<Workload> {
    let image = [1, 56, 56, 128];
    let sequence = [1, 1024, 64];
    vec![
        window(
            "depthwise-56-128",
            "Conv",
            "groups=128, pads=[1, 1, 1, 1]",
            (&image, &[3, 3, 1, 128], &image),
        ),
        window(
            "grouped-56-128",
            "Conv",
            "groups=8, pads=[1, 1, 1, 1]",
            (&image, &[3, 3, 16, 128], &image),
        ),
        window(
            "conv1d-1024-64",
            "Conv",
            "pads=[1, 1]",
            (&sequence, &[3, 64, 64], &sequence),
        ),
        window(
            "conv1d-causal-1024",
            "Conv",
            "groups=64, pads=[3, 0]",
            (&sequence, &[4, 1, 64], &sequence),
        ),
        window(
            "conv-transpose-28",
            "ConvTranspose",
            "strides=[2, 2]",
            (&[1, 28, 28, 64], &[2, 2, 32, 64], &[1, 56, 56, 32]),
        ),
        pool("max-pool-56", "kind=max"),
        pool("mean-pool-56", "kind=mean"),
    ]
}

/// Returns the convolution of an input with a filter, with these shapes of input, filter and result.
fn window(name: &str, op: &str, attrs: &str, shapes: (&[u64], &[u64], &[u64])) -> Workload {
    let (input, filter, result) = shapes;
    let mut t = Text::new("f32");
    let (x, weight) = (t.input("x", input), t.param("filter", filter));
    let y = t.op_with(op, &[x, weight], attrs);
    let taps: u64 = filter[..filter.len() - 1].iter().product();
    // In a transposed convolution every input element is multiplied with every filter element.
    let positions = if op == "Conv" { result } else { input };
    t.count_flops(2 * taps * positions.iter().product::<u64>());
    t.finish(name, &[(y, result)])
}

/// 3×3 pooling windows with stride 2, of 64 channels.
fn pool(name: &str, kind: &str) -> Workload {
    let mut t = Text::new("f32");
    let x = t.input("x", &[1, 56, 56, 64]);
    let attrs = format!(
        "window=[1, 3, 3, 1], strides=[1, 2, 2, 1], low=[0, 1, 1, 0], high=[0, 0, 0, 0], {kind}"
    );
    let y = t.op_with("ReduceWindow", &[x], &attrs);
    t.finish(name, &[(y, &[1, 28, 28, 64])])
}
