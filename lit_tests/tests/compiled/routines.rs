//! What has no kernel, written as C and as object files: the bits of the interpreter, and the status of what goes wrong.

use mind_driver::engine::c_text;
use mind_interp::{Extents, random_inputs, special_inputs};
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_jit::program::emit_c;

use super::{Bench, Folder, check_as_c, object, run_as_c};

/// Compares a module as C, and as object files, with what it means, on random numbers, and on zeros of both signs, NaNs and elements that are
/// equal.
fn check(bench: &Bench, text: &str, folder: &Folder) {
    let g = bench
        .read(text)
        .unwrap_or_else(|| panic!("not valid: {text}"));
    for (seed, draw) in [random_inputs, special_inputs].into_iter().enumerate() {
        let arrays = draw(&g, seed as u64, Extents::default()).expect("small arrays");
        check_as_c(bench, &g, &arrays, &folder.0).unwrap_or_else(|why| panic!("{why}\n{text}"));
        let checked = object::check(bench, &g, &arrays, &folder.0);
        assert_eq!(checked, Ok(true), "{text}");
    }
}

/// Returns a module that declares `inputs` and applies each of `ops` to them.
fn module(inputs: &[String], ops: &[String]) -> String {
    let lines = inputs.iter().chain(ops).enumerate();
    let mut text: String = lines
        .map(|(at, line)| format!("%{at} = {line}\n"))
        .collect();
    let outputs = (inputs.len()..inputs.len() + ops.len()).map(|at| format!("%{at}"));
    text += &format!("outputs: {}", outputs.collect::<Vec<_>>().join(", "));
    text
}

fn input(name: &str, dtype: DType, shape: &[usize]) -> String {
    format!("Input {{name={name}}} : tensor<{dtype}{shape:?}>")
}

#[test]
fn sorts() {
    let (bench, folder) = (Bench::new(), Folder::new("sorts-as-c"));
    for dtype in DType::ALL {
        let text = format!(
            "%0 = Input {{name=x}} : tensor<{dtype}[3, 67, 2]>\n%1, %2 = Sort (%0) {{axis=1, descending=true}}\n\
             %3, %4 = Sort (%0)\n%5, %6 = TopK (%0) {{axis=1, k=5}}\n%7, %8 = TopK (%0) {{axis=0, k=0, largest=false}}\n\
             %9 = Input {{name=y}} : tensor<{dtype}[0, 4]>\n%10, %11 = Sort (%9)\n\
             outputs: %1, %2, %3, %4, %5, %6, %7, %8, %10, %11"
        );
        check(&bench, &text, &folder);
    }
}

#[test]
fn few_of_many_are_sorted() {
    let (bench, folder) = (Bench::new(), Folder::new("few-as-c"));
    for dtype in [DType::F32, DType::F16, DType::I64, DType::Bool] {
        // Rows that ascend, in which each element comes before all others or after them, and rows that do not.
        let text = format!(
            "%0 = Input {{name=x}} : tensor<{dtype}[2, 700, 3]>\n%1, %2 = TopK (%0) {{axis=1, k=3}}\n\
             %3, %4 = TopK (%0) {{axis=1, k=1, largest=false}}\n%5, %6 = TopK (%0) {{axis=1, k=143}}\n\
             %7, %8 = Sort (%0) {{axis=1}}\n%9, %10 = TopK (%7) {{axis=1, k=40}}\n\
             %11, %12 = TopK (%7) {{axis=1, k=40, largest=false}}\n\
             outputs: %1, %2, %3, %4, %5, %6, %9, %10, %11, %12"
        );
        check(&bench, &text, &folder);
    }
}

#[test]
fn rows_are_sorted_by_several_threads() {
    let bench = Bench::new();
    for dtype in [DType::F32, DType::BF16, DType::I64, DType::Bool] {
        let text = format!(
            "%0 = Input {{name=x}} : tensor<{dtype}[7, 700]>\n%1, %2 = TopK (%0) {{k=3}}\n\
             %3, %4 = Sort (%0) {{descending=true}}\n%5, %6 = TopK (%0) {{axis=0, k=2, largest=false}}\n\
             outputs: %1, %2, %3, %4, %5, %6"
        );
        let g = bench.read(&text).expect("a valid module");
        for (seed, draw) in [random_inputs, special_inputs].into_iter().enumerate() {
            let arrays = draw(&g, seed as u64, Extents::default()).expect("small arrays");
            bench
                .check(&g, &arrays)
                .unwrap_or_else(|why| panic!("{why}\n{text}"));
        }
    }
}

#[test]
fn scatters() {
    let (bench, folder) = (Bench::new(), Folder::new("scatters-as-c"));
    for &dtype in DType::ALL {
        // Indices from -2 to 2, more of them than places.
        let mut inputs = vec![
            input("x", dtype, &[3, 4]),
            input("u", dtype, &[2, 7]),
            input("s", dtype, &[5, 4]),
            input("p", dtype, &[2, 7]),
            input("i", DType::I64, &[2, 7]),
            input("j", DType::I32, &[5, 1]),
            "ConstTensor {data=[3], dtype=i64, shape=[1]}".to_owned(),
            "ConstTensor {data=[3], dtype=i32, shape=[1]}".to_owned(),
            "Remainder (%4, %6)".to_owned(),
            "Remainder (%5, %7)".to_owned(),
            "ConstTensor {data=[[[0, 1], [2, 3], [2, 3], [-1, 0], [9, 9], [2, 3], [0, 4]], \
             [[1, 1], [1, -1], [1, 1], [0, 0], [1, 1], [2, 0], [3, 0]]], dtype=i32, shape=[2, 7, 2]}"
                .to_owned(),
            input("empty", dtype, &[3, 0]),
            input("none", dtype, &[5, 0]),
        ];
        inputs.push("ConstTensor {data=[9, 9, 9, 9, 9], dtype=i32, shape=[5, 1]}".to_owned());
        let kinds: &[&str] = match dtype {
            DType::Bool => &["none"],
            _ => &["none", "add", "mul", "min", "max"],
        };
        let mut ops = Vec::new();
        for kind in kinds {
            ops.extend([
                format!("ScatterElements (%0, %8, %1) {{axis=1, kind={kind}, bounds=from_end}}"),
                format!("ScatterElements (%0, %8, %3) {{axis=-1, kind={kind}, bounds=clamp}}"),
                format!("ScatterElements (%0, %8, %1) {{axis=1, kind={kind}, bounds=skip}}"),
                format!("ScatterNd (%0, %9, %2) {{kind={kind}, bounds=from_end}}"),
                format!("ScatterNd (%0, %10, %1) {{kind={kind}, bounds=skip}}"),
                format!("ScatterNd (%0, %10, %3) {{kind={kind}, bounds=clamp}}"),
            ]);
        }
        // Indices of slices without elements may be any.
        ops.push("ScatterNd (%11, %13, %12)".to_owned());
        check(&bench, &module(&inputs, &ops), &folder);
    }
}

#[test]
fn samples_of_images() {
    let (bench, folder) = (Bench::new(), Folder::new("samples-as-c"));
    let dtypes = [DType::F16, DType::BF16, DType::F32, DType::F64];
    for (at, dtype) in dtypes.into_iter().enumerate() {
        let grid = dtypes[(at + 1) % dtypes.len()];
        let inputs = [
            input("rows", dtype, &[2, 4, 3, 2]),
            input("places", dtype, &[2, 3, 5, 2]),
            input("line", dtype, &[1, 2, 5]),
            input("points", grid, &[1, 9, 1]),
            input("cube", dtype, &[2, 2, 3, 1, 4]),
            input("spots", grid, &[2, 2, 1, 3, 3]),
        ];
        let operands = ["%0, %1", "%2, %3", "%4, %5"];
        let mut ops = Vec::new();
        for mode in ["nearest", "linear", "cubic"] {
            for coordinates in ["half_pixel", "align_corners", "pixel"] {
                for padding in ["constant, fill=0.3", "border", "reflect", "symmetric"] {
                    // Another of the images for each dtype.
                    let image = (ops.len() + at) % operands.len();
                    let layout = if image == 0 { "nhwc" } else { "nchw" };
                    ops.push(format!(
                        "GridSample ({}) {{layout={layout}, mode={mode}, coordinates={coordinates}, padding={padding}}}",
                        operands[image]
                    ));
                }
            }
        }
        check(&bench, &module(&inputs, &ops), &folder);
    }
}

#[test]
fn largest_places_under_large_windows() {
    let (bench, folder) = (Bench::new(), Folder::new("places-as-c"));
    for &dtype in DType::ALL.iter().filter(|dtype| **dtype != DType::Bool) {
        let inputs = [
            input("x", dtype, &[12, 11]),
            input("y", dtype, &[2, 90, 3]),
            input("none", dtype, &[0, 3]),
        ];
        let op = |operand: &str, attrs: &str| format!("ArgMaxWindow ({operand}) {{{attrs}}}");
        let ops = [
            op("%0", "window=[9, 9]"),
            op(
                "%0",
                "window=[5, 13], strides=[3, 2], low=[4, 30], high=[4, 7]",
            ),
            op(
                "%0",
                "window=[67, 1], dilations=[3, 1], low=[150, 0], high=[90, 0]",
            ),
            op(
                "%1",
                "window=[2, 70, 1], strides=[1, 7, 1], dilations=[1, 1, 5]",
            ),
            op("%2", "window=[70, 1], low=[70, 0]"),
        ];
        check(&bench, &module(&inputs, &ops), &folder);
    }
}

/// Returns the status that the C of a module ends with, as its object files do, or `None` if they end well.
fn status(bench: &Bench, text: &str, given: &[(&str, Tensor)], folder: &Folder) -> Option<String> {
    let g = bench
        .read(text)
        .unwrap_or_else(|| panic!("not valid: {text}"));
    let mut arrays = random_inputs(&g, 1, Extents::default()).expect("small arrays");
    for (name, tensor) in given {
        arrays.insert((*name).to_owned(), tensor.clone());
    }
    let found = run_as_c(bench, &g, &arrays, &folder.0).err();
    let in_objects = object::run_as_objects(bench, &g, &arrays, &folder.0).err();
    assert_eq!(in_objects, found, "{text}");
    check_as_c(bench, &g, &arrays, &folder.0).unwrap_or_else(|why| panic!("{why}\n{text}"));
    found
}

#[test]
fn an_index_out_of_bounds_is_a_status() {
    let (bench, folder) = (Bench::new(), Folder::new("indices-as-c"));
    let elements = |bounds: &str| {
        let inputs = [
            input("x", DType::F32, &[3]),
            input("i", DType::I64, &[2]),
            input("u", DType::F32, &[2]),
        ];
        let op = format!("ScatterElements (%0, %1, %2) {{bounds={bounds}}}");
        module(&inputs, &[op])
    };
    let bad = Some("status exit status: 4".to_owned());
    for (bounds, indices, expected) in [
        ("strict", [0, 2], None),
        ("strict", [0, 3], bad.clone()),
        ("strict", [-1, 0], bad.clone()),
        ("from_end", [-3, 2], None),
        ("from_end", [0, -4], bad.clone()),
        ("from_end", [i64::MIN, 0], bad.clone()),
        ("from_end", [3, 0], bad.clone()),
        ("clamp", [i64::MIN, i64::MAX], None),
        ("skip", [i64::MIN, i64::MAX], None),
    ] {
        let given = [("i", Tensor::of(vec![2], indices.to_vec()))];
        let found = status(&bench, &elements(bounds), &given, &folder);
        assert_eq!(found, expected, "{bounds} {indices:?}");
    }
    // There is no place to move an index to.
    let empty = "%0 = Input {name=x} : tensor<f32[0]>\n%1 = Input {name=i} : tensor<i64[2]>\n\
                 %2 = Input {name=u} : tensor<f32[2]>\n%3 = ScatterElements (%0, %1, %2) {bounds=clamp}\noutputs: %3";
    let given = [("i", Tensor::of(vec![2], vec![0i64, 0]))];
    assert_eq!(status(&bench, empty, &given, &folder), bad);
}

#[test]
fn extents_of_a_run_are_checked() {
    let (bench, folder) = (Bench::new(), Folder::new("extents-as-c"));
    let other = Some("status exit status: 32".to_owned());
    for &dtype in DType::ALL {
        let inputs = [
            input("x", dtype, &[3, 4]),
            input("y", dtype, &[3, 1]),
            input("e", DType::I64, &[2]),
            input("f", DType::I32, &[3]),
        ];
        let ops = [
            "DynamicReshape (%0, %2) {shape=[2, 6]}".to_owned(),
            "DynamicBroadcastTo (%1, %3) {shape=[2, 3, 5]}".to_owned(),
            format!("DynamicIota (%3) {{dtype={dtype}, shape=[2, 3, 5], axis=-1}}"),
            format!("DynamicIota (%2) {{dtype={dtype}, shape=[2, 6]}}"),
        ];
        let text = module(&inputs, &ops);
        let mut given = [
            ("e", Tensor::of(vec![2], vec![2i64, 6])),
            ("f", Tensor::of(vec![3], vec![2i32, 3, 5])),
        ];
        assert_eq!(status(&bench, &text, &given, &folder), None);
        if dtype == DType::F32 {
            given[1].1 = Tensor::of(vec![3], vec![2i32, 3, -5]);
            assert_eq!(status(&bench, &text, &given, &folder), other);
        }
    }
    let inputs = [input("x", DType::F32, &[7]), input("e", DType::I64, &[2])];
    let text = module(
        &inputs,
        &["DynamicReshape (%0, %1) {shape=[2, 3]}".to_owned()],
    );
    let given = [("e", Tensor::of(vec![2], vec![2i64, 3]))];
    assert_eq!(status(&bench, &text, &given, &folder), other);
}

#[test]
fn the_comment_says_what_a_run_may_return() {
    let bench = Bench::new();
    let text = |inner: &str| {
        let text = format!(
            "%0 = Input {{name=x}} : tensor<f32[6]>\n%1 = Input {{name=e}} : tensor<i64[1]>\n{inner}"
        );
        let g = bench
            .read(&text)
            .unwrap_or_else(|| panic!("not valid: {text}"));
        c_text(&bench.session, g, "f", false).expect("it has C")
    };
    let says = " * Or with 32: an array of extents holds others than the result's.\n";
    assert!(!text("%2 = Neg (%0)\noutputs: %2").contains(says));
    let op = "DynamicReshape";
    assert!(text(&format!("%2 = {op} (%0, %1) {{shape=[6]}}\noutputs: %2")).contains(says));
    let inside = format!(
        "%2 = Input {{name=p}} : tensor<bool[]>\n%3 = If (%2, %0, %1) {{\n  args: %4, %5\n\
         \x20 %6 = {op} (%4, %5) {{shape=[6]}}\n  yield: %6\n}} {{\n  args: %7, %8\n  yield: %7\n}}\noutputs: %3"
    );
    assert!(text(&inside).contains(says));
}

#[test]
fn what_has_no_elements_compiles_without_warnings() {
    let (bench, folder) = (Bench::new(), Folder::new("empty-as-c"));
    let none = |shape: &[usize]| input("none", DType::F32, shape);
    let list = input("list", DType::I64, &[0, 1]);
    for (inputs, op) in [
        (vec![none(&[0])], "Sort (%0)"),
        (
            vec![none(&[3, 0]), list.clone(), none(&[0, 0])],
            "ScatterNd (%0, %1, %2)",
        ),
        (
            vec![none(&[3, 2]), list, input("u", DType::F32, &[0, 2])],
            "ScatterNd (%0, %1, %2)",
        ),
        (
            vec![none(&[0, 4, 2]), input("grid", DType::F32, &[0, 3, 1])],
            "GridSample (%0, %1)",
        ),
        (
            vec![none(&[2, 4, 0]), input("grid", DType::F32, &[2, 3, 1])],
            "GridSample (%0, %1)",
        ),
        (vec![none(&[0, 3])], "ArgMaxWindow (%0) {window=[1, 1]}"),
        (vec![none(&[0, 80])], "ArgMaxWindow (%0) {window=[1, 70]}"),
        (vec![none(&[69])], "ArgMaxWindow (%0) {window=[70]}"),
    ] {
        let results = if op.starts_with("Sort") { 2 } else { 1 };
        for result in 0..results {
            let mut text = String::new();
            for (at, line) in inputs.iter().enumerate() {
                text += &format!("%{at} = {}\n", line.replace("none", &format!("none{at}")));
            }
            let first = inputs.len();
            let names = (first..first + results).map(|at| format!("%{at}"));
            let names = names.collect::<Vec<_>>().join(", ");
            text += &format!("{names} = {op}\noutputs: %{}", first + result);
            check(&bench, &text, &folder);
        }
    }
}

#[test]
fn a_body_of_another_order_has_no_c() {
    let bench = Bench::new();
    let text = |yields: &str| {
        format!(
            "%0 = Input {{name=x}} : tensor<i64[3]>\n%1, %2 = loops.evaluate (%0) {{at=[-1, -1]}} {{\n  args: %3\n\
             \x20 %4, %5 = Sort (%3)\n  yield: {yields}\n}}\noutputs: %1, %2"
        )
    };
    let written = |yields: &str| {
        let g = bench.read(&text(yields)).expect("a valid module");
        emit_c(&g, "f", false).map_err(|why| why.to_string())
    };
    assert!(written("%4, %5").is_ok());
    let why = written("%5, %4").expect_err("its results change places");
    assert!(
        why.starts_with("`core.sort` cannot be written as C"),
        "{why}"
    );
}
