//! A dense layer of six nodes, `relu(x W + b)`, in several formats.

use serde::Deserialize;

/// In mic@1.
pub const MIC1: &str = "\
mic@1
S0 \"input\"
S1 \"weight\"
S2 \"bias\"
T0 [f32;128,784]
T1 [f32;784,256]
T2 [f32;256]
T3 [f32;128,256]
N0 param S0 T0
N1 param S1 T1
N2 param S2 T2
N3 matmul N0 N1 T3
N4 add N3 N2 T3
N5 relu N4 T3
O N5
";

/// In mic@2.
pub const MIC2: &str = "\
mic@2
T0 f32 128 784
T1 f32 784 256
T2 f32 256
a input T0
p weight T1
p bias T2
m 0 1
+ 3 2
r 4
O 5";

/// In compact JSON with the same content.
pub const JSON: &str = concat!(
    r#"{"version":1,"symbols":[{"id":0,"name":"input"},{"id":1,"name":"weight"},"#,
    r#"{"id":2,"name":"bias"}],"types":[{"id":0,"dtype":"f32","shape":[128,784]},"#,
    r#"{"id":1,"dtype":"f32","shape":[784,256]},{"id":2,"dtype":"f32","shape":[256]},"#,
    r#"{"id":3,"dtype":"f32","shape":[128,256]}],"nodes":["#,
    r#"{"id":0,"op":"param","symbol":0,"inputs":[],"type":0},"#,
    r#"{"id":1,"op":"param","symbol":1,"inputs":[],"type":1},"#,
    r#"{"id":2,"op":"param","symbol":2,"inputs":[],"type":2},"#,
    r#"{"id":3,"op":"matmul","inputs":[0,1],"type":3},"#,
    r#"{"id":4,"op":"add","inputs":[3,2],"type":3},"#,
    r#"{"id":5,"op":"relu","inputs":[4],"type":3}],"outputs":[5]}"#
);

/// The JSON format as structs.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "the fields are the keys of the notation")]
pub struct JsonModule {
    pub version: u32,
    pub symbols: Vec<JsonSymbol>,
    pub types: Vec<JsonType>,
    pub nodes: Vec<JsonNode>,
    pub outputs: Vec<u32>,
}

/// A name.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "the fields are the keys of the notation")]
pub struct JsonSymbol {
    pub id: u32,
    pub name: String,
}

/// A type.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "the fields are the keys of the notation")]
pub struct JsonType {
    pub id: u32,
    pub dtype: String,
    pub shape: Vec<u64>,
}

/// A node.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "the fields are the keys of the notation")]
pub struct JsonNode {
    pub id: u32,
    pub op: String,
    pub symbol: Option<u32>,
    pub inputs: Vec<u32>,
    #[serde(rename = "type")]
    pub ty: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use mind_driver::formats::Format;
    use mind_driver::session::Session;
    use mind_text::Limits;

    #[test]
    fn all_notations_hold_the_same_six_nodes() {
        let formats = Session::default().formats;
        let mic1 = formats
            .parse(Format::Mic1, MIC1, 0, &Limits::default())
            .unwrap();
        let mic2 = formats
            .parse(Format::Mic2, MIC2, 0, &Limits::default())
            .unwrap();
        let json: JsonModule = serde_json::from_str(JSON).unwrap();
        assert_eq!(json.nodes.len(), 6);
        assert_eq!((mic1.value_bound(), mic2.value_bound()), (6, 6));
    }
}
