//! A driver with its own rule and condition: `cargo run -p mind-driver --example own-driver`.

use mind_core::ops::fused::Fused;
use mind_driver::emit::emit;
use mind_driver::formats::LoadOptions;
use mind_driver::load::parse_and_verify;
use mind_driver::session::Session;
use mind_eqsat::cost::HOST_CPU;
use mind_eqsat::{Context, Limits, fold};
use mind_ir::opdef::Op;
use mind_rules::{FastMath, rules};

const MODULE: &str = "%0 = Input {name=x} : tensor<f32[256]>
%1 = Neg (%0)
%2 = Maximum (%0, %1)
outputs: %2
";

const RULES: &str = "
rule maximum-neg
  class exact
  where is_small(numel(?x))
  core.maximum(?x, core.neg(?x)) => core.abs(?x)
  source \"one of both has its sign bit clear; of two zeros the maximum is +0; NaN stays NaN\"
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = Session::default();
    let small = |a: &[mind_rules::Argument<'_>]| Some(a[0].int()? < 1000);
    let rules = rules!(&session.registry, RULES, is_small(Int) => small)?;
    let parsed = parse_and_verify(&session.formats, MODULE, 0, &LoadOptions::default());
    let (format, mut g) = parsed.map_err(|found| format!("{found:?}"))?;
    let context = Context {
        rules: &rules,
        classes: FastMath::EXACT,
        cost: &HOST_CPU,
        limits: Limits::default(),
        constant: mind_core::constant,
        splat: mind_core::splat,
        fused: Fused::DEF,
        canonical: |_| (),
    };
    fold(&mut g, &context);
    let printed = emit(&session.formats, &g, format, None);
    print!("{}", printed.map_err(|found| format!("{found:?}"))?.text);
    Ok(())
}
