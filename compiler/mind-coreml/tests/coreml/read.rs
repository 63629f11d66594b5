//! Packages, read back.

use mind_coreml::mil::{self, Spelling};
use mind_coreml::package::proto::{BlobFileValue, Model, NamedValueType, ValueKind};
use mind_coreml::package::read::{UnpackError, model_path, text};
use mind_coreml::package::{Package, blob, package};
use mind_ir::Graph;
use mind_mil::Element;
use mind_mil::check::{Interface, check};
use mind_text::Limits;
use prost::Message;

use super::package::{model, read};

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
    package(&read(text)).unwrap_or_else(|found| panic!("{:?}", found.first_error()))
}

/// A package of the model that `change` makes of that of [`PROGRAM`].
fn changed(change: impl FnOnce(&mut Model)) -> Result<String, UnpackError> {
    let mut own = model(&packaged(PROGRAM));
    change(&mut own);
    text(&own.encode_to_vec())
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
    let own = read(PROGRAM);
    let back = text(&packaged(PROGRAM).model).expect("a program");
    assert_eq!(printed(&read(&back)), printed(&own));
}

#[test]
fn both_generations_come_back() {
    for (opset, version) in [("ios16", "1.0"), ("ios18", "1.3")] {
        let program = super::package::program(opset, version).replace("func more", "func main2");
        let program = match version {
            "1.0" => program[..program.find("func main2").expect("a second")].to_owned() + "}",
            _ => program,
        };
        let back = text(&packaged(&program).model).expect("a program");
        assert_eq!(printed(&read(&back)), printed(&read(&program)));
    }
}

#[test]
fn the_default_function_comes_first() {
    let program = super::package::program("ios18", "1.3").replace("func main", "func zero");
    let back = text(&packaged(&program).model).expect("a program");
    let [zero, more] = ["func zero", "func more"].map(|word| back.find(word).expect("both"));
    assert!(zero < more);
}

#[test]
fn names_that_are_syntax_are_refused() {
    let inject = |model: &mut Model| block(model).outputs[0] = "c); } evil(".to_owned();
    let found = changed(inject).expect_err("a name");
    assert!(matches!(found, UnpackError::Name { .. }), "{found}");
    let result = |model: &mut Model| {
        let outputs = &mut block(model).operations[0].outputs;
        outputs[0] = NamedValueType {
            name: "\u{1b}[2J".to_owned(),
            ..outputs[0].clone()
        };
    };
    let found = changed(result).expect_err("a name");
    let shown = found.to_string();
    assert!(
        shown.contains("\\u{1b}") && !shown.contains('\u{1b}'),
        "{shown}"
    );
}

#[test]
fn places_out_of_the_package_are_refused_by_the_reader_of_the_text() {
    let leave = |model: &mut Model| {
        let attributes = &mut block(model).operations[1].attributes;
        let value = attributes.get_mut("val").expect("a constant");
        value.value = Some(ValueKind::BlobFileValue(BlobFileValue {
            file_name: "@model_path/../../etc/passwd".to_owned(),
            offset: 64,
        }));
    };
    let back = changed(leave).expect("text");
    let found = mil::parse(&back, 0, &Limits::default(), Spelling::Compiler);
    let found = found.err().expect("a path");
    assert_eq!(
        found
            .first_error()
            .and_then(|own| own.code)
            .map(|code| code.0),
        Some(4115)
    );
}

#[test]
fn models_that_are_no_programs_are_refused() {
    assert_eq!(text(&[]), Err(UnpackError::NoProgram));
    assert!(matches!(text(&[0xff; 8]), Err(UnpackError::Message(_))));
    let opset = changed(|model| {
        let program = model.ml_program.as_mut().expect("a program");
        program
            .functions
            .values_mut()
            .for_each(|own| own.opset = "CoreML99".to_owned());
    });
    assert!(matches!(opset, Err(UnpackError::Opset { .. })));
    let count = changed(|model| {
        let attributes = &mut block(model).operations[3].attributes;
        let value = attributes.get_mut("val").expect("a constant");
        value.r#type = None;
    });
    assert!(matches!(count, Err(UnpackError::Type { .. })));
}

/// A sequence of numbers, the same on every run.
fn draws(mut state: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    }
}

/// `bytes` with some of them changed, left out or repeated.
fn corrupted(bytes: &[u8], draw: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=draw(2) {
        let at = draw(bytes.len());
        match draw(16) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, draw(256) as u8),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 => {
                let end = (at + draw(40)).min(bytes.len());
                let again = bytes[at.min(end)..end].to_vec();
                bytes.splice(at.min(end)..end, [again.clone(), again].concat());
            }
            _ if at < bytes.len() => bytes[at] ^= 1 << draw(8),
            _ => {}
        }
    }
    bytes
}

#[test]
fn corrupted_packages_are_refused_or_read() {
    let own = packaged(PROGRAM);
    let mut draw = draws(0x9e37_79b9_7f4a_7c15);
    let (mut refused, mut unread, mut read) = (0, 0, 0);
    for _ in 0..1000 {
        match text(&corrupted(&own.model, &mut draw)) {
            Err(_) => refused += 1,
            Ok(text) => match mil::parse(&text, 0, &Limits::default(), Spelling::Compiler) {
                Err(_) => unread += 1,
                Ok(mut g) => {
                    let config = mind_ir::verify::VerifyConfig::default();
                    if !mind_ir::verify::verify(&mut g, &config).has_errors()
                        && !check(&g, Interface::Any).has_errors()
                    {
                        read += 1;
                    }
                }
            },
        }
        let _ = model_path(&corrupted(own.manifest.as_bytes(), &mut draw));
    }
    assert!(
        refused > 100 && unread > 10 && read > 10,
        "{refused} {unread} {read}"
    );
}

#[test]
fn corrupted_weights_are_refused_or_read() {
    let mut writer = blob::Writer::new();
    writer.push(Element::Fp16, &[7; 24], 192);
    writer.push(Element::Int8, &[9; 11], 88);
    let own = writer.finish();
    let mut draw = draws(77);
    for _ in 0..1000 {
        let file = corrupted(&own, &mut draw);
        let places = [(64, Element::Fp16, 24), (192, Element::Int8, 11)];
        for (offset, element, bytes) in places {
            if let Ok(data) = blob::read(&file, offset, element, bytes) {
                assert_eq!(data.len() as u64, bytes);
            }
        }
    }
}
