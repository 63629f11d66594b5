//! Ops without an evaluation of their own, compared with numbers computed by hand.

use mind_interp::{Arrays, Extents, RunConfig, bind, run};
use mind_ir::tensor::Tensor;
use mind_mil::call::floats;

use crate::module::{imported, read, text};

/// Returns the results of an imported program of `opset`; `x` holds 0, 1, 2 and so on, other inputs are given.
#[track_caller]
fn computed(
    opset: &str,
    [params, statements, outputs]: [&str; 3],
    given: &[(&str, Tensor)],
) -> Vec<Vec<f64>> {
    let source = format!(
        "program(1.3)\n[]\n{{ func main<{opset}>({params}) {{\n{statements}\n}} -> ({outputs}); }}"
    );
    let g = imported(&read(&source)).unwrap_or_else(|why| panic!("{why:?}"));
    let arrays: Arrays = given
        .iter()
        .map(|(name, tensor)| ((*name).to_owned(), tensor.clone()))
        .collect();
    let bound = bind(&g, &arrays, Extents::default()).unwrap_or_else(|why| panic!("{why:?}"));
    let results = run(&g, &bound, &RunConfig::default());
    let results = results.unwrap_or_else(|why| panic!("{why:?}\n{}", text(&g)));
    results.iter().map(floats).collect()
}

fn counted(shape: &[usize]) -> Tensor {
    let count = shape.iter().product();
    Tensor::of(shape.to_vec(), (0..count).map(|at| at as f32).collect())
}

#[track_caller]
fn near(found: &[f64], expected: &[f64]) {
    let mut pairs = found.iter().zip(expected);
    let is_near = found.len() == expected.len() && pairs.all(|(a, b)| (a - b).abs() < 1e-5);
    assert!(is_near, "{found:?} is not {expected:?}");
}

/// Returns `affine` of a 3 by 3 image to the same size, with a data-dependent matrix.
fn affine(matrix: [f32; 6], corners: bool, mode: &str) -> Vec<f64> {
    let statements = format!(
        "tensor<fp32, [1, 1, 3, 3]> y = affine(align_corners = bool({corners}), \
         coordinates_mode = string(\"{mode}\"), output_height = int32(3), output_width = int32(3), \
         padding_mode = string(\"constant\"), padding_value = fp32(-0x1p+0), sampling_mode = string(\"bilinear\"), \
         transform_matrix = m, x = x);"
    );
    let params = "tensor<fp32, [1, 1, 3, 3]> x, tensor<fp32, [1, 6]> m";
    let given = [
        ("x", counted(&[1, 1, 3, 3])),
        ("m", Tensor::of(vec![1, 6], matrix.to_vec())),
    ];
    computed("ios18", [params, &statements, "y"], &given).remove(0)
}

#[test]
fn a_matrix_maps_the_coordinates_of_an_image() {
    let (identity, mirror) = (
        [1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        [-1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
    );
    let image: Vec<f64> = (0..9).map(f64::from).collect();
    let mirrored = [2.0, 1.0, 0.0, 5.0, 4.0, 3.0, 8.0, 7.0, 6.0];
    for corners in [false, true] {
        for mode in [
            "normalized_minus_one_to_one",
            "normalized_zero_to_one",
            "unnormalized",
        ] {
            near(&affine(identity, corners, mode), &image);
        }
        let found = affine(mirror, corners, "normalized_minus_one_to_one");
        near(&found, &mirrored);
    }
    // One column to the right, which reads outside of the last one.
    let found = affine([1.0, 0.0, 1.0, 0.0, 1.0, 0.0], true, "unnormalized");
    assert_eq!(found, [1.0, 2.0, -1.0, 4.0, 5.0, -1.0, 7.0, 8.0, -1.0]);
}

/// Returns `crop_resize` of a 4 by 4 image to `[rows, columns]`.
fn cropped(boxes: &str, size: [usize; 2], more: &str) -> Vec<f64> {
    let [rows, columns] = size;
    let statements = format!(
        "tensor<fp32, [1, 1, {rows}, {columns}]> y = crop_resize(boxes = tensor<fp32, [1, 4]>({boxes}), \
         target_height = int32({rows}), target_width = int32({columns}), {more}, x = x);"
    );
    let given = [("x", counted(&[1, 1, 4, 4]))];
    computed(
        "ios18",
        ["tensor<fp32, [1, 1, 4, 4]> x", &statements, "y"],
        &given,
    )
    .remove(0)
}

#[test]
fn regions_are_sampled_from_end_to_end() {
    let corners = "sampling_mode = string(\"ALIGN_CORNERS\")";
    let whole: Vec<f64> = (0..16).map(f64::from).collect();
    let normalized = format!("normalized_coordinates = bool(true), {corners}");
    assert_eq!(cropped("[[0, 0, 1, 1]]", [4, 4], &normalized), whole);
    assert_eq!(cropped("[[0, 0, 3, 3]]", [4, 4], corners), whole);
    // The middle, with height first, with width first, and as a centre with extents.
    let middle = [4.0, 5.0, 8.0, 9.0];
    assert_eq!(cropped("[[1, 0, 2, 1]]", [2, 2], corners), middle);
    let wide = format!("box_coordinate_mode = string(\"CORNERS_WIDTH_FIRST\"), {corners}");
    assert_eq!(cropped("[[0, 1, 1, 2]]", [2, 2], &wide), middle);
    let centred = format!("box_coordinate_mode = string(\"CENTER_SIZE_HEIGHT_FIRST\"), {corners}");
    assert_eq!(cropped("[[1.5, 0.5, 1, 1]]", [2, 2], &centred), middle);
    // A single sample is in the middle, and positions outside have the padding value.
    assert_eq!(cropped("[[0, 0, 3, 3]]", [1, 1], corners), [7.5]);
    let padded = format!("pad_value = fp32(0x1p+3), {corners}");
    assert_eq!(cropped("[[0, 3, 0, 4]]", [1, 2], &padded), [3.0, 8.0]);
    // The same samples as `resize_bilinear` of the box.
    let halves = "sampling_mode = string(\"UNALIGN_CORNERS\")";
    assert_eq!(
        cropped("[[0, 0, 3, 3]]", [2, 2], halves),
        [2.5, 4.5, 10.5, 12.5]
    );
}

#[test]
fn boxes_that_overlap_a_better_one_are_left_out() {
    let boxes = Tensor::of(
        vec![1, 4, 4],
        vec![
            0.5f32, 0.5, 1.0, 1.0, // the best but one
            0.5, 0.6, 1.0, 1.0, // the best
            3.5, 3.5, 1.0, 1.0, // apart
            9.5, 9.5, 1.0, 1.0, // below the threshold
        ],
    );
    let scores = Tensor::of(vec![1, 4, 1], vec![0.75f32, 0.875, 0.25, 0.125]);
    let statements = "tensor<fp32, [1, 3, 4]> y, tensor<fp32, [1, 3, 1]> s, tensor<int32, [1, 3]> n, \
                      tensor<int32, [1]> c = non_maximum_suppression(boxes = x, iou_threshold = fp32(0x1p-1), \
                      max_boxes = int32(3), per_class_suppression = bool(false), score_threshold = fp32(0x1p-2), \
                      scores = p);";
    let params = "tensor<fp32, [1, 4, 4]> x, tensor<fp32, [1, 4, 1]> p";
    let given = [("x", boxes), ("p", scores)];
    let found = computed("ios15", [params, statements, "y, s, n, c"], &given);
    assert_eq!(found[2], [1.0, 2.0, -1.0]);
    assert_eq!(found[1], [0.875, 0.25, -1.0]);
    assert_eq!(found[0][4..], [3.5, 3.5, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0]);
    assert_eq!(found[3], [2.0]);
}
