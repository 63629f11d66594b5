//! Rejected inputs: exit code 1, an error message and no output.

use mind_ir::tensor::Tensor;
use serde_json::Value;

use crate::memory_host::{MemoryHost, RunTool};

const MODULE: &str = "\
%0 = Input {name=x} : tensor<f32[B, 4]>
%1 = Input {name=w, role=param} : tensor<f32[4]>
%2 = Input {name=y} : tensor<f32[B]>
%3 = Add (%0, %1)
outputs: %3, %2
";

fn zeros(shape: &[usize]) -> Tensor {
    Tensor::of(shape.to_vec(), vec![0f32; shape.iter().product()])
}

/// Returns the message, line, code and help of every diagnostic of a rejected run.
fn rejected(
    host: &mut MemoryHost,
    args: &str,
) -> Vec<(String, u64, Option<String>, Option<String>)> {
    let text = host.rejection(&format!("{args} --diagnostic-format=json"));
    let objects = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let word = |value: &Value| value.as_str().map(str::to_owned);
    objects
        .map(|found| {
            let message = word(&found["message"]).unwrap();
            (
                message,
                found["line"].as_u64().unwrap(),
                word(&found["code"]),
                word(&found["help"]),
            )
        })
        .collect()
}

fn messages(host: &mut MemoryHost, args: &str) -> Vec<String> {
    rejected(host, args)
        .into_iter()
        .map(|found| found.0)
        .collect()
}

#[test]
fn every_array_that_does_not_fit_is_named_at_its_input() {
    let (x, y, z) = (
        zeros(&[2, 5]),
        Tensor::of(vec![2], vec![0u8; 2]),
        zeros(&[1]),
    );
    let mut host = MemoryHost::with(MODULE).and_arrays([("x", &x), ("y", &y), ("W", &z)]);
    let help = "pass it with `--inputs IN.npz`, or fill it with `--random SEED`";
    let expected = [
        (
            "array `x` has extent 5 at dimension 1, input `x` expects 4, f32[B, 4]",
            1,
            None,
        ),
        ("array `y` is u8, input `y` expects f32", 3, None),
        (
            "array `W` is not an input of this module",
            0,
            Some("an input `w` exists"),
        ),
        (
            "no array is given for input `w` of type f32[4]",
            2,
            Some(help),
        ),
    ];
    let found = rejected(&mut host, "m.core --inputs in.npz");
    let found: Vec<_> = found
        .iter()
        .map(|(message, line, _, help)| (message.as_str(), *line, help.as_deref()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn contradicting_extents_name_both_places() {
    let (x, w, y) = (zeros(&[2, 4]), zeros(&[4]), zeros(&[3]));
    let mut host = MemoryHost::with(MODULE).and_arrays([("x", &x), ("w", &w), ("y", &y)]);
    let expected =
        "dimension B is 2 at dimension 0 of array `x`, but 3 at dimension 0 of array `y`";
    assert_eq!(messages(&mut host, "m.core --inputs in.npz"), [expected]);
    assert_eq!(
        messages(&mut host, "m.core --inputs in.npz --random 1"),
        [expected]
    );
    let mut host = MemoryHost::with(MODULE).and_arrays([("x", &x), ("w", &w)]);
    let expected = "dimension B is 7 as given, but 2 at dimension 0 of array `x`";
    assert_eq!(
        messages(&mut host, "m.core --inputs in.npz --dim B=7 --random 1"),
        [expected]
    );
}

#[test]
fn a_dimension_must_be_one_of_the_modules() {
    let found = rejected(&mut MemoryHost::with(MODULE), "m.core --random 1 --dim b=3");
    let help = Some("a dimension `B` exists".to_owned());
    assert_eq!(
        found,
        [("the module has no dimension `b`".to_owned(), 0, None, help)]
    );
}

#[test]
fn a_failing_op_is_shown_in_the_source_with_its_code() {
    let module = "\
%0 = Input {name=data} : tensor<f32[4, 2]>
%1 = Input {name=at} : tensor<i64[3]>
%2 = Gather (%0, %1)
outputs: %2
";
    let at = Tensor::of(vec![3], vec![0i64, 9, 1]);
    let mut host = MemoryHost::with(module).and_arrays([("at", &at)]);
    let text = host.rejection("m.core --inputs in.npz --random 1");
    assert!(
        text.starts_with("error[E6001]: `gather` failed: index 9 is out of bounds"),
        "{text}"
    );
    assert!(
        text.contains("m.core:3:") && text.contains("| %2 = Gather (%0, %1)"),
        "{text}"
    );
    assert!(text.contains("= note: `data` is %0: f32[4, 2]"), "{text}");
    assert!(text.contains("= help: valid indices are 0 to 3"), "{text}");
    host.stderr.clear();
    assert!(
        host.output("m.core --random 1")
            .starts_with("%2: f32[3, 2]")
    );
}

#[test]
fn division_and_memory_have_their_codes() {
    let module = "\
%0 = Input {name=x} : tensor<i32[2]>
%1 = Div (%0, %0)
outputs: %1
";
    let x = Tensor::of(vec![2], vec![1, 0]);
    let mut host = MemoryHost::with(module).and_arrays([("x", &x)]);
    let found = rejected(&mut host, "m.core --inputs in.npz");
    assert_eq!((found[0].1, found[0].2.as_deref()), (2, Some("E6005")));
    let found = rejected(&mut host, "m.core --inputs in.npz --memory-limit 7");
    let expected =
        "array `x`: shape [2] of i32 needs more than the 7 bytes left of the memory limit";
    assert_eq!(found[0].0, expected);
    let found = rejected(&mut host, "m.core --random 1 --memory-limit 7");
    let expected = "input `x` of shape [2] needs more than the 7 bytes left of the memory limit";
    assert_eq!((found[0].0.as_str(), found[0].1), (expected, 1));
    assert_eq!(found[0].2.as_deref(), Some("E6004"));
    let module = "\
%0 = Input {name=x} : tensor<f32[100, 1]>
%1 = Input {name=y} : tensor<f32[1, 100]>
%2 = Add (%0, %1)
outputs: %2
";
    let found = rejected(
        &mut MemoryHost::with(module),
        "m.core --random 1 --memory-limit 1K",
    );
    assert_eq!((found[0].1, found[0].2.as_deref()), (3, Some("E6004")));
    assert_eq!(found[0].3.as_deref(), Some("`--memory-limit` allows more"));
}

#[test]
fn the_usual_memory_limit_is_three_quarters_of_what_the_host_has() {
    let module = "%0 = Input {name=x} : tensor<f32[2]>\n%1 = Neg (%0)\noutputs: %1\n";
    let mut host = MemoryHost::with(module);
    host.memory = Some(8);
    let found = rejected(&mut host, "m.core --random 1");
    let expected = "input `x` of shape [2] needs more than the 6 bytes left of the memory limit";
    assert_eq!(found[0].0, expected);
    let mut host = MemoryHost::with(module);
    host.memory = Some(8);
    host.output("m.core --random 1 --memory-limit 64");
    let mut host = MemoryHost::with(module);
    host.memory = Some(64);
    host.output("m.core --random 1");
}

#[test]
fn without_a_host_that_knows_its_memory_the_limit_is_4_gib() {
    let module = "%0 = Input {name=x} : tensor<f32[1073741825]>\noutputs: %0\n";
    let found = rejected(&mut MemoryHost::with(module), "m.core --random 1");
    let limit = "needs more than the 4294967296 bytes left of the memory limit";
    assert!(found[0].0.ends_with(limit), "{}", found[0].0);
}

#[test]
fn files_that_cannot_be_read_or_written_are_named() {
    let mut host = MemoryHost::with(MODULE);
    assert!(
        host.rejection("other.core")
            .contains("other.core: no such file")
    );
    assert!(
        rejected(&mut MemoryHost::with(MODULE), "m.core --inputs other.npz")[0]
            .0
            .contains("not found")
    );
    let mut host = MemoryHost::with(MODULE);
    host.files.insert("in.npz".into(), b"PK nothing".to_vec());
    let text = host.rejection("m.core --inputs in.npz");
    assert!(
        text.starts_with("error: not an npz archive: ") && text.contains("--> in.npz"),
        "{text}"
    );
    let mut host = MemoryHost::with(MODULE);
    host.refuse_writes = true;
    assert_eq!(host.run("m.core --random 1 --outputs out.npz"), 1);
    assert_eq!(
        (
            host.error()
                .lines()
                .any(|line| line.starts_with("error: out.npz: ")),
            host.stdout.len()
        ),
        (true, 0)
    );
}

#[test]
fn a_module_that_fails_verification_does_not_run() {
    let module = "\
%0 = Input {name=x} : tensor<f32[2]>
%1 = Input {name=y} : tensor<f32[3]>
%2 = Add (%0, %1)
outputs: %2
";
    let found = rejected(&mut MemoryHost::with(module), "m.core --random 1");
    assert_eq!((found[0].1, found[0].2.as_deref()), (3, Some("E3001")));
}
