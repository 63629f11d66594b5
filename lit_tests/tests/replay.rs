//! Runs the command that `mind-reduce --bisect` prints.

use std::path::Path;
use std::time::Duration;

use lit_tests::sandbox::Sandbox;
use lit_tests::shell::{Shell, parse};
use lit_tests::{Config, config};

const RULES: &str = "\
rule minus-is-plus
  class exact
  engine greedy
  where dim(?x, 0) == 1009
  core.sub(?x, ?y)  =>  core.add(?x, ?y)
";

const CORE: &str = "\
%0 = Input {name=x} : tensor<f32[1009]>
%1 = Input {name=y} : tensor<f32[1009]>
%2 = Sub (%0, %1)
%3 = Sub (%2, %1)
outputs: %3
";

const MIC2: &str = "mic@2\nT0 f32 1009\na x T0\na y T0\n- 0 1\nO 2\n";

/// Flags of `mind-reduce` that the printed command must repeat, and the module.
const CALLS: &[(&str, &str, &str)] = &[
    ("m.core", CORE, "--pass-pipeline=canonicalize"),
    ("a module.core", CORE, "-O1"),
    (
        "it's.core",
        CORE,
        "--pass-pipeline='cse,canonicalize{fold-constants=false}'",
    ),
    (
        "m.core",
        CORE,
        "--pass-pipeline=canonicalize --profile=core-v1 --no-input-limits",
    ),
    (
        "m.core",
        CORE,
        "-O1 --fast-math=nsz,approx --disable-rule=relu-neg-relu --keep-padding",
    ),
    ("m", MIC2, "--from=mic2 -O1"),
];

#[test]
fn the_printed_command_runs() {
    let scratch =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("replay-{}", std::process::id()));
    let config = Config {
        root: scratch.clone(),
        tools: config::TOOLS,
        features: config::features(config::TOOLS, &scratch),
        scratch: scratch.clone(),
        semantics: None,
        bless: false,
        time_limit: Duration::from_secs(120),
    };
    for (number, (name, module, flags)) in CALLS.iter().enumerate() {
        let sandbox = Sandbox::create(&scratch, &number.to_string()).expect("a folder");
        let file = |name: &str, text: &str| std::fs::write(sandbox.dir().join(name), text);
        file(name, module)
            .and_then(|()| file("my rules", RULES))
            .expect("files");
        let mut shell = Shell::new(&config, &sandbox);
        let name = format!("'{}'", name.replace('\'', "'\\''"));
        let call = format!(
            "mind-reduce --test @differs --bisect --rules 'my rules' --allow-unchecked-rule=minus-is-plus {flags} {name}"
        );
        let printed = output(&mut shell, &call);
        let replay = printed
            .lines()
            .find_map(|line| line.strip_prefix("replay: "));
        let replay = replay.unwrap_or_else(|| panic!("{call}: {printed}"));
        let replayed = output(&mut shell, replay);
        assert!(!replayed.is_empty(), "{replay}");
    }
    let _ = std::fs::remove_dir_all(scratch);
}

/// Returns the standard output of a command that must succeed.
fn output(shell: &mut Shell<'_>, line: &str) -> String {
    let list = parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    let ran = shell.run(&list);
    let run = shell.trace.last().and_then(|runs| runs.last());
    let run = run.unwrap_or_else(|| panic!("{line}: {ran:?}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(ran, Ok(true), "{line}: {}", text(&run.stderr));
    text(&run.stdout)
}
