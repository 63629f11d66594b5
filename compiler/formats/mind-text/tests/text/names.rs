//! The names that parsing records.

use mind_text::{Entity, Format, Limits, Role, SourceMap};

use crate::FORMATS;

/// Returns the names in `text`, one per entry: the text, its role and its entity.
fn names(format: Format, text: &str) -> Vec<String> {
    let mut map = SourceMap::new();
    let _ = FORMATS.parse_mapped(format, text, 0, &Limits::default(), &mut map);
    let shown = map.occurrences().iter().map(|found| {
        let word = &text[found.span.start as usize..found.span.end as usize];
        let role = match found.role {
            Role::Definition => "=",
            Role::Implicit => "~",
            Role::Reference => "<",
        };
        let entity = match found.entity {
            Entity::Op(def) => def.name.to_owned(),
            Entity::Attr(def, at) => {
                format!("{}.{}", def.name, at.map_or("", |at| def.attrs[at].name))
            }
            other => format!("{other:?}"),
        };
        format!("{word} {role} {entity}")
    });
    shown.collect()
}

#[test]
fn mic2_records_what_each_word_stands_for() {
    let text = "mic@2\nS B\nT0 f32 B 4\na X T0\nsum 0 1 # 0\ncat 0 0 -1\nO 1";
    let expected = [
        "B = Symbol(0)",
        "T0 = Type(0)",
        "f32 < DType",
        "B < Symbol(0)",
        "a < core.input",
        "X = Value(0)",
        "T0 < Type(0)",
        "sum ~ Value(1)",
        "sum < core.sum",
        "0 < Value(0)",
        "cat ~ Value(2)",
        "cat < core.concat",
        "0 < Value(0)",
        "0 < Value(0)",
        "1 < Value(1)",
    ];
    assert_eq!(names(Format::Mic2, text), expected);
}

#[test]
fn mic1_records_ids_kinds_and_keys() {
    let text = "mic@1\nS0 \"x\"\nT0 [f32;B,3]\nN7 input S0 T0\nN9 sum N7 [1] kd=1\nO N9\n";
    let expected = [
        "S0 = Name(0)",
        "T0 = Type(0)",
        "f32 < DType",
        "B < Symbol(1)",
        "N7 = Value(7)",
        "input < core.input",
        "S0 < Name(0)",
        "T0 < Type(0)",
        "N9 = Value(9)",
        "sum < core.sum",
        "N7 < Value(7)",
        "kd < core.sum.keepdims",
        "N9 < Value(9)",
    ];
    assert_eq!(names(Format::Mic1, text), expected);
}

#[test]
fn lines_with_errors_give_the_names_in_front_of_them() {
    let text = "mic@2\nT0 f32 4\na X T0\n+ 0\n+ 0 x\nm 1 9\nO 2";
    let shown = names(Format::Mic2, text).join("\n");
    for expected in [
        "+ ~ Value(1)\n+ < core.add\n0 < Value(0)",
        "9 < Value(9)",
        "2 < Value(2)",
    ] {
        assert!(shown.contains(expected), "{expected}\n{shown}");
    }
    let text = "mic@1\nT0 f32\nN0 input \"x\" T0\nN1 add N0 N5\nN2 relu N1\nO N2\n";
    let shown = names(Format::Mic1, text).join("\n");
    for expected in ["N5 < Value(5)", "N1 < Value(1)"] {
        assert!(shown.contains(expected), "{expected}\n{shown}");
    }
}

#[test]
fn a_map_knows_the_values_of_the_graph_and_costs_no_text_its_meaning() {
    let text = "mic@1\nT0 [f32;2]\nN7 input \"x\" T0\nN3 relu N7\nO N3\n";
    let mut map = SourceMap::new();
    let mapped = FORMATS.parse_mapped(Format::Mic1, text, 0, &Limits::default(), &mut map);
    let (mapped, plain) = (
        mapped.unwrap(),
        FORMATS.parse(Format::Mic1, text, 0, &Limits::default()),
    );
    assert_eq!(mapped.label(map.value(3).unwrap()), 3);
    assert_eq!(mapped.label(map.value(7).unwrap()), 7);
    let printed = |g| FORMATS.print(Format::Mic1, g).unwrap();
    assert_eq!(printed(&mapped), printed(&plain.unwrap()));
}

#[test]
fn core_text_records_ids_ops_and_keys() {
    let text = "%4 = Input {name=x} : tensor<f32[B, 3]>\n%1 = Softmax (%4) {axis=1}\noutputs: %1";
    let expected = [
        "%4 = Value(4)",
        "Input < core.input",
        "name < core.input.name",
        "f32 < DType",
        "B < Symbol(1)",
        "%1 = Value(1)",
        "Softmax < core.softmax",
        "%4 < Value(4)",
        "axis < core.softmax.axis",
        "%1 < Value(1)",
    ];
    assert_eq!(names(Format::Core, text), expected);
}
