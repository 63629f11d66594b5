//! Every op in every form of its operands becomes what coremltools loads.

use mind_ir::types::{DType, broadcast};
use mind_ir::{Graph, OpId, ValueId};
use mind_mil::call::{arguments, integers};
use mind_mil::check::{Interface, name_of};
use mind_mil::structure::{Input, constant_of};
use mind_testgen::forms::forms;
use mind_to_mil::{Config, Layout};

use crate::module::{lowered, read, text};

/// In halves and in singles, in both layouts.
fn configs() -> [Config; 2] {
    let halves = Config {
        interface: Interface::Any,
        layout: Layout::Ane,
        ..Config::default()
    };
    let singles = Config {
        float: DType::F32,
        layout: Layout::Keep,
        ..halves.clone()
    };
    [halves, singles]
}

fn depends_on_input(g: &Graph, value: ValueId) -> bool {
    let Some(op) = g.defining_op(value) else {
        return true;
    };
    let mut operands = g.operands(op).iter();
    g.is::<Input>(op) || operands.any(|&own| depends_on_input(g, own))
}

/// Why coremltools 9.0 does not load an op, found in its source: the published signatures leave this open.
fn refusal(g: &Graph, op: OpId) -> Option<&'static str> {
    let argument = |name: &str| {
        let mut own = arguments(g, op);
        let found = own.find(|(own, _)| *own == name)?;
        found.1.first().copied()
    };
    let shape = |value: ValueId| g.ty(value).shape;
    match g.def(op).short_name() {
        "select" => {
            let chosen = broadcast(shape(argument("a")?), shape(argument("b")?)).ok()?;
            (chosen.as_slice() != shape(g.result(op)))
                .then_some("the type of `select` is inferred from its choices alone")
        }
        "conv" => {
            let dilations = constant_of(g, argument("dilations")?)?.tensor(g)?;
            let is_dilated = integers(&dilations).iter().any(|&own| own > 1);
            (is_dilated && depends_on_input(g, argument("weight")?))
                .then_some("dilated weights depend on no input")
        }
        "layer_norm" => (argument("beta").is_some() && argument("gamma").is_none())
            .then_some("the shape of `gamma` is read where `beta` is given"),
        "gather_along_axis" | "scatter_along_axis" => {
            let data = argument("x").or_else(|| argument("data"))?;
            let pairs = shape(data).iter().zip(shape(argument("indices")?));
            let differing = pairs.filter(|(data, own)| data != own).count();
            (differing > 1).then_some("off the axis, indices have the extents of the data")
        }
        _ => None,
    }
}

/// An argument of a block without a name, which a package cannot say.
fn unnamed(g: &Graph) -> Option<String> {
    let blocks = g.walk().flat_map(|op| g.regions(op).to_vec());
    let mut arguments = blocks.flat_map(|region| g.arguments(g.block(region)));
    let found = arguments.find(|&value| name_of(g, value).starts_with('%'))?;
    Some(name_of(g, found))
}

#[test]
fn every_form_becomes_one_that_coremltools_loads() {
    let (mut count, mut selects, mut loops) = (0, 0, 0);
    for module in forms() {
        let Ok(g) = read(&module) else { continue };
        for config in configs() {
            let mut low = g.clone();
            if mind_to_mil::lower(&mut low, &config).is_err() {
                continue;
            }
            assert_eq!(unnamed(&low), None, "{module}");
            let low = lowered(&g, &config).unwrap_or_else(|why| panic!("{why:?}\n{module}"));
            for op in low.walk() {
                let name = low.def(op).short_name();
                selects += usize::from(name == "select");
                loops += usize::from(name == "while_loop");
                if let Some(why) = refusal(&low, op) {
                    panic!("{why}\n{module}\n{}", text(&low));
                }
            }
            count += 1;
        }
    }
    assert!(
        count > 1000 && selects > 20 && loops > 2,
        "{count} {selects} {loops}"
    );
}
