//! Runs the tool under a memory limit: exceeding it is an error.

#[cfg(target_os = "linux")]
mod linux {
    use std::fmt::Write as _;
    use std::io::Write;
    use std::process::{Command, Stdio};

    /// Sufficient address space of a process, in the unit of `ulimit -v`.
    const MANY_KIBIBYTES: usize = 2_000_000;

    /// Runs the module in a shell with limited memory; returns the exit code and standard error.
    fn run(module: &str, kibibytes: usize, options: &str) -> (Option<i32>, String) {
        let tool = env!("CARGO_BIN_EXE_mind-run");
        let script = format!(
            "ulimit -v {kibibytes}; exec '{tool}' - --random 1 --threads 1 --no-input-limits {options}"
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).env("NO_COLOR", "1");
        shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = shell.stderr(Stdio::piped()).spawn().expect("a shell");
        let mut input = child.stdin.take().expect("its input");
        // The tool may exit before it has read everything.
        let _ = input.write_all(module.as_bytes());
        drop(input);
        let output = child.wait_with_output().expect("its end");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), stderr)
    }

    fn is_out_of_memory(module: &str, kibibytes: usize) {
        for engine in ["interp", "jit"] {
            // Rejected by the default limit, and then by the system.
            for limit in ["", "--memory-limit=1000G"] {
                let options = format!("--engine={engine} {limit}");
                let (code, stderr) = run(module, kibibytes, &options);
                let start: String = stderr.chars().take(2000).collect();
                assert_eq!(code, Some(1), "{options}: {start}");
                assert!(stderr.contains("error[E6004]: "), "{options}: {start}");
                assert!(stderr.contains("= help: "), "{options}: {start}");
            }
        }
    }

    fn repeated(count: usize, extent: usize) -> String {
        let mut module = format!("%0 = Input {{name=x}} : tensor<f32[{extent}]>\noutputs: %0");
        for _ in 1..count {
            write!(module, ", %0").expect("a text grows");
        }
        module
    }

    #[test]
    fn an_input() {
        let module = "%0 = Input {name=x} : tensor<f32[600000000]>\n%1 = Neg (%0)\noutputs: %1\n";
        is_out_of_memory(module, MANY_KIBIBYTES);
    }

    #[test]
    fn a_constant_of_one_element() {
        is_out_of_memory(
            "%0 = Input {name=x} : tensor<f32[1]>
%1 = ConstTensor {dtype=f32, fill=1.0, shape=[600000000]} : tensor<f32[600000000]>
%2 = Add (%0, %1)
outputs: %2
",
            MANY_KIBIBYTES,
        );
    }

    #[test]
    fn many_outputs() {
        // The arrays differ, because copies of an array share its elements.
        let mut module = "%0 = Input {name=x} : tensor<f32[1000000]>\n%1 = Neg (%0)\n".to_owned();
        for at in 2..2000 {
            writeln!(module, "%{at} = Sub (%{}, %0)", at - 1).expect("a text grows");
        }
        let outputs: Vec<String> = (1..2000).map(|at| format!("%{at}")).collect();
        writeln!(module, "outputs: {}", outputs.join(", ")).expect("a text grows");
        is_out_of_memory(&module, MANY_KIBIBYTES);
    }

    #[test]
    fn copies_of_an_output_take_no_memory_in_the_interpreter() {
        let options = "--engine=interp --memory-limit=1000G";
        let (code, stderr) = run(&repeated(20_000, 100_000), MANY_KIBIBYTES, options);
        assert_eq!((code, stderr.as_str()), (Some(0), ""));
    }

    #[test]
    fn a_large_result() {
        is_out_of_memory(
            "%0 = Input {name=x} : tensor<f32[20000, 1]>
%1 = Input {name=y} : tensor<f32[1, 20000]>
%2 = MatMul (%0, %1)
outputs: %2, %2
",
            MANY_KIBIBYTES,
        );
    }

    #[test]
    fn a_module() {
        is_out_of_memory(&repeated(2_000_000, 1), 300_000);
    }

    #[test]
    fn what_fits_runs() {
        for engine in ["interp", "jit"] {
            let options = format!("--engine={engine}");
            let (code, stderr) = run(&repeated(100, 100_000), MANY_KIBIBYTES, &options);
            assert_eq!((code, stderr.as_str()), (Some(0), ""));
        }
    }
}
