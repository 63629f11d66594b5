//! Integers of every width, imported and compared with MIL's own evaluation.

use mind_interp::{Arrays, Extents, RunConfig, bind, run};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;

use crate::module::{imported, read};

/// Integers of both signs: small ones, ones on both sides of 2^24, and the extremes.
const NUMBERS: [i32; 9] = [
    0,
    1,
    -1,
    -7,
    16_777_217,
    -33_554_435,
    i32::MIN + 1,
    i32::MIN,
    i32::MAX,
];

fn ran(g: &Graph, x: i32, y: i32) -> Result<Vec<i32>, String> {
    let scalar = |name: &str, number: i32| (name.to_owned(), Tensor::of(vec![1], vec![number]));
    let arrays: Arrays = [scalar("x", x), scalar("y", y)].into_iter().collect();
    let bound = bind(g, &arrays, Extents::default()).unwrap_or_else(|errors| panic!("{errors:?}"));
    let results = run(g, &bound, &RunConfig::default());
    let results = results.map_err(|error| format!("{:?}", error.error.code()))?;
    Ok(results[0].elements::<i32>().to_vec())
}

#[test]
fn imported_integers_compute_what_mil_does() {
    for call in [
        "floor_div(x = x, y = y)",
        "mod(x = x, y = y)",
        "real_div(x = x, y = y)",
        "maximum(x = x, y = y)",
        "minimum(x = x, y = y)",
        "add(x = x, y = y)",
        "sub(x = x, y = y)",
        "mul(x = x, y = y)",
        "pow(x = x, y = int32(2))",
        "abs(x = x)",
        "square(x = x)",
    ] {
        let g = read(&format!(
            "program(1.3)\n[]\n{{ func main<ios18>(tensor<int32, [1]> x, tensor<int32, [1]> y) {{\n\
             tensor<int32, [1]> o = mul(x = y, y = int32(0));\ntensor<int32, [1]> u = {call};\n\
             tensor<int32, [1]> z = add(x = u, y = o);\n}} -> (z); }}"
        ));
        let own = imported(&g).unwrap_or_else(|why| panic!("{call}: {why:?}"));
        for x in NUMBERS {
            for y in NUMBERS {
                assert_eq!(ran(&own, x, y), ran(&g, x, y), "{call} of {x} and {y}");
            }
        }
    }
}
