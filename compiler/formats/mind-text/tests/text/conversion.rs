//! One module in several formats.

use mind_snapshot::snapshot;
use mind_text::Format;

use crate::{FORMATS, canonical, errors, print, read, verified};

fn refusals(format: Format, text: &str, to: Format) -> Vec<String> {
    let found = FORMATS
        .print(to, &verified(format, text))
        .expect_err("it cannot be written");
    found.iter().map(|error| error.message.clone()).collect()
}

const MIC1: &str = "\
mic@1
S0 \"x\"
S1 \"w\"
T0 [f32;B,4]
T1 [f32;4,4]
N5 input S0 T0
N7 param S1 T1
N1 matmul N5 N7
N2 relu N1
O N2
";

const MIC2: &str = "\
mic@2
S B
T0 f32 B 4
T1 f32 4 4
a x T0
p w T1
m 0 1
r 2
O 3";

#[test]
fn mic1_becomes_mic2_with_ids_by_position_and_roles_kept() {
    assert_eq!(print(Format::Mic2, &verified(Format::Mic1, MIC1)), MIC2);
    canonical(Format::Mic2, MIC2);
}

#[test]
fn mic2_becomes_mic1_with_positions_as_ids() {
    let text = print(Format::Mic1, &read(Format::Mic2, MIC2));
    assert_eq!(
        text,
        MIC1.replace("N5", "N0")
            .replace("N2", "N3")
            .replace("N1 ", "N2 ")
            .replace(" N1\n", " N2\n")
            .replace("N7", "N1")
    );
    canonical(Format::Mic1, &text);
}

#[test]
fn what_mic2_has_no_opcode_for_becomes_reshapes() {
    let text = "\
mic@1
T0 [f32;B,4]
T1 [f32;4,1]
N0 input \"x\" T0
N1 input \"y\" T1
N2 sum N0 [1] kd=1
N3 expand N2 [0]
N4 squeeze N3 [0]
N5 dot N0 N1
N6 add N4 N5
N7 mean N6 kd=1
O N7
";
    let expected = "\
mic@2
S B
T0 f32 B 4
T1 f32 4 1
a x T0
a y T1
sum 0 1
rshp 2 B 1
rshp 3 1 B 1
rshp 4 B 1
m 0 1
+ 5 6
mean 7
O 8";
    assert_eq!(print(Format::Mic2, &verified(Format::Mic1, text)), expected);
    verified(Format::Mic2, expected);
}

#[test]
fn an_unknown_extent_becomes_minus_one_but_only_once() {
    let text =
        |dims: &str| format!("mic@1\nT0 [f32;{dims}]\nN0 input \"x\" T0\nN1 expand N0 [0]\nO N1\n");
    let graph = verified(Format::Mic1, &text("?,4"));
    assert_eq!(
        print(Format::Mic2, &graph),
        "mic@2\nT0 f32 ? 4\na x T0\nrshp 0 1 -1 4\nO 1"
    );
    assert_eq!(
        refusals(Format::Mic1, &text("?,?"), Format::Mic2),
        [
            "'expand_dims' (value 1) cannot be written in mic@2: it has a target shape with more than one unknown extent"
        ]
    );
}

#[test]
fn what_mic2_cannot_say_is_refused_by_op_and_value() {
    let inputs = "mic@1\nT0 [f32;1,4,4,2]\nT1 [f32;2,2,2,3]\nT2 [f32;4]\nN0 input \"x\" T0\nN1 input \"y\" T1\nN2 input \"z\" T2\n";
    let nodes = [
        "N9 const.i64 1",
        "N9 const.f32 1",
        "N9 const.tensor fill=1 T2",
        "N9 conv2d N0 N1",
        "N9 index N2 [0]",
        "N9 slice N2 0:1",
        "N9 neg N2",
        "N9 exp N2",
        "N9 log N2",
        "N9 dot N2 N2",
        "N9 input \"a b\" T2",
    ];
    let ends = nodes.map(|node| format!("{node}\nO N9\n"));
    let two = "O N0\nO N1\n".to_owned();
    let refused = ends.into_iter().chain([two]).map(|end| {
        let found = refusals(Format::Mic1, &format!("{inputs}{end}"), Format::Mic2);
        format!("{end}  {}\n", found.join("\n"))
    });
    snapshot!(refused.collect::<Vec<_>>().join("\n"));
    let none = FORMATS
        .print(Format::Mic2, &read(Format::Mic1, inputs))
        .unwrap_err();
    assert_eq!(
        none.first_error().unwrap().message,
        "mic@2 has exactly one output, the module has 0"
    );
}

#[test]
fn a_kept_reduction_needs_types_to_become_mic2() {
    let text = "mic@1\nT0 [f32;4]\nN0 input \"x\" T0\nN1 sum N0 [0] kd=1\nO N1\n";
    let found = FORMATS
        .print(Format::Mic2, &read(Format::Mic1, text))
        .unwrap_err();
    assert_eq!(
        found.first_error().unwrap().message,
        "'sum' (value 1) cannot be written in mic@2: it needs the type of a value that has none: verify the module first"
    );
}

#[test]
fn what_mic1_cannot_say_is_refused_by_op_and_value() {
    let text = "\
%0 = Input {name=x} : tensor<f32[4]>
%1 = Fused (%0) {kind=map} : tensor<f32[4]> {
  args: %2
  %3 = Relu (%2)
  yield: %3
}
outputs: %1";
    let graph = match FORMATS.parse(Format::Core, text, 0, &Default::default()) {
        Ok(graph) => graph,
        Err(_) => panic!("{:#?}", errors(Format::Core, text)),
    };
    for (format, name) in [
        (Format::Mic1, "'fused' (N1)"),
        (Format::Mic2, "'fused' (value 1)"),
    ] {
        let found = FORMATS.print(format, &graph).unwrap_err();
        let message = &found.first_error().unwrap().message;
        assert!(
            message.starts_with(&format!("{name} cannot be written in mic@")),
            "{message}"
        );
    }
}

#[test]
fn every_mic2_module_has_a_mic1_form_that_comes_back() {
    let text = "\
mic@2
S B
T0 f32 8 4 6
T1 i64 2
a x T0
a i T1
s 0 1
sig 2
th 3
gelu 4
ln 5
t 6
rshp 7 -1 8 B
sum 8 0
mean 8
max 8 -1 0
cat 0 2 -1
split 12 2 2 1
gth 13 1 1
O 14";
    let mic1 = print(Format::Mic1, &read(Format::Mic2, text));
    canonical(Format::Mic1, &mic1);
    assert_eq!(print(Format::Mic2, &read(Format::Mic1, &mic1)), text);
}
