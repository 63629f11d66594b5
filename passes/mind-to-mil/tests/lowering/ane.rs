//! Tests of the report on the neural engine.

use mind_to_mil::ane::{CONSTRAINTS, Verdict, report};

use crate::module::read_mil;

/// Returns a program of statements, each with a `name` attribute.
fn program(statements: &str) -> String {
    let statements = statements.replace(");", ")[name = string(\"own\")];");
    format!(
        "program(1.3)\n[]\n{{ func main<ios18>(tensor<fp16, [2, 4]> x, tensor<fp16, [1, 1, 32, 32]> im) {{\n\
         {statements}\n}} -> (y); }}"
    )
}

/// For each constraint, a statement that violates it.
const CASES: &[(&str, &str)] = &[
    ("op-unsupported", "tensor<fp16, [2, 4]> y = tan(x = x);"),
    (
        "dtype-int32",
        "tensor<int32, [2, 4]> c = cast(dtype = string(\"int32\"), x = x);\n\
         tensor<int32, [2, 4]> y = add(x = c, y = c);",
    ),
    (
        "dtype-fp32",
        "tensor<fp32, [2, 4]> c = cast(dtype = string(\"fp32\"), x = x);\n\
         tensor<fp32, [2, 4]> y = add(x = c, y = c);",
    ),
    (
        "rank",
        "tensor<fp16, [1, 1, 1, 1, 2, 4]> y = reshape(shape = tensor<int32, [6]>([1, 1, 1, 1, 2, 4]), x = x);",
    ),
    (
        "reduce-times-zero",
        "tensor<fp16, [4]> s = reduce_sum(axes = tensor<int32, [1]>([0]), x = x);\n\
         tensor<fp16, [4]> y = mul(x = s, y = fp16(0x0p+0));",
    ),
    (
        "pool-width",
        "tensor<fp16, [1, 1, 24, 24]> y = max_pool(kernel_sizes = tensor<int32, [2]>([9, 9]), \
         pad_type = string(\"valid\"), x = im);",
    ),
    (
        "layout",
        "tensor<fp16, [2, 2]> y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, \
         y = tensor<fp16, [4, 2]>([1, 1, 1, 1, 1, 1, 1, 1]));",
    ),
    (
        "fp16-overflow",
        "tensor<fp16, [2, 2]> y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, \
         y = tensor<fp16, [4, 2]>([40000, 1, 40000, 1, 1, 1, 1, 1]));",
    ),
    (
        "accumulator-range",
        "tensor<fp16, [2, 4]> r = relu6(x = x);\n\
         tensor<fp16, [2, 1]> y = linear(bias = tensor<fp16, [1]>([0]), weight = tensor<fp16, [1, 4]>([2000, \
         -2000, 1000, 1000]), x = r);",
    ),
    ("tiny-epsilon", "tensor<fp16, [2, 4]> y = rsqrt(x = x);"),
    (
        "last-axis-one",
        "tensor<fp16, [2, 1]> y = reduce_sum(axes = tensor<int32, [1]>([1]), keep_dims = bool(true), x = x);",
    ),
    (
        "nan-inf",
        "tensor<fp16, [2, 4]> y = clip(alpha = fp16(0x0p+0), beta = fp16(inf), x = x);",
    ),
    ("log-epsilon", "tensor<fp16, [2, 4]> y = log(x = x);"),
    ("gelu-mode", "tensor<fp16, [2, 4]> y = gelu(x = x);"),
    (
        "unreported",
        "tensor<fp16, [2, 4]> y = threshold(alpha = fp16(0x0p+0), x = x);",
    ),
    ("chip-floor", "tensor<fp16, [2, 4]> y = sin(x = x);"),
    (
        "reports-disagree",
        "tensor<fp16, [2, 4]> y = cast(dtype = string(\"fp16\"), x = x);",
    ),
];

#[test]
fn each_row_decides_where_it_should() {
    for (reason, statement) in CASES {
        let text = program(statement);
        let g = read_mil(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
        let report = report(&g);
        let last = report.findings.last().expect("an op");
        let found = last.row.as_ref().map(|(row, _)| row.reason);
        assert_eq!(found, Some(*reason), "{statement}");
        assert_ne!(last.verdict, Verdict::Yes);
    }
}

#[test]
fn the_width_of_kernels_counts() {
    let decides = |height: usize, width: usize| {
        let ones = vec!["1"; height * width].join(", ");
        let text = program(&format!(
            "tensor<fp16, [1, 1, {}, {}]> y = conv(weight = tensor<fp16, [1, 1, {height}, {width}]>([{ones}]), x = im);",
            33 - height,
            33 - width
        ));
        let g = read_mil(&text).unwrap_or_else(|why| panic!("{why}"));
        let report = report(&g);
        let finding = &report.findings[0];
        (
            finding.verdict,
            finding.row.as_ref().map(|(row, _)| row.reason),
        )
    };
    assert_eq!(decides(3, 16), (Verdict::No, Some("kernel-width")));
    assert_eq!(decides(3, 14), (Verdict::Risk, Some("kernel-width")));
    assert_eq!(decides(31, 1), (Verdict::Yes, None));
    assert_eq!(decides(13, 13), (Verdict::Yes, None));
}

#[test]
fn few_ops_between_others_are_an_island() {
    let text = program(
        "tensor<fp16, [2, 4]> a = relu(x = x);\ntensor<fp16, [2, 4]> b = tan(x = a);\n\
         tensor<fp16, [2, 4]> y = relu(x = b);",
    );
    let found = report(&read_mil(&text).expect("a program"));
    let reasons: Vec<Option<&str>> = found
        .findings
        .iter()
        .map(|finding| finding.row.as_ref().map(|(row, _)| row.reason))
        .collect();
    let island = Some("small-island");
    assert_eq!(reasons, [island, Some("op-unsupported"), island]);
}

#[test]
fn rows_say_what_to_do_and_where_they_come_from() {
    for row in CONSTRAINTS {
        assert!(
            !row.rewrite.is_empty() && !row.source.is_empty(),
            "{}",
            row.reason
        );
    }
}

#[test]
fn eligible_ops_need_no_row() {
    let text = program("tensor<fp16, [2, 4]> y = relu(x = x);");
    let report = report(&read_mil(&text).expect("a program"));
    assert_eq!(report.findings[0].verdict, Verdict::Yes);
    assert!(report.text().ends_with(
        "1 ops: 1 yes, 0 unknown, 0 risk, 0 no; islands: 1, transfers: 0; placement not verified off-device\n"
    ));
    assert!(report.json().contains("\"eligible\": \"yes\""));
}
