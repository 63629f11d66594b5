//! Checks that transformations preserve results.
//!
//! If a pipeline begins with `mind-opt` reading the test file, runs a pass and succeeds, its input and output are
//! passed to a given function, which evaluates both.

use std::fs;
use std::path::Path;

use crate::shell::CommandRun;

/// Functions that recognise and check transforming commands.
#[derive(Debug, Clone, Copy)]
pub struct Semantics {
    /// Returns whether an argument of `mind-opt` requests a pass.
    pub is_pass: fn(&str) -> bool,
    /// Evaluates both modules and returns where they differ.
    pub compare: fn(&Transformation<'_>) -> Result<(), String>,
}

impl Semantics {
    /// Returns whether a command is `mind-opt` with a pass.
    pub fn runs_pass(&self, run: &CommandRun) -> bool {
        run.argv[0] == "mind-opt" && run.argv[1..].iter().any(|arg| (self.is_pass)(arg))
    }
}

/// A module before and after `mind-opt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transformation<'a> {
    /// The test file, or a chunk of it.
    pub input: &'a str,
    /// The output of `mind-opt` for that input.
    pub output: &'a str,
    /// The arguments, because `--fast-math` and `--from` affect the comparison.
    pub args: &'a [String],
}

/// Compares input and output of each qualifying first command of a pipeline, and returns their number.
///
/// # Errors
///
/// The first difference, with the command that caused it.
pub fn check(
    semantics: Semantics,
    source: &Path,
    trace: &[Vec<CommandRun>],
) -> Result<usize, String> {
    let mut compared = 0;
    for run in trace.iter().filter_map(|pipeline| pipeline.first()) {
        if !transforms(semantics, source, run) {
            continue;
        }
        let input = fs::read(source).map_err(|error| error.to_string())?;
        let input = String::from_utf8_lossy(&input);
        let output = String::from_utf8_lossy(&run.stdout);
        compare(semantics, &input, &output, &run.argv[1..])
            .map_err(|difference| format!("{}: {difference}", run.argv.join(" ")))?;
        compared += 1;
    }
    Ok(compared)
}

/// Compares two texts, chunk by chunk under `--split-input-file`.
///
/// # Errors
///
/// The first difference, or a text that cannot be evaluated.
pub fn compare(
    semantics: Semantics,
    input: &str,
    output: &str,
    args: &[String],
) -> Result<(), String> {
    let split = args
        .iter()
        .any(|arg| arg.trim_start_matches('-') == "split-input-file");
    if !split {
        return (semantics.compare)(&Transformation {
            input,
            output,
            args,
        });
    }
    let (inputs, outputs) = (chunks(input), chunks(output));
    if inputs.len() != outputs.len() {
        return Err(format!(
            "{} chunks came out of {}",
            outputs.len(),
            inputs.len()
        ));
    }
    for (number, (input, output)) in inputs.iter().zip(&outputs).enumerate() {
        (semantics.compare)(&Transformation {
            input,
            output,
            args,
        })
        .map_err(|difference| format!("chunk {}: {difference}", number + 1))?;
    }
    Ok(())
}

fn transforms(semantics: Semantics, source: &Path, run: &CommandRun) -> bool {
    let names_source = run.argv[1..].iter().any(|arg| Path::new(arg) == source);
    let reads_source = names_source || run.input.as_deref() == Some(source);
    semantics.runs_pass(run) && reads_source && !run.negated && run.success
}

/// Returns the texts between separator lines, which are `# -----` or `// -----` with an optional name.
fn chunks(text: &str) -> Vec<String> {
    let mut chunks = vec![String::new()];
    for line in text.split_inclusive('\n') {
        if line.starts_with("# -----") || line.starts_with("// -----") {
            chunks.push(String::new());
        } else {
            chunks.last_mut().expect("never empty").push_str(line);
        }
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_pair_up() {
        let semantics = Semantics {
            is_pass: |_| true,
            compare: |pair| {
                if pair.input == pair.output {
                    Ok(())
                } else {
                    Err(format!("{:?} against {:?}", pair.input, pair.output))
                }
            },
        };
        let split = ["--split-input-file".to_owned()];
        let check = |input, output| compare(semantics, input, output, &split);
        assert_eq!(check("a\n# -----\nb\n", "a\n// ----- two\nb\n"), Ok(()));
        assert_eq!(
            check("a\n# -----\nb\n", "a\n"),
            Err("1 chunks came out of 2".into())
        );
        let difference = "chunk 2: \"b\\n\" against \"c\\n\"";
        assert_eq!(
            check("a\n# -----\nb\n", "a\n# -----\nc\n"),
            Err(difference.into())
        );
        assert_eq!(compare(semantics, "# -----\n", "# -----\n", &[]), Ok(()));
    }
}
