//! Packages, read back.

use mind_coreml::blob;
use mind_coreml::mil::{self, Spelling};
use mind_coreml::package::proto::{BlobFileValue, Model, NamedValueType, ValueKind};
use mind_coreml::package::read::{self, model_path};
use mind_coreml::package::{Package, package};
use mind_diag::{Diagnostics, render_text};
use mind_ir::Graph;
use mind_ir::random::Rng;
use mind_ir::verify::{VerifyConfig, verify};
use mind_mil::Element;
use mind_mil::check::{Interface, check};
use mind_text::Limits;
use prost::Message;

use super::package::{model, read as read_text};

const PROGRAM: &str = r#"program(1.3)
[buildInfo = dict<string, string>({{"coremlc-version", "0"}})]
{
    func main<ios18>(state<tensor<fp16, [2, 3]>> k, tensor<fp16, [2, 3]> x) {
            tensor<fp16, [2, 3]> r = read_state(input = k)[name = string("r")];
            tensor<fp16, [3]> s = const()[name = string("s"), val = tensor<fp16, [3]>([0x1p-24, -0x1.554p-2, -0x0p+0])];
            tensor<fp32, [2]> t = const()[name = string("t"), val = tensor<fp32, [2]>([0x1.99999ap-4, 0x1p-149])];
            tensor<bool, [2]> f = const()[name = string("f"), val = tensor<bool, [2]>([true, false])];
            tensor<int8, [2]> i = const()[name = string("i"), val = tensor<int8, [2]>([-128, 127])];
            tensor<uint4, [3]> n = const()[name = string("n"), val = tensor<uint4, [3]>([15, 0, 7])];
            tensor<int4, [3]> m = const()[name = string("m"), val = tensor<int4, [3]>([-8, 7, -1])];
            tensor<fp16, [2, 3]> a = add(x = r, y = s)[name = string("a")];
            tensor<fp16, [2, 3]> b = cond(pred = bool(true))[name = string("b")]
                () {
                    tensor<fp16, [2, 3]> u = relu(x = a)[name = string("u")];
                } -> (u)
                () {
                    tensor<fp16, [2, 3]> v = tanh(x = x)[name = string("v")];
                } -> (v);
            write_state(data = b, input = k)[name = string("w")];
            tensor<fp16, [2, 3]> c = concat(axis = int32(0), interleave = bool(false), values = (b))[name = string("c")];
        } -> (c);
}"#;

fn printed(g: &Graph) -> String {
    mil::print(g, Spelling::Compiler).expect("MIL says it")
}

fn packaged(text: &str) -> Package {
    package(&read_text(text)).unwrap_or_else(|found| panic!("{:?}", found.first_error()))
}

/// The program of a model, verified, or the diagnostics as they are shown.
fn unpacked(model: &[u8]) -> Result<Graph, String> {
    let (file, program) = read::program("m.mlmodel", model, &Limits::default());
    let shown = |found: &Diagnostics| render_text(found, &file, false);
    let mut g = program.map_err(|found| shown(&found))?;
    let mut found = verify(&mut g, &VerifyConfig::default());
    if !found.has_errors() {
        found = check(&g, Interface::Any);
    }
    if found.has_errors() {
        Err(shown(&found))
    } else {
        Ok(g)
    }
}

/// The program of the model that `change` makes of that of [`PROGRAM`].
fn changed(change: impl FnOnce(&mut Model)) -> Result<Graph, String> {
    let mut own = model(&packaged(PROGRAM));
    change(&mut own);
    unpacked(&own.encode_to_vec())
}

/// What is shown of the model that `change` makes of that of [`PROGRAM`], which is refused.
#[track_caller]
fn refused(change: impl FnOnce(&mut Model)) -> String {
    changed(change).err().expect("an error")
}

/// The block of the one function.
fn block(model: &mut Model) -> &mut mind_coreml::package::proto::Block {
    let program = model.ml_program.as_mut().expect("a program");
    let function = program.functions.values_mut().next().expect("a function");
    function
        .block_specializations
        .values_mut()
        .next()
        .expect("a block")
}

#[test]
fn small_programs_come_back_as_they_were() {
    let own = read_text(PROGRAM);
    let back = unpacked(&packaged(PROGRAM).model).expect("a program");
    assert_eq!(printed(&back), printed(&own));
}

#[test]
fn both_generations_come_back() {
    for (opset, version) in [("ios16", "1.0"), ("ios18", "1.3")] {
        let program = super::package::program(opset, version).replace("func more", "func main2");
        let program = match version {
            "1.0" => program[..program.find("func main2").expect("a second")].to_owned() + "}",
            _ => program,
        };
        let back = unpacked(&packaged(&program).model).expect("a program");
        assert_eq!(printed(&back), printed(&read_text(&program)));
    }
}

#[test]
fn the_default_function_comes_first() {
    let program = super::package::program("ios18", "1.3").replace("func main", "func zero");
    let back = printed(&unpacked(&packaged(&program).model).expect("a program"));
    let [zero, more] = ["func zero", "func more"].map(|word| back.find(word).expect("both"));
    assert!(zero < more);
}

#[test]
fn names_that_are_syntax_are_refused() {
    let inject = |model: &mut Model| block(model).outputs[0] = "c); } evil(".to_owned();
    let shown = refused(inject);
    assert!(
        shown.contains("error[E4112]: an output is called `c); } evil(`"),
        "{shown}"
    );
    let result = |model: &mut Model| {
        let outputs = &mut block(model).operations[0].outputs;
        outputs[0] = NamedValueType {
            name: "\u{1b}[2J".to_owned(),
            ..outputs[0].clone()
        };
    };
    let shown = refused(result);
    assert!(
        shown.contains("\\u{1b}") && !shown.contains('\u{1b}'),
        "{shown}"
    );
}

/// The path of an operation of the one function.
const OPERATIONS: &str = "functions[\"main\"].block_specializations[\"CoreML8\"].operations";

#[test]
fn an_error_names_the_operation() {
    let unknown = |model: &mut Model| {
        let operation = &mut block(model).operations[7];
        let x = operation.inputs.remove("x").expect("an argument");
        operation.inputs.insert("input".to_owned(), x);
    };
    let expected = format!(
        "error[E4102]: `add` has no argument `input`\n\
         --> m.mlmodel: {OPERATIONS}[7], add \"a\"\n = help: in opset ios18 it takes x, y\n"
    );
    assert_eq!(refused(unknown), expected);
    let missing = |model: &mut Model| drop(block(model).operations[7].inputs.remove("x"));
    let shown = refused(missing);
    let place = format!("--> m.mlmodel: {OPERATIONS}[7], add \"a\"\n");
    assert!(
        shown.contains("error[E4104]: `add` lacks its argument `x`") && shown.contains(&place),
        "{shown}"
    );
    let inner = |model: &mut Model| {
        let operation = &mut block(model).operations[8].blocks[1].operations[0];
        operation.r#type = "tahn".to_owned();
    };
    let shown = refused(inner);
    let place = format!("--> m.mlmodel: {OPERATIONS}[8].blocks[1].operations[0], tahn \"v\"\n");
    assert!(
        shown.contains("there is no op `tahn`") && shown.contains(&place),
        "{shown}"
    );
    let twice = |model: &mut Model| {
        let operations = &mut block(model).operations;
        operations[2].outputs[0].name = "s".to_owned();
    };
    let shown = refused(twice);
    let first = format!("= note: first here: {OPERATIONS}[1], const \"s\"");
    assert!(
        shown.contains("error[E4113]: `s` is defined twice") && shown.contains(&first),
        "{shown}"
    );
}

#[test]
fn places_out_of_the_package_are_refused() {
    let leave = |model: &mut Model| {
        let attributes = &mut block(model).operations[1].attributes;
        let value = attributes.get_mut("val").expect("a constant");
        value.value = Some(ValueKind::BlobFileValue(BlobFileValue {
            file_name: "@model_path/../../etc/passwd".to_owned(),
            offset: 64,
        }));
    };
    assert!(refused(leave).contains("error[E4115]"));
}

#[test]
fn models_that_are_no_programs_are_refused() {
    let unread = |bytes: &[u8]| unpacked(bytes).err().expect("no program");
    assert!(unread(&[]).contains("the model is no ML program"));
    assert!(unread(&[0xff; 8]).contains("the model is no message of Core ML"));
    let opset = refused(|model| {
        let program = model.ml_program.as_mut().expect("a program");
        program
            .functions
            .values_mut()
            .for_each(|own| own.opset = "CoreML99".to_owned());
    });
    assert!(
        opset.contains("error[E4116]: there is no opset `CoreML99`"),
        "{opset}"
    );
    let untyped = refused(|model| {
        let attributes = &mut block(model).operations[3].attributes;
        let value = attributes.get_mut("val").expect("a constant");
        value.r#type = None;
    });
    assert!(
        untyped.contains("error[E2001]: `val` is a list, a tuple or of no type"),
        "{untyped}"
    );
    let elements = refused(|model| {
        let attributes = &mut block(model).operations[3].attributes;
        let value = attributes.get_mut("val").expect("a constant");
        value.value = attributes_of(PROGRAM);
    });
    assert!(
        elements.contains("error[E4005]: the elements of `val` are not those of its type"),
        "{elements}"
    );
    let empty = refused(|model| {
        model
            .ml_program
            .as_mut()
            .expect("a program")
            .functions
            .clear()
    });
    assert!(empty.contains("the program has no function"), "{empty}");
}

/// The value of the first constant of a program.
fn attributes_of(text: &str) -> Option<ValueKind> {
    let mut own = model(&packaged(text));
    block(&mut own).operations[1].attributes["val"]
        .value
        .clone()
}

/// `bytes` with some of them changed, left out or repeated.
fn corrupted(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=rng.below(2) {
        let at = rng.below(bytes.len());
        match rng.below(16) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, rng.below(256) as u8),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 => {
                let end = (at + rng.below(40)).min(bytes.len());
                let again = bytes[at.min(end)..end].to_vec();
                bytes.splice(at.min(end)..end, [again.clone(), again].concat());
            }
            _ if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            _ => {}
        }
    }
    bytes
}

#[test]
fn corrupted_packages_are_refused_or_read() {
    let own = packaged(PROGRAM);
    let mut rng = Rng::new(1);
    let (mut refused, mut unverified, mut read) = (0, 0, 0);
    for _ in 0..1000 {
        let model = corrupted(&own.model, &mut rng);
        match read::program("m", &model, &Limits::default()).1 {
            Err(_) => refused += 1,
            Ok(mut g) => {
                let found = verify(&mut g, &VerifyConfig::default());
                if found.has_errors() || check(&g, Interface::Any).has_errors() {
                    unverified += 1;
                } else {
                    let text = printed(&g);
                    assert_eq!(printed(&read_text(&text)), text);
                    if let Ok(own) = package(&g) {
                        unpacked(&own.model).expect("a package of ours holds a program");
                    }
                    read += 1;
                }
            }
        }
        let _ = model_path(&corrupted(own.manifest.as_bytes(), &mut rng));
    }
    assert!(
        refused > 100 && unverified > 10 && read > 10,
        "{refused} {unverified} {read}"
    );
}

#[test]
fn corrupted_weights_are_refused_or_read() {
    let mut writer = blob::Writer::new();
    writer.push(Element::Fp16, &[7; 24], 192);
    writer.push(Element::Int8, &[9; 11], 88);
    let own = writer.finish();
    let mut rng = Rng::new(77);
    for _ in 0..1000 {
        let file = corrupted(&own, &mut rng);
        let places = [(64, Element::Fp16, 24), (192, Element::Int8, 11)];
        for (offset, element, bytes) in places {
            if let Ok(data) = blob::read(&file, offset, element, bytes) {
                assert_eq!(data.len() as u64, bytes);
            }
        }
    }
}
