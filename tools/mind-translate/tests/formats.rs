//! Tests of every format in the table through the tool.

use mind_cli::MemoryHost;
use mind_driver::formats::{FORMATS, FormatInfo, Linking, Read, Write};

const MODULE: &str = "\
%0 = Input {name=x} : tensor<f32[2, 4]>
%1 = Input {name=y} : tensor<f32[2, 4]>
%2 = Add (%0, %1) : tensor<f32[2, 4]>
%3 = Relu (%2) : tensor<f32[2, 4]>
outputs: %3
";

const CONFIG: &str = r#"{"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 8, "intermediate_size": 16,
 "num_attention_heads": 2, "vocab_size": 32, "max_position_embeddings": 64}"#;

/// Returns a host with a module and the configuration of a model.
fn host() -> MemoryHost {
    let mut host = MemoryHost::with(MODULE);
    host.files.insert("config.json".into(), CONFIG.into());
    host
}

/// Runs the tool with the words of `args`; returns the exit code. Standard output and standard error are those of this
/// run only.
fn run(host: &mut MemoryHost, args: &str) -> u8 {
    let args: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
    (host.stdout, host.stderr) = Default::default();
    mind_translate::run(&args, host)
}

/// Returns the standard output of a successful run with the words of `args`.
fn printed(host: &mut MemoryHost, args: &str) -> String {
    let code = run(host, args);
    assert_eq!(code, 0, "{args}: {}", host.error());
    String::from_utf8(std::mem::take(&mut host.stdout)).expect("text")
}

/// Returns an input for writing a format, with its `--from`.
fn sample(row: &FormatInfo) -> &'static str {
    match row.write {
        Some(Write::Description) => "--from hf config.json",
        Some(
            Write::Text(_)
            | Write::Program(_)
            | Write::Package
            | Write::Binary(_)
            | Write::C(_)
            | Write::Object(_)
            | Write::Drawing(_),
        )
        | None => "--from core m.core",
    }
}

#[test]
fn what_is_written_reads_back_and_is_written_the_same() {
    let mut host = host();
    // A host without processes cannot run a linker.
    let is_here =
        |row: &&FormatInfo| !matches!(row.write, None | Some(Write::Object(Linking::Shared)));
    for row in FORMATS.iter().filter(is_here) {
        let (word, from) = (row.word, sample(row));
        let out = format!("out-{word}");
        printed(&mut host, &format!("{from} --to {word} -o {out}"));
        match row.read {
            Some(Read::Module(_) | Read::Document(_)) => {
                let again = printed(&mut host, &format!("--from {word} --to {word} {out}"));
                let first = &host.files[std::path::Path::new(&out)];
                assert_eq!(again.as_bytes(), first, "{word}");
            }
            Some(Read::Package(_)) => {
                let again = printed(&mut host, &format!("--from {word} --to mil {out}"));
                assert_eq!(again, printed(&mut host, &format!("{from} --to mil")));
            }
            Some(Read::Binary(_)) => {
                printed(
                    &mut host,
                    &format!("--from {word} --to {word} -o again {out}"),
                );
                let files = ["again", &out].map(|name| &host.files[std::path::Path::new(name)]);
                assert_eq!(files[0], files[1], "{word}");
            }
            Some(Read::Import(_) | Read::Model) | None => {
                let code = run(&mut host, &format!("--from {word} --to core {out}"));
                assert_eq!(code, 2, "{word} is not read: {}", host.error());
            }
        }
    }
}

#[test]
fn every_format_that_is_read_becomes_core_text() {
    for row in FORMATS {
        let mut host = host();
        let input = match row.read {
            Some(Read::Model) => "config.json".to_owned(),
            Some(Read::Binary(_)) => {
                let model = concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../examples/classifier.onnx"
                );
                let bytes = std::fs::read(model).expect("an example");
                host.files.insert("m.onnx".into(), bytes);
                "m.onnx".to_owned()
            }
            Some(Read::Import(_)) => {
                let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  \
                    %y = stablehlo.sine %x : tensor<2xf32>\n  return %y : tensor<2xf32>\n}\n";
                host.files.insert("m.stablehlo".into(), text.into());
                "m.stablehlo".to_owned()
            }
            Some(Read::Module(_) | Read::Document(_) | Read::Package(_)) => {
                let from = sample(row);
                printed(&mut host, &format!("{from} --to {} -o out", row.word));
                "out".to_owned()
            }
            None => continue,
        };
        let text = printed(&mut host, &format!("--from {} --to core {input}", row.word));
        assert!(
            text.contains("%0 = ") || text.contains("mil.program"),
            "{row:?}: {text}"
        );
    }
}

#[test]
fn content_decides_over_the_name_of_the_file() {
    let mut host = host();
    let expected = printed(&mut host, "--from core --to core m.core");
    for row in FORMATS {
        let mut names: Vec<String> = vec![row.word.to_owned()];
        // Packages and binary models are recognised by their names.
        if row.read.is_none() || row.sniff.is_some() {
            names.extend(row.extensions.iter().map(|end| format!("m.{end}")));
        }
        for name in names {
            host.files.insert(name.clone().into(), MODULE.into());
            assert_eq!(
                printed(&mut host, &format!("--to core {name}")),
                expected,
                "{name}"
            );
        }
    }
}

#[test]
fn a_file_called_as_a_format_is_an_input_file() {
    let mut host = host();
    let document = printed(&mut host, "--from hf --to irv2 config.json");
    for row in FORMATS {
        host.files.insert(row.word.into(), document.clone().into());
        let again = printed(&mut host, &format!("--from irv2 --to irv2 {}", row.word));
        assert_eq!(again, document, "{}", row.word);
        let module = printed(&mut host, &format!("--from irv2 --to core {}", row.word));
        assert!(module.starts_with("%0 = "), "{module}");
    }
}

#[test]
fn a_described_model_is_one_module_however_it_is_read() {
    let mut host = host();
    let document = printed(&mut host, "--from hf --to irv2 config.json");
    host.files.insert("d.json".into(), document.into());
    let module = printed(&mut host, "--from hf --to core config.json");
    assert_eq!(printed(&mut host, "--from irv2 --to core d.json"), module);
    assert_eq!(printed(&mut host, "--to core d.json"), module);
}

#[test]
fn options_that_mean_nothing_are_usage_errors() {
    let cases = [
        ("--to core --capacity 3 m.core", "--capacity"),
        ("--to core --weights w m.core", "--weights"),
        ("--to core --function f m.core", "--function"),
        ("--to mic2 --opset ios17 m.core", "--opset"),
        ("--to core --all-ops m.core", "--all-ops"),
        ("--from hf --to irv2 --dim B=2 config.json", "--dim"),
        ("--from hf --to c --main config.json", "--main"),
        ("--from core --to irv2 m.core", "--to irv2"),
        ("--to core --token-report m.core", "--token-report"),
    ];
    for (args, named) in cases {
        let mut host = host();
        assert_eq!(run(&mut host, args), 2, "{args}");
        assert!(host.error().contains(named), "{args}: {}", host.error());
        assert!(host.stdout.is_empty() && host.files.len() == 2, "{args}");
    }
}
