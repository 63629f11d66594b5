//! In every tool, the extension of an output file selects its format or is rejected.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mind_cli::{MemoryHost, ToolInfo, USAGE};
use mind_driver::formats::{FORMATS, FormatInfo};

const MODULE: &str = "\
%0 = Input {name=x} : tensor<f32[2, 4]>
%1 = Relu (%0) : tensor<f32[2, 4]>
outputs: %1
";

/// A tool with `-o`, its arguments, and whether it writes modules in a format.
type Writer = (ToolInfo, &'static [&'static str], fn(&FormatInfo) -> bool);

const WRITERS: [Writer; 3] = [
    (mind_opt::TOOL, &[], |row| {
        row.text().is_some() || row.binary().is_some()
    }),
    (mind_translate::TOOL, &[], |row| row.write.is_some()),
    (mind_reduce::TOOL, &["--test=@crash"], |row| {
        row.text().is_some()
    }),
];

/// The exit code of a tool, its standard output and standard error, and the files that it wrote.
struct Ran {
    code: u8,
    stdout: Vec<u8>,
    stderr: String,
    written: BTreeMap<PathBuf, Vec<u8>>,
}

/// Runs `tool` on the module with `args`.
fn run(tool: &ToolInfo, args: &[&str]) -> Ran {
    let mut host = MemoryHost::with(MODULE);
    let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
    let code = (tool.run)(&args, &mut host);
    host.files.remove(&PathBuf::from("m.core"));
    Ran {
        code,
        stderr: host.error(),
        stdout: host.stdout,
        written: host.files,
    }
}

fn words<'a>(fixed: &[&'a str], others: &[&'a str]) -> Vec<&'a str> {
    fixed.iter().chain(others).copied().collect()
}

#[test]
fn an_extension_selects_what_its_format_is_called_or_is_refused() {
    for (tool, fixed, writes) in WRITERS {
        for row in FORMATS {
            for end in row.extensions {
                let upper = end.to_uppercase();
                for end in [*end, &upper] {
                    let name = format!("out.{end}");
                    if FormatInfo::named_by(&name) != Some(row) {
                        continue;
                    }
                    let by_name = run(&tool, &words(fixed, &["m.core", "-o", &name]));
                    let shown = format!("{} -o {name}: {}", tool.name, by_name.stderr);
                    if writes(row) {
                        let to = ["m.core", "-o", &name, "--to", row.word];
                        let by_word = run(&tool, &words(fixed, &to));
                        assert_eq!(by_name.code, by_word.code, "{shown}");
                        assert_eq!(by_name.written, by_word.written, "{shown}");
                    } else {
                        assert_eq!(by_name.code, USAGE, "{shown}");
                        assert!(by_name.written.is_empty(), "{shown}");
                        assert!(shown.contains(&format!("`{}`", row.word)), "{shown}");
                    }
                }
            }
        }
    }
}

#[test]
fn an_extension_that_no_format_has_is_refused_with_those_that_are_known() {
    let names = [
        "out.xyz",
        "out.txt",
        "out.pdf",
        "out.svgz",
        "out.tar.gz",
        "out.mlmodel",
        "out.safetensors",
        "d.core/out.toml",
        "out.core.bak",
        "out.mic3",
        "out.pt",
    ];
    for (tool, fixed, _) in WRITERS {
        for name in names {
            let ran = run(&tool, &words(fixed, &["m.core", "-o", name]));
            let shown = format!("{} -o {name}: {}", tool.name, ran.stderr);
            assert_eq!(ran.code, USAGE, "{shown}");
            assert!(ran.written.is_empty() && ran.stdout.is_empty(), "{shown}");
            assert!(shown.contains("`.core`") && shown.contains(name), "{shown}");
            let named = run(&tool, &words(fixed, &["m.core", "-o", name, "--to=core"]));
            assert_ne!(named.code, USAGE, "{shown}");
        }
    }
}

#[test]
fn a_format_and_an_extension_that_contradict_each_other_are_refused() {
    for (tool, fixed, writes) in WRITERS {
        for asked in FORMATS.iter().filter(|row| writes(row)) {
            for row in FORMATS {
                let name = format!("out.{}", row.extensions[0]);
                if asked.has_extension(row.extensions[0]) {
                    continue;
                }
                let args = ["m.core", "-o", &name, "--to", asked.word];
                let ran = run(&tool, &words(fixed, &args));
                let shown = format!(
                    "{} --to {} -o {name}: {}",
                    tool.name, asked.word, ran.stderr
                );
                assert_eq!(ran.code, USAGE, "{shown}");
                assert!(ran.written.is_empty(), "{shown}");
            }
        }
    }
}

#[test]
fn a_name_without_an_extension_leaves_the_format_as_it_was() {
    let plain = run(&mind_opt::TOOL, &["m.core"]);
    for name in [
        "out",
        "out-v1.2",
        ".hidden",
        "m.core.tmp",
        "m.core.tmp.once",
        "d.svg/out",
    ] {
        let ran = run(&mind_opt::TOOL, &["m.core", "-o", name]);
        assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
        assert_eq!(ran.written[&PathBuf::from(name)], plain.stdout, "{name}");
        let refused = run(&mind_translate::TOOL, &["m.core", "-o", name]);
        assert_eq!(refused.code, USAGE, "{name}");
        assert!(refused.stderr.contains("--to"), "{}", refused.stderr);
    }
    let printed = run(&mind_opt::TOOL, &["m.core", "-o", "-"]);
    assert_eq!(printed.stdout, plain.stdout);
    assert!(printed.written.is_empty());
}

#[test]
fn an_extension_of_two_formats_keeps_that_of_the_input() {
    for (word, header) in [("mic1", "mic@1"), ("mic2", "mic@2")] {
        let mut host = MemoryHost::with(MODULE);
        for args in [
            vec!["--to", word, "m.core", "-o", "a"],
            vec!["a", "-o", "b.mic"],
        ] {
            let args: Vec<String> = args.into_iter().map(str::to_owned).collect();
            let code = mind_translate::run(&args, &mut host);
            assert_eq!(code, 0, "{args:?}: {}", host.error());
        }
        let text = String::from_utf8_lossy(&host.files[&PathBuf::from("b.mic")]).into_owned();
        assert!(text.starts_with(header), "{text}");
    }
}

#[test]
fn files_besides_modules_are_named_as_what_they_hold() {
    let cases: [(ToolInfo, &[&str]); 9] = [
        (mind_run::TOOL, &["--random=1", "--outputs=out.json"]),
        (mind_run::TOOL, &["--random=1", "--outputs=out.npy"]),
        (mind_run::TOOL, &["--random=1", "--profile-steps=out.csv"]),
        (mind_opt::TOOL, &["--report=out.svg"]),
        (mind_opt::TOOL, &["--ane-report", "-o", "out.json"]),
        (mind_opt::TOOL, &["--ane-report=json", "-o", "out.txt"]),
        (mind_opt::TOOL, &["--diff=m.core", "-o", "out.core"]),
        (mind_translate::TOOL, &["--token-report", "-o", "out.mic"]),
        (
            mind_reduce::TOOL,
            &["--test=@crash", "--bisect", "-o", "out.core"],
        ),
    ];
    for (tool, args) in cases {
        let ran = run(&tool, &words(args, &["m.core"]));
        let shown = format!("{} {args:?}: {}", tool.name, ran.stderr);
        assert_eq!(ran.code, USAGE, "{shown}");
        assert!(ran.written.is_empty() && ran.stdout.is_empty(), "{shown}");
        assert!(shown.contains("`out."), "{shown}");
    }
}
