//! Every opcode of mic@2 and every kind of mic@1, with every parameter.

use mind_text::Format;

use crate::{canonical, prints, read, registry};

const MIC2_INPUTS: &str = "mic@2\nS B\nT0 f32 8 4 6\nT1 i64 2\na x T0\na y T0\na i T1\n";

const MIC2_NODES: &str = include_str!("mic2_nodes.txt");

#[test]
fn every_mic2_opcode_survives_with_every_parameter() {
    for node in MIC2_NODES.lines() {
        canonical(Format::Mic2, &format!("{MIC2_INPUTS}{node}\nO 3"));
    }
    let named = registry()
        .ops()
        .filter_map(|def| def.names.mic2)
        .filter(|&word| word != "a")
        .count();
    let words: std::collections::BTreeSet<&str> = MIC2_NODES
        .lines()
        .filter_map(|node| node.split(' ').next())
        .collect();
    assert_eq!((words.len(), named), (19, 19));
}

#[test]
fn mic2_defaults_are_left_out_where_the_form_says_so() {
    for (written, canonical) in [
        ("s 0 -1", "s 0"),
        ("split 0 0 2 0", "split 0 0 2"),
        ("gth 0 2", "gth 0 2 0"),
        ("m 00 01", "m 0 1"),
        ("t 0 002 0 1", "t 0 2 0 1"),
    ] {
        let text = |node| format!("{MIC2_INPUTS}{node}\nO 3");
        prints(Format::Mic2, &text(written), &text(canonical));
    }
}

const MIC1_INPUTS: &str = "\
mic@1
S0 \"x\"
S1 \"i\"
T0 [f32;8,4,6]
T1 [i64;2]
N0 input S0 T0
N1 param S1 T1
";

/// One node per line; `; ` separates the lines of one node.
const MIC1_NODES: &str = include_str!("mic1_nodes.txt");

#[test]
fn every_mic1_kind_survives_with_every_attribute() {
    for node in MIC1_NODES.lines().map(|node| node.replace("; ", "\n")) {
        // The node without a type comes last, because types print in the order of their first use.
        canonical(Format::Mic1, &format!("{MIC1_INPUTS}{node}\nO N2\n"));
        let typed = format!(
            "{}{} T0\nO N2\n",
            MIC1_INPUTS,
            node.trim_end_matches(" T1").trim_end_matches(" T0")
        );
        if !node.contains("[1,-2] T1") {
            canonical(Format::Mic1, &typed);
        }
    }
    let registry = registry();
    let named = registry.ops().filter_map(|def| def.names.mic1);
    for word in named.filter(|&word| word != "input") {
        let seen = MIC1_NODES
            .lines()
            .any(|node| node.split(' ').nth(1) == Some(word));
        assert!(seen, "no node of kind {word}");
    }
}

#[test]
fn mic1_prints_defaults_and_one_word_per_op() {
    for (written, canonical) in [
        ("N2 sum N0", "N2 sum N0 [] kd=0"),
        ("N2 sum N0 kd=true [1]", "N2 sum N0 [1] kd=1"),
        ("N2 mean N0 [ 0 , 1 ] kd=false", "N2 mean N0 [0,1] kd=0"),
        ("N2 sum_all N0", "N2 sum N0 [] kd=0"),
        ("N2 mean_all N0", "N2 mean N0 [] kd=0"),
        ("N2 expand_dims N0 [1]", "N2 expand N0 [1]"),
        ("N2 transpose N0 []", "N2 transpose N0"),
        ("N2 conv2d N0 N0", "N2 conv2d N0 N0 p=valid s=[1,1]"),
        (
            "N2 conv2d N0 N0 s=[2,2] p=same",
            "N2 conv2d N0 N0 p=same s=[2,2]",
        ),
        (
            "N2 conv2d N0 N0 p=[ [1, 1], [0,0] ]",
            "N2 conv2d N0 N0 p=[[1,1],[0,0]] s=[1,1]",
        ),
        ("N2 slice N0 0:4,1:,0:6:3", "N2 slice N0 0:4:1,1::1,0:6:3"),
        ("N2 gather N0 N1", "N2 gather N0 N1 ax=0"),
        ("N2 gather N0 N1 bd=strict", "N2 gather N0 N1 ax=0"),
        ("N2 softmax N0", "N2 softmax N0 ax=-1"),
        ("N2 split N0 n=2 ax=0", "N2 split N0 ax=0 n=2 part=0"),
        ("N2 const.f32 3", "N2 const.f32 3.0"),
        ("N2 const.f64 1e300", "N2 const.f64 1e300"),
        ("N2 const.i64 007", "N2 const.i64 7"),
        ("N2 const.tensor [ 1 , 2 ] T1", "N2 const.tensor [1,2] T1"),
    ] {
        let text = |node| format!("{MIC1_INPUTS}{node}\nO N2\n");
        prints(Format::Mic1, &text(written), &text(canonical));
    }
}

#[test]
fn constants_of_every_dtype_survive() {
    for (dtype, elements) in [
        ("f16", "0.1,65500.0,-0.0"),
        ("bf16", "0.1,3e38,nan"),
        ("f32", "0.1,inf,1e-45"),
        ("f64", "0.1,-inf,5e-324"),
        ("i8", "-128,0,127"),
        ("i16", "-32768,0,32767"),
        ("i32", "-2147483648,0,2147483647"),
        ("i64", "-9223372036854775808,0,9223372036854775807"),
        ("u8", "0,1,255"),
        ("u16", "0,1,65535"),
        ("u32", "0,1,4294967295"),
        ("u64", "0,1,18446744073709551615"),
        ("bool", "true,false,true"),
    ] {
        let text = format!("mic@1\nT0 [{dtype};3]\nN0 const.tensor [{elements}] T0\nO N0\n");
        canonical(Format::Mic1, &text);
        for element in elements.split(',') {
            let text = format!("mic@1\nT0 [{dtype};3]\nN0 const.tensor fill={element} T0\nO N0\n");
            canonical(Format::Mic1, &text);
        }
    }
}

#[test]
fn tables_may_stand_anywhere_and_are_rebuilt_in_the_order_of_use() {
    let text = "\
mic@1
O N20
T9 [f32;4]
N20 param S7 T1
N3 const.tensor [1,2] T5
T5 [u8;2]
N10 param S7 T9
S3 \"unused\"
T1 [f32;4]
S7 \"the name\"
O N10
O N20
";
    let expected = "\
mic@1
S0 \"the name\"
T0 [f32;4]
T1 [u8;2]
N20 param S0 T0
N3 const.tensor [1,2] T1
N10 param S0 T0
O N20
O N10
O N20
";
    prints(Format::Mic1, text, expected);
}

#[test]
fn names_are_quoted_with_escapes_in_place_or_in_the_table() {
    let text = "mic@1\nT0 f32\nN0 input \"a\\\"b\\\\c\\n\\t\\r#\" T0\nO N0\n";
    let expected = "mic@1\nS0 \"a\\\"b\\\\c\\n\\t\\r#\"\nT0 f32\nN0 input S0 T0\nO N0\n";
    prints(Format::Mic1, text, expected);
    let graph = read(Format::Mic1, text);
    assert!(graph.symbols().find("a\"b\\c\n\t\r#").is_some());
}

#[test]
fn rank_zero_has_two_spellings_in_mic1_and_one_in_mic2() {
    let text = "mic@1\nT0 [f32;]\nN0 input \"x\" T0\nO N0\n";
    prints(
        Format::Mic1,
        text,
        "mic@1\nS0 \"x\"\nT0 f32\nN0 input S0 T0\nO N0\n",
    );
    canonical(Format::Mic2, "mic@2\nT0 f32\na x T0\nO 0");
}

#[test]
fn line_ends_blanks_and_a_byte_order_mark_do_not_matter() {
    let text = "\u{feff}# one\r\n\r\n  mic@2\t# two\r\nT0\tf32  4\r\n\ta x T0 \r\nr 0\r\n O 1 # end\r\n\n  # over\n";
    prints(Format::Mic2, text, "mic@2\nT0 f32 4\na x T0\nr 0\nO 1");
    let text = "\u{feff}\n#\n\tmic@1\r\n T0 [ f32 ; 4 , B ]#x\r\nN0\tinput \"x\"  T0\r\n O  N0";
    prints(
        Format::Mic1,
        text,
        "mic@1\nS0 \"x\"\nT0 [f32;4,B]\nN0 input S0 T0\nO N0\n",
    );
}

#[test]
fn mic2_keeps_unused_and_repeated_declarations() {
    canonical(
        Format::Mic2,
        "mic@2\nS B\nS N\nS B\nT0 f32 4\nT1 i8 B\nT2 f32 4\na x T2\np y T0\na z T2\n+ 0 1\nO 3",
    );
}

#[test]
fn mic2_sections_are_put_in_order_without_renumbering() {
    let text = "mic@2\nT0 f32 4\na x T0\nr 0\nS N\nT1 f32 N\np w T1\nS M\n+ 1 2\nO 3\n";
    prints(
        Format::Mic2,
        text,
        "mic@2\nS N\nS M\nT0 f32 4\nT1 f32 N\na x T0\nr 0\np w T1\n+ 1 2\nO 3",
    );
}

#[test]
fn mic1_keeps_its_node_ids_and_new_values_get_higher_ones() {
    let text = "mic@1\nT0 f32\nN7 input \"x\" T0\nN3 relu N7\nO N3\n";
    let graph = read(Format::Mic1, text);
    assert_eq!(graph.label(graph.outputs()[0]), 3);
    let mut graph = graph;
    let body = graph.body();
    let x = graph.outputs()[0];
    let relu = graph.def(graph.defining_op(x).unwrap());
    let at = mind_ir::graph::InsertPoint::Before(graph.terminator(body).unwrap());
    let op = mind_ir::builder::Builder::new(&mut graph, at, mind_diag::Span::FILE).create_typed(
        relu,
        &[x],
        &[],
        &[mind_ir::Ty::new(0)],
    );
    assert_eq!(graph.label(graph.result(op)), 8);
}
