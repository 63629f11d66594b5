//! Results of reductions.

use mind_core::ops::contract::MatMul;
use mind_core::ops::elementwise::Exp;
use mind_driver::formats::{Format, Formats};
use mind_ir::opdef::Op;
use mind_ir::verify::{VerifyConfig, verify};
use mind_ir::{Graph, OpId};
use mind_reduce::reduction::{Config, Reduced, Size, reduce};
use mind_testgen::module;
use mind_text::Limits;

fn formats() -> Formats {
    let dialects = [mind_ir::builtin::DIALECT, mind_core::DIALECT];
    Formats::new(&mind_ir::opdef::Registry::with(dialects))
}

fn parsed(text: &str) -> Graph {
    let parsed = formats().parse(Format::Core, text, 0, &Limits::default());
    let mut g = parsed.unwrap_or_else(|found| panic!("{found:?}"));
    assert!(!verify(&mut g, &VerifyConfig::default()).has_errors());
    g
}

fn text(g: &Graph) -> String {
    formats().print(Format::Core, g).expect("core ops")
}

/// Returns the text of a module that is reduced while `holds` returns true.
fn left(module: &str, holds: impl Fn(&Graph) -> bool) -> String {
    text(&reduce(&parsed(module), &Config::default(), &mut |g| holds(g)).graph)
}

fn has<T: Op>(g: &Graph) -> bool {
    g.walk().any(|op| g.is::<T>(op))
}

fn ops<T: Op>(g: &Graph) -> Vec<OpId> {
    g.walk().filter(|&op| g.is::<T>(op)).collect()
}

#[test]
fn what_a_fault_does_not_need_goes() {
    let config = mind_testgen::Config::default();
    let drawn = (0..400).map(|seed| module(seed, &config));
    let mut tried = 0;
    let read = |g: &Graph| {
        let mut results = ops::<Exp>(g).into_iter().map(|op| g.result(op));
        results.any(|value| !g.uses(value).is_empty())
    };
    for g in drawn.filter(read).take(20) {
        let small = reduce(&g, &Config::default(), &mut |g| read(g)).graph;
        let exp = small.operands(self::ops::<Exp>(&small)[0]);
        let ty = small.ty(exp[0]);
        // An empty tensor is as small as a scalar.
        let is_small = ty.rank() == 0 || ty.count() == Some(0);
        assert!(is_small, "{}", text(&small));
        // The reader may be dead, with an unrelated output.
        assert!(small.walk().count() <= 5, "{}", text(&small));
        tried += 1;
    }
    assert_eq!(tried, 20);
}

#[test]
fn shapes_shrink_together_and_only_as_far_as_verifies() {
    let module = "%0 = Input {name=x} : tensor<f32[B, 784]>\n\
                  %1 = Input {name=w, role=param} : tensor<f32[784, 256]>\n\
                  %2 = MatMul (%0, %1) : tensor<f32[B, 256]>\n\
                  %3 = Relu (%2) : tensor<f32[B, 256]>\n\
                  outputs: %3, %2\n";
    let expected = "%1 = Input {name=w} : tensor<f32[1, 1]>\n\
                    %2 = MatMul (%1, %1) : tensor<f32[1, 1]>\n\
                    outputs: %2";
    assert_eq!(left(module, has::<MatMul>), expected);
    let wide = |g: &Graph| {
        ops::<MatMul>(g).iter().any(|&op| {
            let shape = g.ty(g.operands(op)[0]).static_shape();
            shape.is_some_and(|shape| shape[1] > 6)
        })
    };
    assert!(
        left(module, wide).contains("f32[1, 7]"),
        "{}",
        left(module, wide)
    );
}

#[test]
fn constants_and_attributes_become_simple() {
    let module = "%0 = Input {name=x} : tensor<f32[2, 3]>\n\
                  %1 = ConstTensor {data=[[1.5, -2.25, 3.0], [4.0, 5.0, 6.0]]} : tensor<f32[2, 3]>\n\
                  %2 = Add (%0, %1) : tensor<f32[2, 3]>\n\
                  %3 = Sum (%2) {axes=[0, 1], keepdims=true} : tensor<f32[1, 1]>\n\
                  outputs: %3\n";
    let constant = |g: &Graph| g.walk().any(|op| g.def(op).name == "core.const_tensor");
    assert_eq!(
        left(module, constant),
        "%1 = ConstTensor {dtype=f32, fill=0.0, shape=[]} : tensor<f32[]>\noutputs: %1"
    );
    let sum = |g: &Graph| g.walk().any(|op| g.def(op).name == "core.sum");
    let left = left(module, sum);
    assert!(
        left.contains("Sum (%0)") && left.contains("keepdims=false"),
        "{left}"
    );
}

#[test]
fn dtypes_become_usual_where_the_fault_allows_it() {
    let module = "%0 = Input {name=x} : tensor<bf16[2]>\n\
                  %1 = ConstTensor {data=[1.5, 2.0]} : tensor<bf16[2]>\n\
                  %2 = Add (%0, %1)\n\
                  %3 = Input {name=i} : tensor<u8[2]>\n\
                  %4 = Add (%3, %3)\n\
                  outputs: %2, %4\n";
    let constant = |g: &Graph| g.walk().any(|op| g.def(op).name == "core.const_tensor");
    assert!(left(module, constant).contains("tensor<f32[]>"));
    let half = |g: &Graph| {
        g.walk()
            .flat_map(|op| g.results(op))
            .any(|own| g.ty(own).dtype.size() == 2)
    };
    assert!(
        left(module, half).contains("tensor<f16[]>"),
        "{}",
        left(module, half)
    );
    let int = |g: &Graph| {
        g.walk()
            .flat_map(|op| g.results(op))
            .any(|own| g.ty(own).dtype.is_int())
    };
    assert!(
        left(module, int).contains("tensor<i32[]>"),
        "{}",
        left(module, int)
    );
}

#[test]
fn bodies_are_put_in_line() {
    let module = "%0 = Input {name=x} : tensor<f32[4]>\n\
                  %1 = Fused (%0) {kind=elementwise} : tensor<f32[4]> {\n  \
                  args: %2\n  %3 = Exp (%2) : tensor<f32[4]>\n  %4 = Neg (%3) : tensor<f32[4]>\n  yield: %4\n}\n\
                  outputs: %1\n";
    let expected =
        "%0 = Input {name=x} : tensor<f32[]>\n%5 = Exp (%0) : tensor<f32[]>\noutputs: %5";
    assert_eq!(left(module, has::<Exp>), expected);
}

#[test]
fn control_flow_is_run_once() {
    let expected =
        "%0 = Input {name=x} : tensor<f32[]>\n%7 = Exp (%0) : tensor<f32[]>\noutputs: %7";
    let branch = "%0 = Input {name=x} : tensor<f32[4]>\n\
                  %1 = Input {name=p} : tensor<bool[]>\n\
                  %2 = If (%1, %0) {\n  args: %3\n  %4 = Neg (%3)\n  yield: %4\n} {\n  \
                  args: %5\n  %6 = Exp (%5)\n  yield: %6\n}\n\
                  outputs: %2\n";
    assert_eq!(left(branch, has::<Exp>), expected);
    let scan = "%0 = Input {name=x} : tensor<f32[4]>\n\
                %1 = Input {name=y} : tensor<f32[9, 4]>\n\
                %2, %3 = Scan (%0, %1) {carried=1, scanned=1} {\n  args: %4, %5\n  %6 = Exp (%5)\n  \
                %7 = Add (%4, %6)\n  yield: %7, %6\n}\n\
                outputs: %2, %3\n";
    let small = left(scan, has::<Exp>);
    assert!(
        !small.contains("Scan") && small.lines().count() == 3,
        "{small}"
    );
}

#[test]
fn candidates_verify_and_steps_shrink() {
    for seed in 0..30 {
        let g = module(seed, &mind_testgen::Config::default());
        let (mut asked, mut last) = (0, Size::of(&g));
        let reduced = reduce(
            &g,
            &Config {
                trials: 60,
                ..Config::default()
            },
            &mut |candidate| {
                let mut copy = candidate.clone();
                assert!(
                    !verify(&mut copy, &VerifyConfig::default()).has_errors(),
                    "{}",
                    text(candidate)
                );
                assert!(Size::of(candidate) < last);
                asked += 1;
                let held = asked % 3 == 0;
                if held {
                    last = Size::of(candidate);
                }
                held
            },
        );
        assert!(reduced.trials <= 60 && reduced.kept == asked / 3);
    }
}

#[test]
fn the_same_module_is_left_each_time() {
    let g = module(7, &mind_testgen::Config::default());
    let once = || {
        let Reduced {
            graph,
            trials,
            kept,
            ..
        } = reduce(&g, &Config::default(), &mut |g| g.outputs().len() == 1);
        (text(&graph), trials, kept)
    };
    assert_eq!(once(), once());
}
