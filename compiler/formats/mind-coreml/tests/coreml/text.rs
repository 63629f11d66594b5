//! MIL text: a program that was read prints as the same text, and no text makes the parser panic, recurse or allocate
//! without bound.

use mind_coreml::mil::{self, Spelling};
use mind_diag::Diagnostics;
use mind_ir::Graph;
use mind_ir::random::Rng;
use mind_ir::verify::{VerifyConfig, verify};
use mind_text::{Entity, Limits, SourceMap};

const CANONICAL: &str = r#"program(1.3)
[buildInfo = dict<string, string>({{"coremlc-component-MIL", "mind-opt"}, {"coremlc-version", "0"}})]
{
    func main<ios18>(state<tensor<fp16, [1, 8]>> k, tensor<fp16, [1, 4, 1, 16]> x) {
            int32 ax = const()[name = string("ax"), val = int32(1)];
            tensor<fp16, [1, 2, 1, 16]> a, tensor<fp16, [1, 2, 1, 16]> b = split(axis = ax, num_splits = int32(2), x = x)[name = string("s")];
            tensor<fp16, [1, 4, 1, 16]> y = concat(axis = ax, interleave = bool(false), values = (b, a))[name = string("y")];
            tensor<fp16, [1, 8]> r = read_state(input = k);
            tensor<fp16, [2]> w = const()[name = string("w"), val = tensor<fp16, [2]>([0x1.554p-2, -0x0p+0])];
            write_state(data = r, input = k);
        } -> (y);
}"#;

const OLD: &str = r#"program(1.0)
[buildInfo = dict<tensor<string, []>, tensor<string, []>>({{"k", "v"}})]
{
    func main<ios16>(tensor<int32, [2]> i, tensor<fp32, [?, 4]> x) [FlexibleShapeInformation = tuple<tuple<string, dict<string, tensor<int32, [?]>>>>((("DefaultShapes", {{"x", [2, 4]}})))] {
            tensor<int8, [4]> q = constexpr_affine_dequantize()[axis = tensor<int32, []>(0), quantized_data = tensor<int8, [4]>([1, 2, 3, -4]), scale = tensor<fp32, []>(0x1p-1), zero_point = tensor<int8, []>(-1)];
            tensor<int32, [2]> c, tensor<int32, [2]> d = while_loop(loop_vars = (i, i))
                (tensor<int32, [2]> e, tensor<int32, [2]> f) {
                    tensor<bool, [2]> g = less(x = e, y = f);
                } -> (g)
                (tensor<int32, [2]> e, tensor<int32, [2]> f) {
                    tensor<int32, [2]> h = add(x = e, y = f);
                } -> (h, f);
        } -> (c);
}"#;

fn read(text: &str, spelling: Spelling) -> Result<Graph, Diagnostics> {
    mil::parse(text, 0, &Limits::default(), spelling)
}

#[track_caller]
fn canonical(text: &str) {
    let g =
        read(text, Spelling::Compiler).unwrap_or_else(|found| panic!("{:?}", found.first_error()));
    let printed = mil::print(&g, Spelling::Compiler).expect("a program");
    assert_eq!(printed, text);
}

#[test]
fn both_generations_print_as_they_were() {
    canonical(CANONICAL);
    canonical(OLD);
}

#[test]
fn the_primer_says_the_same_module() {
    let g = read(CANONICAL, Spelling::Compiler).expect("a program");
    let primer = mil::print(&g, Spelling::Primer).expect("a program");
    let again = read(&primer, Spelling::Primer).expect("the primer's own text");
    assert_eq!(
        mil::print(&again, Spelling::Compiler).expect("a program"),
        CANONICAL
    );
}

#[test]
fn spacing_and_comments_say_nothing() {
    let squeezed = CANONICAL
        .replace("    ", " ")
        .replace('\n', " // c\n ")
        .replace(", ", ",");
    let g = read(&squeezed, Spelling::Compiler)
        .unwrap_or_else(|found| panic!("{:?}", found.first_error()));
    assert_eq!(
        mil::print(&g, Spelling::Compiler).expect("a program"),
        CANONICAL
    );
}

/// Reads a text in both spellings and verifies the result.
fn survives(text: &str) {
    for spelling in [Spelling::Compiler, Spelling::Primer] {
        if let Ok(mut g) = read(text, spelling) {
            let found = verify(&mut g, &VerifyConfig::default());
            if !found.has_errors() {
                mind_mil::check::check(&g, Default::default());
                mil::print(&g, spelling).expect("a program prints");
            }
        }
    }
}

#[test]
fn no_text_makes_the_parser_panic() {
    for text in [CANONICAL, OLD] {
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            survives(&text[..end]);
        }
        let mut rng = Rng::new(1);
        for _ in 0..4000 {
            let mut bytes = text.as_bytes().to_vec();
            let at = rng.below(bytes.len());
            let with = *rng.pick(b"()[]{}<>,;=?@-x09\"\xc3/\n.p");
            match rng.below(4) {
                0 => bytes[at] = with,
                1 => bytes.insert(at, with),
                2 => drop(bytes.remove(at)),
                _ => bytes.truncate(at),
            }
            survives(&String::from_utf8_lossy(&bytes));
        }
    }
}

#[test]
fn nesting_and_size_have_bounds() {
    let frame = |inside: &str| {
        format!("program(1.3)\n[]\n{{func main<ios18>(tensor<fp16, [1]> x) {{{inside}}} -> (x);}}")
    };
    let deep = 100_000;
    let texts = [
        frame(&format!(
            "tensor<fp16, [1]> a = relu(x = {}x{});",
            "(".repeat(deep),
            ")".repeat(deep)
        )),
        frame(&format!(
            "tensor<fp16, [1]> a = relu(x = tensor<fp16, [1]>({}));",
            "[".repeat(deep)
        )),
        frame(&format!("{} a = relu(x = x);", "list<".repeat(deep))),
        frame(&"tensor<fp16, [1]> a = cond(pred = x)(){".repeat(deep / 10)),
        frame("tensor<fp16, [99999999999]> a = const()[val = tensor<fp16, [99999999999]>([0])];"),
        format!("program(1.3)[a = {}]{{", "(".repeat(deep)),
        "é ".repeat(deep),
        "\"".repeat(deep),
    ];
    for text in texts {
        assert!(
            read(&text, Spelling::Compiler).is_err(),
            "{}",
            &text[..80.min(text.len())]
        );
        survives(&text);
    }
    survives(&frame(
        "tensor<fp16, [9223372036854775807, 9223372036854775807]> a = relu(x = x);",
    ));
}

#[test]
fn errors_name_line_and_column_all_of_them() {
    let text = CANONICAL
        .replace("axis = ax, num", "axis = nowhere, num")
        .replace(
            "x = x)[name = string(\"s\")]",
            "x = x)[name = string(\"s\"]",
        );
    let text = text.replace("int32(1)", "int32(1.5)");
    let found = read(&text, Spelling::Compiler).err().expect("errors");
    assert!(found.error_count() >= 2, "{found:?}");
}

#[test]
fn names_are_recorded_where_they_stand() {
    let text = "program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [1, 4]> x) {\n\
        tensor<fp16, [1, 4]> y = relu(x = x)[name = string(\"y\")];\n\
        tensor<fp16, [1, 4]> z = nothing(;\n} -> (y);\n}";
    let mut map = SourceMap::new();
    let read = mil::parse_mapped(text, 0, &Limits::default(), Spelling::Compiler, &mut map);
    assert!(read.is_err());
    let shown = map.occurrences().iter().map(|found| {
        let word = &text[found.span.start as usize..found.span.end as usize];
        let entity = match found.entity {
            Entity::Op(def) => def.name.to_owned(),
            Entity::Attr(..) => "argument".to_owned(),
            Entity::Value(number) => format!("value {}", &text[number as usize..][..1]),
            other => format!("{other:?}"),
        };
        format!("{word} {:?} {entity}", found.role)
    });
    let expected = [
        "main Definition Function",
        "fp16 Reference DType",
        "x Definition value x",
        "fp16 Reference DType",
        "y Definition value y",
        "relu Reference mil.relu",
        "x Reference argument",
        "x Reference value x",
        "string Reference DType",
        "fp16 Reference DType",
        "y Reference value y",
    ];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}
