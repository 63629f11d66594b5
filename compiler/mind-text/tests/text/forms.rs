//! Every opcode of mic@2 and every kind of mic@1, with every parameter.

use mind_text::Format;

use crate::{canonical, prints, read, registry};

const MIC2_INPUTS: &str = "mic@2\nS B\nT0 f32 8 4 6\nT1 i64 2\na x T0\na y T0\na i T1\n";

const MIC2_NODES: &[&str] = &[
    "m 0 1",
    "+ 0 1",
    "- 0 1",
    "* 0 1",
    "/ 0 1",
    "r 0",
    "s 0",
    "s 0 0",
    "s 0 -2",
    "sig 0",
    "th 0",
    "gelu 0",
    "ln 0",
    "t 0",
    "t 0 2 0 1",
    "rshp 0",
    "rshp 0 -1",
    "rshp 0 2 B 3",
    "sum 0",
    "sum 0 1",
    "sum 0 0 -1",
    "mean 0",
    "mean 0 1 2",
    "max 0",
    "max 0 -3",
    "cat 0 1",
    "cat 0 1 -1",
    "cat 0 1 0 2",
    "split 0 0 2",
    "split 0 -1 3 2",
    "gth 0 2 0",
    "gth 0 2 -1",
];

#[test]
fn every_mic2_opcode_survives_with_every_parameter() {
    for node in MIC2_NODES {
        canonical(Format::Mic2, &format!("{MIC2_INPUTS}{node}\nO 3"));
    }
    let named = registry()
        .ops()
        .filter_map(|def| def.names.mic2)
        .filter(|&word| word != "a")
        .count();
    let words: std::collections::BTreeSet<&str> = MIC2_NODES
        .iter()
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

const MIC1_NODES: &[&str] = &[
    "N2 const.i64 -42",
    "N2 const.f32 1.5",
    "N2 const.f32 0.1",
    "N2 const.f64 -0.0",
    "N2 const.f64 nan",
    "N2 const.f64 -inf",
    "N2 const.tensor [1,-2] T1",
    "N2 const.tensor fill=0.1 T0",
    "N2 add N0 N0",
    "N2 sub N0 N0",
    "N2 mul N0 N0",
    "N2 div N0 N0",
    "N2 maximum N0 N0",
    "N2 minimum N0 N0",
    "N2 relu N0",
    "N2 neg N0",
    "N2 exp N0",
    "N2 log N0",
    "N2 abs N0",
    "N2 sqrt N0",
    "N2 erf N0",
    "N2 sigmoid N0",
    "N2 tanh N0",
    "N2 gelu N0",
    "N2 sign N0",
    "N2 floor N0",
    "N2 ceil N0",
    "N2 trunc N0",
    "N2 round N0",
    "N2 exp2 N0",
    "N2 expm1 N0",
    "N2 log2 N0",
    "N2 log1p N0",
    "N2 rsqrt N0",
    "N2 sin N0",
    "N2 cos N0",
    "N2 tan N0",
    "N2 sinh N0",
    "N2 cosh N0",
    "N2 asin N0",
    "N2 acos N0",
    "N2 atan N0",
    "N2 asinh N0",
    "N2 acosh N0",
    "N2 atanh N0",
    "N2 pow N0 N0",
    "N2 mod N0 N0",
    "N2 remainder N0 N0",
    "N2 compare N0 N0 d=eq",
    "N2 compare N0 N0 d=ge",
    "N2 select N0 N0 N0",
    "N2 and N0 N0",
    "N2 or N0 N0",
    "N2 xor N0 N0",
    "N2 not N0",
    "N2 shl N0 N0",
    "N2 shr N0 N0",
    "N2 cast N0 t=bf16",
    "N2 cast N0 t=bool",
    "N2 atan2 N0 N0",
    "N2 layernorm N0",
    "N2 softmax N0 ax=-1",
    "N2 sum N0 [] kd=0",
    "N2 sum N0 [0,-1] kd=1",
    "N2 mean N0 [1] kd=0",
    "N2 max N0 [2] kd=1",
    "N2 reshape N0 []",
    "N2 reshape N0 [B,-1,6]",
    "N2 transpose N0",
    "N2 transpose N0 [2,0,1]",
    "N2 expand N0 [0,2]",
    "N2 squeeze N0 [0]",
    "N2 squeeze N0 []",
    "N2 dot N0 N0",
    "N2 matmul N0 N0",
    "N2 conv2d N0 N0 p=valid s=[1,1]",
    "N2 conv2d N0 N0 p=same s=[2,1]",
    "N2 conv2d N0 N0 p=[[1,2],[0,3]] s=[1,1]",
    "N2 conv N0 N0 d=[] g=2 l=nchw p=[1,0,1,0] s=[1,2] t=same",
    "N2 conv_transpose N0 N0 d=[1,2] g=1 l=nhwc op=[] p=[] s=[] t=f32",
    "N2 index N0 [1,2,3]",
    "N2 index N0 []",
    "N2 slice N0",
    "N2 slice N0 0:4:1,1::2,0:6:3",
    "N2 gather N0 N1 ax=0",
    "N2 gather N0 N1 ax=-2",
    "N2 min N0 [0] kd=0",
    "N2 prod N0 [] kd=1",
    "N2 argmax N0 ax=0 kd=0 l=0",
    "N2 argmin N0 ax=-1 kd=1 l=1",
    "N2 reduce_window N0 cp=1 d=[1,1,2,1] hi=[0,0,1,0] k=mean lo=[] s=[1,2,2,1] w=[1,2,3,1]",
    "N2 bitcast N0 t=u16",
    "N2 cumulative N0 ax=-1 e=1 k=max r=0",
    "N2 reverse N0 [0,2]",
    "N2 pad N0 hi=[1,0,0] in=[] lo=[0,0,-2] m=constant",
    "N2 pad N0 hi=[1] in=[] lo=[0] m=edge",
    "N2 broadcast_to N0 [2,8,4,6]",
    "N2 iota [2,B] ax=1 t=u8",
    "N2 dim N0 ax=-1",
    "N2 dynamic_slice N0 N1 N1 N1 bd=clamp n=[1,2,3]",
    "N2 dynamic_update_slice N0 N0 N1 N1 N1 bd=strict",
    "N2 gather_elements N0 N1 ax=0 bd=clamp",
    "N2 gather_nd N0 N1 b=0 bd=strict",
    "N2 scatter_elements N0 N1 N0 ax=0 bd=skip k=add",
    "N2 scatter_nd N0 N1 N0 bd=from_end k=none",
    "N2 sort N0 ax=1 desc=1\nN3 result N2 1",
    "N2 top_k N0 ax=-1 k=2 largest=0\nN7 result N2 1 T1",
    "N2 nonzero N0",
    "N2 unique N0 ax=0 flat=1 sorted=0\nN3 result N2 1\nN4 result N2 2\nN9 result N2 3",
    "N2 non_max_suppression N0 N0 N0 N0 N0 c=1",
    "N2 concat N0 N0 N0 ax=1",
    "N2 split N0 ax=0 n=2 part=1",
];

#[test]
fn every_mic1_kind_survives_with_every_attribute() {
    for node in MIC1_NODES {
        // The types print in the order of their first use, so a node without one comes last.
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
            .iter()
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
