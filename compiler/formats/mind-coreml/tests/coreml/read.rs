//! Tests of reading packages.

use std::collections::BTreeMap;

use mind_coreml::blob;
use mind_coreml::mil::{self, Spelling};
use mind_coreml::package::proto::{BlobFileValue, Function, Model, Value, ValueKind};
use mind_coreml::package::read::{self, model_path};
use mind_coreml::package::{Package, package};
use mind_diag::{Diagnostics, render_text};
use mind_ir::Graph;
use mind_ir::random::Rng;
use mind_ir::verify::{VerifyConfig, verify};
use mind_mil::Element;
use mind_mil::check::{Interface, check};
use mind_snapshot::snapshot;
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

/// Returns the verified program of a model, or the diagnostics as text.
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

/// Returns the program of the model of [`PROGRAM`] after `change`.
fn changed(change: impl FnOnce(&mut Model)) -> Result<Graph, String> {
    let mut own = model(&packaged(PROGRAM));
    change(&mut own);
    unpacked(&own.encode_to_vec())
}

/// Returns the diagnostics for the model of [`PROGRAM`] after `change`, which must be rejected.
#[track_caller]
fn refused(change: impl FnOnce(&mut Model)) -> String {
    changed(change).err().expect("an error")
}

/// Returns the block of the only function.
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
    let inject = refused(|model| block(model).outputs[0] = "c); } evil(".to_owned());
    let result = refused(|model| {
        block(model).operations[0].outputs[0].name = "\u{1b}[2J".to_owned();
    });
    assert!(!result.contains('\u{1b}'), "{result}");
    snapshot!([inject, result].join("\n"));
}

#[test]
fn an_error_names_the_operation() {
    let unknown = refused(|model| {
        let operation = &mut block(model).operations[7];
        let x = operation.inputs.remove("x").expect("an argument");
        operation.inputs.insert("input".to_owned(), x);
    });
    let missing = refused(|model| drop(block(model).operations[7].inputs.remove("x")));
    let inner = refused(|model| {
        let operation = &mut block(model).operations[8].blocks[1].operations[0];
        operation.r#type = "tahn".to_owned();
    });
    let twice = refused(|model| {
        let operations = &mut block(model).operations;
        operations[2].outputs[0].name = "s".to_owned();
    });
    snapshot!([unknown, missing, inner, twice].join("\n"));
}

/// Returns the value of a constant, which is the given operation of the only function.
fn constant(model: &mut Model, operation: usize) -> &mut Value {
    let attributes = &mut block(model).operations[operation].attributes;
    attributes.get_mut("val").expect("a constant")
}

#[test]
fn places_out_of_the_package_are_refused() {
    snapshot!(refused(|model| {
        constant(model, 1).value = Some(ValueKind::BlobFileValue(BlobFileValue {
            file_name: "@model_path/../../etc/passwd".to_owned(),
            offset: 64,
        }));
    }));
}

#[test]
fn models_that_are_no_programs_are_refused() {
    let unread = |bytes: &[u8]| unpacked(bytes).err().expect("no program");
    let functions = |model: &mut Model, change: fn(&mut BTreeMap<String, Function>)| {
        change(&mut model.ml_program.as_mut().expect("a program").functions);
    };
    snapshot!(
        [
            unread(&[]),
            unread(&[0xff; 8]),
            refused(|model| functions(model, |all| {
                all.values_mut()
                    .for_each(|own| own.opset = "CoreML99".to_owned());
            })),
            refused(|model| constant(model, 3).r#type = None),
            refused(|model| constant(model, 3).value = attributes_of(PROGRAM)),
            refused(|model| functions(model, BTreeMap::clear)),
        ]
        .join("\n")
    );
}

/// Returns the value of the first constant of a program.
fn attributes_of(text: &str) -> Option<ValueKind> {
    constant(&mut model(&packaged(text)), 1).value.clone()
}

/// Returns `bytes` with some of them changed, dropped or repeated.
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
