//! Models as C programs: the same logits, bit for bit.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use mind_irv2::checkpoint::{Checkpoint, Source};
use mind_irv2::{Families, hf};
use mind_model::c::{Tensors as Stored, c_program};
use mind_model::{CheckpointWeights, Model, Session, largest};
use mind_weights::{WeightFile, WeightType};

use crate::families::{self, FAMILIES};
use crate::gguf;
use crate::random::{Tensors, family, jit};

fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../lit_tests/mind-run/inputs/tiny-qwen2")
}

/// Checks the tokens and logits of a model's C program against those of a session; `config` is the text of its
/// configuration, if it has one. Returns the text of the program.
fn check(name: &str, config: Option<&str>, bytes: &[u8]) -> String {
    check_long(name, config, bytes, 24)
}

/// As [`check`], with a capacity of `capacity` tokens, four of which are generated.
fn check_long(name: &str, config: Option<&str>, bytes: &[u8], capacity: usize) -> String {
    let parsed = WeightFile::parse(bytes).expect("a weight file");
    let sources = [Source {
        name: name.to_owned(),
        file: parsed,
    }];
    let (document, _) = hf::document(config, &sources, Families::default()).expect("a document");
    let config = document.config;
    let checkpoint = Checkpoint::new(&config, &sources).expect("a checkpoint");
    let tensors = Stored::new(&config, &checkpoint, &[bytes]).expect("weights of the file");
    let program = c_program(&config, &tensors, capacity, &Default::default()).expect("a program");
    let weights = Box::new(CheckpointWeights(checkpoint));
    let model = Arc::new(Model::new(config, weights, jit(1)).expect("a model"));
    let vocab = config.vocab_size as u32;
    let prompt: Vec<u32> = (0..capacity as u32 - 5).map(|at| at * 5 % vocab).collect();
    let mut session = Session::new(model, capacity).unwrap();
    let mut last = session.prefill(&prompt).unwrap();
    let (mut expected, mut tokens) = (last.clone(), vec![largest(&last)]);
    for _ in 0..3 {
        last = session.decode(tokens[tokens.len() - 1]).unwrap();
        expected.extend_from_slice(&last);
        tokens.push(largest(&last));
    }
    let expected: Vec<u8> = expected.iter().flat_map(|x| x.to_le_bytes()).collect();
    let words = |tokens: &[u32]| {
        let words: Vec<String> = tokens.iter().map(u32::to_string).collect();
        words.join(",")
    };
    let (found, logits) = run(name, &program, (&prompt, tokens.len(), vocab), bytes);
    assert_eq!(found.trim_end(), words(&tokens), "{name}");
    assert!(logits == expected, "{name}: logits differ");
    program
}

#[test]
fn a_program_of_c_gives_the_same_bits() {
    let bytes = std::fs::read(tiny().join("model.safetensors")).expect("the tiny model");
    let text = std::fs::read_to_string(tiny().join("config.json")).expect("its configuration");
    check("tiny-qwen2", Some(&text), &bytes);
}

/// Checks the program of a tiny model of a family.
fn check_family(name: &str, more: &str) {
    let config = families::config(name, more);
    let weights = Tensors::random(&config, WeightType::F32, 29);
    let bytes = families::file(&config, &weights);
    check(name, Some(&families::text(name, more)), &bytes);
}

/// Checks the programs of families of the table.
fn check_families(names: &[&str]) {
    for name in names {
        let of = |row: &&(&str, &str)| row.0 == *name;
        let &(name, more) = FAMILIES.iter().find(of).expect("a family");
        check_family(name, more);
    }
}

#[test]
fn every_kind_of_layer_gives_the_same_bits_in_c() {
    check_families(&["gemma2", "phi", "cohere2"]);
}

#[test]
fn sequences_of_several_windows_give_the_same_bits_in_c() {
    // Layers with a window keep 128 positions.
    let of = |row: &&(&str, &str)| row.0 == "gemma3_text";
    let &(name, more) = FAMILIES.iter().find(of).expect("a family");
    let config = families::config(name, more);
    let weights = Tensors::random(&config, WeightType::F32, 30);
    let bytes = families::file(&config, &weights);
    let program = check_long("windows", Some(&families::text(name, more)), &bytes, 230);
    assert!(program.contains("\n#define NARROW_ROWS 128\n"));
}

#[test]
fn matrices_in_other_orders_give_the_same_bits_in_c() {
    check_families(&["gpt2", "gpt_neox", "bloom"]);
}

#[test]
fn layers_with_experts_give_the_same_bits_in_c() {
    check_families(&["mixtral", "qwen2_moe"]);
}

#[test]
fn rotated_heads_that_grow_give_the_same_bits_in_c() {
    // The program has a capacity of 24 tokens.
    check_family(
        "phi3",
        r#""original_max_position_embeddings": 20,
           "rope_scaling": {"type": "longrope", "short_factor": [1.0, 1.2], "long_factor": [1.0, 3.0]}"#,
    );
}

#[test]
fn quantised_and_permuted_weights_give_the_same_bits_in_c() {
    let config = gguf::wide(family("llama"));
    let program = check("mixed", None, &gguf::file(&config, &gguf::mixed(&config)));
    // Kernels that differ only in their constants are shared.
    assert!(program.contains("\nMIND_KEPT MIND_TARGET static"));
}

#[test]
fn weights_of_few_bits_give_the_same_bits_in_c() {
    let config = gguf::wide(family("llama"));
    let weights = gguf::few_bits(&config);
    check("few-bits", None, &gguf::file(&config, &weights));
}

/// A program that was built with sanitizers and `-Werror`, and its weight file.
pub struct Built {
    pub folder: PathBuf,
    pub program: PathBuf,
    pub weights: PathBuf,
}

impl Built {
    pub fn new(name: &str, program: &str, weights: &[u8]) -> Built {
        let folder = format!("mind-model-as-c-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).expect("a folder for a program");
        let names = ["model.c", "model", "weights"];
        let [source, built, file] = names.map(|name| folder.join(name));
        std::fs::write(&source, program).expect("the source is written");
        std::fs::write(&file, weights).expect("the weights are written");
        let flags = ["-O0", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];
        let sanitizers = [
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
            "-o",
        ];
        let cc = Command::new("cc")
            .args(flags)
            .args(sanitizers)
            .arg(&built)
            .arg(&source)
            .output();
        let cc = cc.expect("a C compiler");
        assert!(
            cc.status.success(),
            "{}",
            String::from_utf8_lossy(&cc.stderr)
        );
        Built {
            folder,
            program: built,
            weights: file,
        }
    }

    /// Returns the standard output of a run.
    pub fn run(&self, words: &[String]) -> String {
        let output = Command::new(&self.program).args(words).output();
        let output = output.expect("the program runs");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Returns the exit code of a run.
    pub fn status(&self, words: &[&str]) -> Option<i32> {
        let output = Command::new(&self.program).args(words).output();
        output.expect("the program runs").status.code()
    }
}

impl Drop for Built {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Returns the output of the program, and the logits that it writes.
fn run(
    name: &str,
    program: &str,
    (prompt, count, vocab): (&[u32], usize, u32),
    weights: &[u8],
) -> (String, Vec<u8>) {
    let built = Built::new(name, program, weights);
    let tokens: Vec<String> = prompt.iter().map(u32::to_string).collect();
    let logits = built.folder.join("logits");
    let found = built.run(&[
        tokens.join(","),
        count.to_string(),
        built.weights.display().to_string(),
        format!("--logits={}", logits.display()),
    ]);
    let written = std::fs::read(&logits).expect("logits");
    let words = ["1,2", "3", "--seed=4"].map(str::to_owned);
    assert!(!built.run(&words).is_empty());
    let outside = format!("1,{vocab}");
    assert_eq!(built.status(&[&outside, "3", "--seed=4"]), Some(1));
    (found, written)
}
