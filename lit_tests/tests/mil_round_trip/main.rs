//! MIL programs that are imported and lowered again compute the same, with as many ops; written packages and texts are
//! read back.

mod drawn;
mod optimised;
mod optimiser;
mod package;
mod written;

use mind_coreml::mil::{self, Spelling};
use mind_interp::{Arrays, Extents, InputSpec, RunConfig, bind, inputs, run};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::verify::{VerifyConfig, verify};
use mind_mil::Opset;
use mind_mil::call::floats;
use mind_mil::check::Interface;
use mind_mil::ops::{ROWS, row};
use mind_testgen::mil::{Program, programs};
use mind_text::limits::Limits;
use mind_to_mil::{Config, Layout};

/// How far the results of both programs may be apart, relatively and absolutely: in halves each op of a composition
/// rounds, in singles sums have another order.
const FLOATS: [(&str, f64); 2] = [("fp32", 1e-5), ("fp16", 4e-3)];

/// Ops whose programs are not imported, with the reason.
const NOT_IMPORTED: &[(&str, &str)] = &[
    (
        "conv_quantized",
        "its reference leaves open how weights of few bits are packed",
    ),
    ("random_bernoulli", "its result is random"),
    ("random_categorical", "its result is random"),
    ("random_normal", "its result is random"),
    ("random_uniform", "its result is random"),
];

/// Ops whose programs become longer, with the reason.
const LONGER: &[(&str, &str)] = &[(
    "crop_resize",
    "regions are samples of images, which a gather chooses",
)];

/// Ops without an evaluation since states become values before a program runs.
const THREADED: [&str; 2] = ["read_state", "write_state"];

/// What became of a program.
enum Fate {
    NotImported(String),
    NotLowered(String),
    /// How many ops it had and has, and why the results differ.
    Lowered {
        before: usize,
        after: usize,
        differs: Option<String>,
        text: String,
    },
}

fn excuse(list: &[(&str, &'static str)], op: &str) -> Option<&'static str> {
    let mut rows = list.iter();
    rows.find(|(own, _)| *own == op).map(|&(_, reason)| reason)
}

/// Returns how many ops compute something.
fn size(g: &Graph) -> usize {
    g.walk().filter(|&op| row(g.def(op)).is_some()).count()
}

/// Returns the program of a text; `None` if it is none.
fn read(text: &str) -> Option<Graph> {
    let mut g = mil::parse(text, 0, &Limits::default(), Spelling::Compiler).ok()?;
    let found = verify(&mut g, &VerifyConfig::default());
    (!found.has_errors()).then_some(g)
}

/// What a program computes for the elements that cases prescribe, its states as inputs.
fn results(g: &Graph) -> Result<Vec<Tensor>, String> {
    let mut g = g.clone();
    mind_mil::state::thread(&mut g).map_err(|found| format!("{:?}", found.first_error()))?;
    let array = |input: InputSpec<'_>| {
        let shape = input.ty.static_shape().expect("static shapes").into_iter();
        let shape = shape.map(|extent| extent as usize).collect();
        let tensor = Program::tensor(input.name, input.ty.dtype, shape);
        (input.name.to_owned(), tensor)
    };
    let arrays: Arrays = inputs(&g).into_iter().map(array).collect();
    let bound = bind(&g, &arrays, Extents::default()).map_err(|errors| format!("{errors:?}"))?;
    run(&g, &bound, &RunConfig::default()).map_err(|error| error.error.to_string())
}

/// Where two results differ by more than `error`, or in the sign of a zero.
fn difference(expected: &Tensor, found: &Tensor, error: f64) -> Option<String> {
    let outer = |tensor: &Tensor| match tensor.shape() {
        // A program gives no scalar away.
        [] => vec![1],
        shape => shape.to_vec(),
    };
    if outer(expected) != outer(found) {
        return Some(format!("{:?} is no {:?}", found.shape(), expected.shape()));
    }
    if expected.dtype() != found.dtype() {
        return Some(format!("{} is no {}", found.dtype(), expected.dtype()));
    }
    let mut pairs = floats(expected).into_iter().zip(floats(found));
    let apart = |&(a, b): &(f64, f64)| {
        let equal = a == b && a.is_sign_negative() == b.is_sign_negative();
        let near = a != 0.0 && (a - b).abs() <= error * (1.0 + a.abs());
        !(equal || near || a.is_nan() && b.is_nan())
    };
    pairs.find(apart).map(|(a, b)| format!("{b:?} is no {a:?}"))
}

/// Returns a program in which halves stay halves, and singles stay singles.
fn kept(opset: &str) -> Config {
    Config {
        float: DType::F32,
        interface: Interface::Any,
        opset: Opset::parse(opset).expect("an opset"),
        layout: Layout::Keep,
        ..Config::default()
    }
}

/// What becomes of a program about `op` that is lowered again as `config` says, whose results may be `error` apart.
fn fate(op: &str, source: &Graph, config: &Config, error: f64) -> Fate {
    fate_through(op, source, &|_| {}, config, error)
}

/// Returns the same for a program to which `passes` are applied between import and lowering.
fn fate_through(
    op: &str,
    source: &Graph,
    passes: &dyn Fn(&mut Graph),
    config: &Config,
    error: f64,
) -> Fate {
    let mut g = source.clone();
    if let Err(found) = mind_from_mil::import(&mut g) {
        let first = found.first_error().map(|own| own.message.clone());
        return Fate::NotImported(first.unwrap_or_default());
    }
    // What has no evaluation is held to what it was imported as.
    let row = ROWS.iter().find(|row| row.name == op);
    let is_run = row.is_some_and(|row| row.not_run.is_none()) || THREADED.contains(&op);
    let evaluated = |program: &Graph| match is_run {
        true => results(program),
        false => {
            let mut imported = program.clone();
            let _ = mind_from_mil::import(&mut imported);
            results(&imported)
        }
    };
    let expected = evaluated(source);
    passes(&mut g);
    if let Err(found) = mind_to_mil::lower(&mut g, config) {
        let first = found.first_error().map(|own| own.message.clone());
        return Fate::NotLowered(first.unwrap_or_default());
    }
    let text = mil::print(&g, Spelling::Compiler).expect("a program has a text");
    let lowered = read(&text).unwrap_or_else(|| panic!("no program:\n{text}"));
    let pairs = expected.and_then(|expected| Ok((expected, evaluated(&lowered)?)));
    let differs = match pairs {
        Err(why) => Some(why),
        Ok((expected, found)) => {
            let pairs = expected.iter().zip(&found);
            let mut apart = pairs.filter_map(|(a, b)| difference(a, b, error));
            apart.next()
        }
    };
    Fate::Lowered {
        before: size(source),
        after: size(&lowered),
        differs,
        text,
    }
}

#[test]
fn programs_come_back_equivalent_and_no_longer() {
    let mut wrong = Vec::new();
    let opsets = ["ios15", "ios16", "ios17", "ios18"];
    let tried = programs()
        .into_iter()
        .flat_map(|program| opsets.map(|opset| (program, opset)));
    let mut ran = 0;
    for ((program, opset), (float, error)) in tried.flat_map(|own| FLOATS.map(|float| (own, float)))
    {
        let Some(source) = read(&program.text_in(float, opset)) else {
            continue;
        };
        let (op, name) = (program.op, format!("{} {opset} {float}", program.op));
        let [imported, longer] = [NOT_IMPORTED, LONGER].map(|list| excuse(list, op));
        match fate(op, &source, &kept(opset), error) {
            Fate::NotImported(_) if imported.is_some() => {}
            Fate::NotImported(why) => wrong.push(format!("{name}: not imported: {why}")),
            Fate::NotLowered(why) => wrong.push(format!("{name}: not lowered: {why}")),
            Fate::Lowered {
                before,
                after,
                differs,
                text,
            } => {
                ran += 1;
                wrong.extend(differs.map(|why| format!("{name}: {why}\n{text}")));
                if after * 10 > before * 11 && longer.is_none() {
                    wrong.push(format!("{name}: {before} ops become {after}\n{text}"));
                }
            }
        }
    }
    let count = wrong.len();
    assert!(wrong.is_empty(), "{count} programs\n{}", wrong.join("\n"));
    assert!(ran > 1200, "{ran} programs came back");
}

/// Ops whose programs have other results where all floats are halves, with the reason.
const COARSE: &[(&str, &str)] = &[
    ("cast", "it gives singles, which become halves"),
    ("constexpr_cast", "it gives singles, which become halves"),
];

#[test]
fn programs_come_back_equivalent_in_the_layout_of_the_engine() {
    let mut wrong = Vec::new();
    let config = Config {
        interface: Interface::Any,
        layout: Layout::Ane,
        ..Config::default()
    };
    let programs = programs()
        .into_iter()
        .filter(|program| excuse(COARSE, program.op).is_none());
    for program in programs {
        let source = read(&program.text_in("fp16", "ios18"));
        let Some(source) = source.filter(|_| program.opset == "ios18") else {
            continue;
        };
        if let Fate::Lowered {
            differs: Some(why),
            text,
            ..
        } = fate(program.op, &source, &config, 2e-2)
        {
            wrong.push(format!("{}: {why}\n{text}", program.op));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn extents_of_a_run_come_back_as_one_op() {
    let zeros = "tensor<int32, [2]> z = sub(x = i, y = i);";
    let scalar = |at: i64, to: i64, name: &str| {
        format!(
            "int32 {name} = slice_by_index(begin = tensor<int32, [1]>([{at}]), end = tensor<int32, [1]>([{to}]), squeeze_mask = tensor<bool, [1]>([true]), x = s);"
        )
    };
    let forms: [(&str, String); 10] = [
        ("[3, 2]", "tensor<@, [?, ?]> y = reshape(shape = s, x = x);".to_owned()),
        ("[-1, 2]", "tensor<@, [?, ?]> y = reshape(shape = s, x = x);".to_owned()),
        ("[0, 3]", "tensor<@, [?, ?]> y = reshape(shape = s, x = x);".to_owned()),
        ("[2, 1]", "tensor<@, [?, ?]> y = tile(reps = s, x = x);".to_owned()),
        ("[2, 1]", "tensor<@, [?, ?]> y = slice_by_size(begin = tensor<int32, [2]>([0, 1]), size = s, x = x);".to_owned()),
        ("[1, -1]", "tensor<@, [?, ?]> y = slice_by_size(begin = tensor<int32, [2]>([-2, 0]), size = s, x = x);".to_owned()),
        ("[1, 1]", "tensor<@, [1, ?]> y = slice_by_size(begin = s, size = tensor<int32, [2]>([1, -1]), x = x);".to_owned()),
        ("[-1, -2]", "tensor<@, [?, ?]> y = slice_by_size(begin = s, size = tensor<int32, [2]>([-1, -1]), x = x);".to_owned()),
        ("[2, 4]", "tensor<@, [?, ?]> y = fill(shape = s, value = @(0x1p-1));".to_owned()),
        ("[2, 3]", {
            let end = scalar(0, 1, "e");
            format!("{end} tensor<int32, [?]> y = range_1d(end = e, start = int32(0), step = int32(1));")
        }),
    ];
    let mut wrong = Vec::new();
    for (extents, call) in forms {
        for (float, error) in FLOATS {
            let text = format!(
                "program(1.3)\n[]\n{{ func main<ios18>(tensor<@, [2, 3]> x, tensor<int32, [2]> i) {{\n{zeros}\n\
                 tensor<int32, [2]> s = add(x = z, y = tensor<int32, [2]>({extents}));\n{call}\n}} -> (y); }}"
            );
            let text = text.replace('@', float);
            let source = read(&text).unwrap_or_else(|| panic!("no program:\n{text}"));
            match fate("reshape", &source, &kept("ios18"), error) {
                Fate::NotImported(why) | Fate::NotLowered(why) => {
                    wrong.push(format!("{call}: {why}"))
                }
                Fate::Lowered {
                    before,
                    after,
                    differs,
                    text,
                } => {
                    wrong.extend(differs.map(|why| format!("{call}: {why}\n{text}")));
                    if after > before {
                        wrong.push(format!("{call}: {before} ops become {after}\n{text}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns a layer called `op` of two units over three steps of two rows of two numbers, with the arguments `more`;
/// matrices of `gates` times two rows.
fn layer(op: &str, gates: usize, more: &[String], float: &str) -> String {
    let number = |at: usize| ["0x1p-1", "-0x1p-2", "0x1p+0", "0x1p-3", "-0x1.8p-1"][at % 5];
    let is_double = more.iter().any(|own| own.contains("bidirectional"));
    let units = if is_double { 4 } else { 2 };
    let matrix = |name: &str, shift: usize| {
        let rows =
            (0..2 * gates).map(|row| format!("[{}, {}]", number(row + shift), number(3 * row)));
        let rows: Vec<String> = rows.collect();
        format!(
            "{name} = tensor<@, [{}, 2]>([{}])",
            2 * gates,
            rows.join(", ")
        )
    };
    let mut arguments = vec![
        matrix("weight_ih", 0),
        matrix("weight_hh", 2),
        "initial_h = h".to_owned(),
        "x = x".to_owned(),
    ];
    if is_double {
        arguments.extend([matrix("weight_ih_back", 1), matrix("weight_hh_back", 4)]);
    }
    let every = more.iter().any(|own| own == "output_sequence = bool(true)");
    let steps = if every { 3 } else { 1 };
    let (mut params, mut results) = (
        format!("tensor<@, [3, 2, 2]> x, tensor<@, [2, {units}]> h"),
        format!("tensor<@, [{steps}, 2, {units}]> y, tensor<@, [2, {units}]> z"),
    );
    let mut outputs = "y, z";
    if op == "lstm" {
        params += &format!(", tensor<@, [2, {units}]> c");
        results += &format!(", tensor<@, [2, {units}]> w");
        arguments.push("initial_c = c".to_owned());
        outputs = "y, z, w";
    }
    arguments.extend(more.iter().cloned());
    arguments.sort();
    let text = format!(
        "program(1.3)\n[]\n{{ func main<ios18>({params}) {{\n{results} = {op}({});\n}} -> ({outputs}); }}",
        arguments.join(", ")
    );
    text.replace('@', float)
}

/// Returns a list of `count` numbers as the argument `name`.
fn list(name: &str, count: usize) -> String {
    let numbers = (0..count).map(|at| ["0x1p-2", "-0x1p-1", "0x1p-3"][at % 3]);
    let numbers: Vec<&str> = numbers.collect();
    format!("{name} = tensor<@, [{count}]>([{}])", numbers.join(", "))
}

#[test]
fn recurrent_layers_of_every_form_come_back_as_one_op() {
    let word = |name: &str, word: &str| format!("{name} = string(\"{word}\")");
    let mut forms: Vec<(&str, usize, Vec<String>)> = Vec::new();
    for direction in ["forward", "reverse"] {
        for every in ["true", "false"] {
            let own = [
                word("direction", direction),
                format!("output_sequence = bool({every})"),
            ];
            for (op, gates) in [("rnn", 1), ("gru", 3), ("lstm", 4)] {
                forms.push((op, gates, own.to_vec()));
                forms.push((op, gates, [&own[..], &[list("bias", 2 * gates)]].concat()));
            }
        }
    }
    for outer in [
        "relu",
        "linear",
        "softsign",
        "relu6",
        "sigmoid_hard",
        "scaled_tanh",
        "sigmoid",
    ] {
        let own = [word("activation", outer)];
        let gate = word(
            "recurrent_activation",
            if outer == "relu" {
                "sigmoid_hard"
            } else {
                "relu6"
            },
        );
        forms.push(("rnn", 1, own.to_vec()));
        forms.push(("gru", 3, vec![own[0].clone(), gate.clone()]));
        forms.push((
            "lstm",
            4,
            [&own[..], &[gate, word("cell_activation", outer)]].concat(),
        ));
    }
    let after = "reset_after = bool(true)".to_owned();
    forms.push(("gru", 3, vec![after.clone()]));
    forms.push(("gru", 3, vec![after.clone(), list("bias", 6)]));
    forms.push((
        "gru",
        3,
        vec![after, list("bias", 6), list("input_bias", 6)],
    ));
    let clip = "clip = @(0x1p-2)".to_owned();
    forms.push(("lstm", 4, vec![clip.clone(), list("peephole", 6)]));
    for every in ["true", "false"] {
        let both = [
            word("direction", "bidirectional"),
            format!("output_sequence = bool({every})"),
        ];
        forms.push(("lstm", 4, both.to_vec()));
        let biases = [list("bias", 8), list("bias_back", 8), clip.clone()];
        forms.push(("lstm", 4, [&both[..], &biases].concat()));
        let looks = [list("peephole", 6), list("peephole_back", 6)];
        forms.push(("lstm", 4, [&both[..], &looks].concat()));
    }
    let mut wrong = Vec::new();
    for (op, gates, more) in forms {
        for (float, error) in FLOATS {
            let name = format!("{op} {float} {}", more.join(", "));
            let text = layer(op, gates, &more, float);
            let source = read(&text).unwrap_or_else(|| panic!("no program:\n{text}"));
            match fate(op, &source, &kept("ios18"), error) {
                Fate::NotImported(why) | Fate::NotLowered(why) => {
                    wrong.push(format!("{name}: {why}"))
                }
                Fate::Lowered {
                    after,
                    differs,
                    text,
                    ..
                } => {
                    wrong.extend(differs.map(|why| format!("{name}: {why}\n{text}")));
                    if after != 1 {
                        wrong.push(format!("{name}: {after} ops\n{text}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
