//! The tutorial: its files are written, its commands run, its outputs compared.

use std::path::Path;
use std::time::Duration;

use lit_tests::config::Config;
use lit_tests::sandbox::Sandbox;
use lit_tests::shell::{Shell, parse};
use mind_driver::tools::ALL;

#[allow(dead_code, reason = "its `main` is that of the example")]
#[path = "../../examples/tutorial.rs"]
mod example;

/// A fenced block: what stands behind the fence, and its lines.
struct Fence<'t> {
    head: &'t str,
    lines: Vec<&'t str>,
}

fn fences(text: &str) -> Vec<Fence<'_>> {
    let (mut all, mut open): (Vec<Fence<'_>>, Option<Fence<'_>>) = (Vec::new(), None);
    for line in text.lines() {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(_), Some(_)) => all.extend(open.take()),
            (Some(head), None) => {
                open = Some(Fence {
                    head,
                    lines: Vec::new(),
                })
            }
            (None, Some(fence)) => fence.lines.push(line),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "every block is closed");
    all
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/tutorial.md")).expect("the tutorial")
}

#[test]
fn commands_print_what_the_page_shows() {
    let scratch =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tutorial-{}", std::process::id()));
    let sandbox = Sandbox::create(&scratch, "page").expect("a folder");
    let config = Config {
        root: scratch.clone(),
        scratch: scratch.clone(),
        tools: ALL,
        features: Default::default(),
        semantics: None,
        bless: false,
        time_limit: Duration::from_secs(60),
    };
    let (page, mut ran) = (page(), 0);
    for Fence { head, lines } in fences(&page) {
        match head.split_once(' ') {
            Some(("mic" | "core" | "rules", name)) => {
                let text = lines.join("\n") + "\n";
                std::fs::write(sandbox.dir().join(name), text).expect("a file of the tutorial");
            }
            _ if head == "console" => ran += console(&config, &sandbox, &lines),
            _ => {}
        }
    }
    assert!(ran >= 10, "only {ran} commands were found");
    // What is left behind is no failure of a test.
    let _ = std::fs::remove_dir_all(scratch);
}

/// Runs the commands of a block and compares what each prints with the lines below it.
fn console(config: &Config, sandbox: &Sandbox, lines: &[&str]) -> usize {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in lines {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command, Vec::new())),
            (None, Some((_, shown))) => shown.push(line),
            (None, None) => panic!("`{line}` stands before any command"),
        }
    }
    for (command, shown) in &commands {
        let mut shell = Shell::new(config, sandbox);
        let list = parse(command).unwrap_or_else(|error| panic!("{command}: {error}"));
        shell
            .run(&list)
            .unwrap_or_else(|error| panic!("{command}: {error}"));
        let run = shell
            .trace
            .last()
            .and_then(|pipeline| pipeline.last())
            .expect("a command");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&run.stdout), text(&run.stderr));
        let printed: Vec<&str> = stdout
            .lines()
            .chain(stderr.lines())
            .map(str::trim_end)
            .collect();
        assert_eq!(&printed, shown, "{command}");
    }
    commands.len()
}

#[test]
fn code_on_the_page_is_that_of_the_example() {
    let page = page();
    let mut shown = 0;
    for Fence { head, lines } in fences(&page) {
        if let Some(path) = head.strip_prefix("rust ") {
            let file = std::fs::read_to_string(root().join(path)).expect("an example");
            let code = lines.join("\n");
            assert!(file.contains(&code), "{path} does not hold:\n{code}");
            shown += 1;
        }
    }
    assert_eq!(shown, 2);
}

#[test]
fn the_example_prints_what_the_page_shows() {
    let page = page();
    let output = fences(&page)
        .into_iter()
        .find(|fence| fence.head == "output");
    let shown = output.expect("an output").lines.join("\n") + "\n";
    assert_eq!(example::report().expect("the example runs"), shown);
}
