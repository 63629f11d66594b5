//! The examples in the documents of the formats.

use crate::{Format, canonical, print, prints, read, verified, verify_errors};

const RESIDUAL: &str = "\
mic@2
T0 f16 128 128
T1 f16 128
a X T0
p W T0
p b T1
m 0 1
+ 3 2
r 4
+ 5 0
O 6";

const NETWORK: &str = "\
mic@1
# Types
T0 [f32;B,784]         # Input: batch x 784
T1 [f32;784,256]       # Weight 1
T2 [f32;B,256]         # Hidden layer
T3 [f32;256,10]        # Weight 2
T4 [f32;B,10]          # Output

# Nodes
N0 param S0 T0         # Input
N1 param S1 T1         # W1
N2 matmul N0 N1 T2     # x @ W1
N3 relu N2 T2          # ReLU activation
N4 param S2 T3         # W2
N5 matmul N3 N4 T4     # hidden @ W2
O N5                   # Output
";

#[test]
fn the_residual_block_is_canonical_mic2() {
    canonical(Format::Mic2, RESIDUAL);
    let graph = verified(Format::Mic2, RESIDUAL);
    assert_eq!(graph.type_text(graph.outputs()[0]), "f16[128, 128]");
    assert_eq!(graph.label(graph.outputs()[0]), 6);
}

#[test]
fn the_example_of_symbolic_dimensions() {
    let text = "\
mic@2
S B
S seq
S hidden
T0 f32 B seq hidden
a X T0
O 0";
    canonical(Format::Mic2, text);
    verified(Format::Mic2, text);
}

#[test]
fn the_type_syntax_of_mic2_with_its_comments() {
    let text = "\
mic@2
S B # Batch
S seq
# Type definition: T<idx> <dtype> <dim0> <dim1>...
T0 f16 128 128     # 128x128 float16 matrix
T1 f32 B seq 768   # Batch x sequence x 768
T2 i64 ?           # Dynamic-shape int64
a x T1
O 0";
    let expected = "\
mic@2
S B
S seq
T0 f16 128 128
T1 f32 B seq 768
T2 i64 ?
a x T1
O 0";
    prints(Format::Mic2, text, expected);
}

#[test]
fn the_line_types_of_mic2() {
    let text = "mic@2\nS N\nT0 f16 128 128\na X T0\np W T0\nm 0 1\n# Layer 1\nO 2";
    prints(
        Format::Mic2,
        text,
        "mic@2\nS N\nT0 f16 128 128\na X T0\np W T0\nm 0 1\nO 2",
    );
}

#[test]
fn the_network_of_mic1() {
    let expected = "\
mic@1
S0 \"S0\"
S1 \"S1\"
S2 \"S2\"
T0 [f32;B,784]
T1 [f32;784,256]
T2 [f32;B,256]
T3 [f32;256,10]
T4 [f32;B,10]
N0 param S0 T0
N1 param S1 T1
N2 matmul N0 N1 T2
N3 relu N2 T2
N4 param S2 T3
N5 matmul N3 N4 T4
O N5
";
    prints(Format::Mic1, NETWORK, expected);
    let graph = verified(Format::Mic1, NETWORK);
    assert_eq!(graph.type_text(graph.outputs()[0]), "f32[B, 10]");
}

#[test]
fn the_overview_of_mic1_round_trips_and_fails_verification() {
    let text = "\
mic@1                    # Version header
S0 \"input\"               # Symbol table
T0 f32                   # Type table (scalar)
T1 [f32;3,4]             # Tensor type (3x4 matrix)
N1 const.i64 42 T0       # Node definitions
N2 add N1 N1 T0          # Binary operation
O N2                     # Output marker
";
    prints(
        Format::Mic1,
        text,
        "mic@1\nT0 f32\nN1 const.i64 42 T0\nN2 add N1 N1 T0\nO N2\n",
    );
    let found = verify_errors(Format::Mic1, text);
    assert_eq!(
        found,
        ["5:1 E2001 declared type f32[] differs from the inferred type i64[]"]
    );
}

#[test]
fn the_types_of_mic1() {
    let text = "\
mic@1
# Scalar types
T0 f32
T1 i64
T2 bool

# Tensor types: [dtype;dim1,dim2,...]
T3 [f32;3,4]           # 3x4 matrix
T4 [f32;B,128]         # Batch x 128 (symbolic B)
T5 [f32;?,?]           # Dynamic shape
N0 input \"a\" T0
N1 input \"b\" T1
N2 input \"c\" T2
N3 input \"d\" T3
N4 input \"e\" T4
N5 input \"f\" T5
O N0
";
    let graph = read(Format::Mic1, text);
    let types: Vec<String> = graph
        .ops(graph.body())
        .flat_map(|op| graph.results(op).into_iter().next())
        .map(|value| {
            graph
                .types()
                .get(graph.declared(value).unwrap())
                .text(graph.symbols())
        })
        .collect();
    assert_eq!(
        types,
        [
            "f32[]",
            "i64[]",
            "bool[]",
            "f32[3, 4]",
            "f32[B, 128]",
            "f32[?, ?]"
        ]
    );
    assert!(print(Format::Mic1, &graph).contains("T4 [f32;B,128]\nT5 [f32;?,?]\n"));
}
