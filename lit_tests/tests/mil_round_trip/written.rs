//! Packages that are written are read back with the same bits, and have the forms that coremltools asks for beyond the
//! rules of the published signatures.

use mind_coreml::mil::{self, Spelling};
use mind_driver::formats::{Format, LoadOptions};
use mind_driver::load::parse_and_verify;
use mind_driver::session::Session;
use mind_interp::{Arrays, Extents, random_inputs};
use mind_ir::types::{DType, broadcast};
use mind_ir::verify::{VerifyConfig, verify};
use mind_ir::{Graph, OpId, ValueId};
use mind_mil::call::{arguments, integers};
use mind_mil::check::{Interface, check, name_of};
use mind_mil::structure::{Input, constant_of};
use mind_testgen::forms::forms;
use mind_to_mil::{Config, Layout};

use crate::drawn;
use crate::optimiser::Optimiser;
use crate::package::{first, read_back, results, same_bits};

/// How many modules are drawn.
const DRAWN: u64 = 300;

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

/// Returns why coremltools 9.0 does not load an op, from its source, because the published signatures leave it open.
fn refusal(g: &Graph, op: OpId) -> Option<String> {
    let argument = |name: &str| {
        let mut own = arguments(g, op);
        let found = own.find(|(own, _)| *own == name)?;
        found.1.first().copied()
    };
    let shape = |value: ValueId| g.ty(value).shape;
    let problem = match g.def(op).short_name() {
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
            let indices = argument("indices")?;
            let pairs = shape(data).iter().zip(shape(indices));
            let differing = pairs.filter(|(data, own)| data != own).count();
            (differing > 1).then_some("off the axis, indices have the extents of the data")
        }
        _ => None,
    };
    problem.map(|problem| format!("`{}`: {problem}", g.def(op).name))
}

/// Returns the name of a block argument that has none of its own, because a package requires one.
fn unnamed(g: &Graph) -> Option<String> {
    let blocks = g.walk().flat_map(|op| g.regions(op).to_vec());
    let mut arguments = blocks.flat_map(|region| g.arguments(g.block(region)));
    let found = arguments.find(|&value| name_of(g, value).starts_with('%'))?;
    Some(name_of(g, found))
}

/// Returns how the text of a program differs after it is read back, or why it is not read.
fn text_fault(low: &Graph) -> Option<String> {
    let text = |g: &Graph| mil::print(g, Spelling::Compiler).map_err(first);
    let printed = match text(low) {
        Ok(printed) => printed,
        Err(why) => return Some(format!("it has no text: {why}")),
    };
    let Some(again) = crate::read(&printed) else {
        return Some(format!("its text is not read back:\n{printed}"));
    };
    let is_same = check(&again, Interface::Any).is_empty() && text(&again).as_ref() == Ok(&printed);
    (!is_same).then(|| format!("its text is another one when it is read back:\n{printed}"))
}

/// Returns how a lowered module differs from its package or its text, or why coremltools does not load it.
fn fault(low: &Graph, arrays: Option<&Arrays>) -> Option<String> {
    let found = verify(&mut low.clone(), &VerifyConfig::default());
    if !found.is_empty() {
        return Some(format!("it is not valid: {}", first(found)));
    }
    if let Some(name) = unnamed(low) {
        return Some(format!("a block argument is named `{name}`"));
    }
    if let Some(why) = low.walk().find_map(|op| refusal(low, op)) {
        return Some(why);
    }
    if let Some(why) = text_fault(low) {
        return Some(why);
    }
    let again = match read_back(low)? {
        Ok(again) => again,
        Err(why) => return Some(format!("it is not read back: {why}")),
    };
    let (expected, found) = (results(low, arrays?), results(&again, arrays?));
    let same = same_bits(expected.as_deref(), found.as_deref());
    (!same).then(|| "it computes other bits when it is read back".to_owned())
}

/// How much was checked.
#[derive(Default)]
struct Counts {
    packages: usize,
    selects: usize,
    loops: usize,
}

fn ops_named(g: &Graph, name: &str) -> usize {
    g.walk()
        .filter(|&op| g.def(op).short_name() == name)
        .count()
}

/// Lowers a module with each configuration, checks the results, and adds them to `counts`.
fn check_module(g: &Graph, text: &str, counts: &mut Counts, wrong: &mut Vec<String>) {
    for config in configs() {
        let mut low = g.clone();
        if mind_to_mil::lower(&mut low, &config).is_err() {
            continue;
        }
        counts.packages += 1;
        counts.selects += ops_named(&low, "select");
        counts.loops += ops_named(&low, "while_loop");
        let arrays = random_inputs(&low, 1, Extents::default()).ok();
        wrong.extend(fault(&low, arrays.as_ref()).map(|why| format!("{why}\n{text}")));
    }
}

fn conclude(count: usize, least: usize, wrong: &[String]) {
    let shown: Vec<&str> = wrong.iter().take(20).map(String::as_str).collect();
    assert!(
        wrong.is_empty(),
        "{} of {count} packages\n{}",
        wrong.len(),
        shown.join("\n")
    );
    assert!(count > least, "{count} packages");
}

#[test]
fn packages_of_every_form_come_back() {
    let session = Session::default();
    let options = LoadOptions {
        from: Some(Format::Core.info()),
        ..LoadOptions::default()
    };
    let (mut wrong, mut counts) = (Vec::new(), Counts::default());
    for text in forms() {
        if let Ok((_, g)) = parse_and_verify(&session.formats, &text, 0, &options) {
            check_module(&g, &text, &mut counts, &mut wrong);
        }
    }
    conclude(counts.packages, 2000, &wrong);
    let (selects, loops) = (counts.selects, counts.loops);
    assert!(
        selects > 20 && loops > 2,
        "{selects} `select`, {loops} `while_loop`"
    );
}

#[test]
fn packages_of_drawn_modules_come_back() {
    let (mut wrong, mut counts) = (Vec::new(), Counts::default());
    for seed in 0..DRAWN {
        let mut g = drawn::module(seed);
        let found = verify(&mut g, &VerifyConfig::default());
        assert!(!found.has_errors(), "module {seed} is not valid: {found:?}");
        check_module(&g, &format!("module {seed}"), &mut counts, &mut wrong);
    }
    conclude(counts.packages, 400, &wrong);
}

/// A package that is imported, optimised and lowered is one again.
#[test]
fn packages_are_made_again_of_optimised_imports() {
    let session = Session::default();
    let optimiser = Optimiser::new();
    let options = LoadOptions {
        from: Some(Format::Core.info()),
        ..LoadOptions::default()
    };
    let (mut wrong, mut count) = (Vec::new(), 0);
    for text in forms() {
        let Ok((_, g)) = parse_and_verify(&session.formats, &text, 0, &options) else {
            continue;
        };
        let [_, singles] = configs();
        let mut low = g.clone();
        if mind_to_mil::lower(&mut low, &singles).is_err() {
            continue;
        }
        let Some(Ok(mut again)) = read_back(&low) else {
            continue;
        };
        let made = mind_from_mil::import(&mut again)
            .map_err(first)
            .and_then(|_| {
                optimiser.run(&mut again);
                mind_to_mil::lower(&mut again, &singles).map_err(first)
            });
        count += 1;
        let arrays = random_inputs(&low, 1, Extents::default()).ok();
        let why = match made {
            Err(why) => Some(why),
            Ok(_) => fault(&again, arrays.as_ref()),
        };
        wrong.extend(why.map(|why| format!("{why}\n{text}")));
    }
    conclude(count, 900, &wrong);
}
