//! Exit codes and messages of whole runs: a table of cases, messages, and malicious input.

use filecheck::{Invocation, run};
use mind_ir::random::Rng;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A row of `verdicts.txt`.
struct Case {
    row: usize,
    exit_code: u8,
    env_opts: Option<String>,
    args: Vec<String>,
    check_file: Vec<u8>,
    input: Vec<u8>,
}

fn cases() -> Vec<Case> {
    let rows = include_str!("verdicts.txt").lines().enumerate();
    rows.filter(|(_, row)| !row.is_empty() && !row.starts_with('#'))
        .map(|(i, row)| case(i + 1, row))
        .collect()
}

fn case(row: usize, text: &str) -> Case {
    let columns: Vec<&str> = text
        .split(" ~")
        .map(|column| column.strip_prefix(' ').unwrap_or(column))
        .collect();
    let [exit_code, args, check_file, input] = columns[..] else {
        panic!("row {row}: four columns are expected")
    };
    let exit_code = exit_code
        .split('/')
        .next()
        .and_then(|code| code.parse().ok());
    let (options, args): (Vec<&str>, Vec<&str>) = args
        .split_whitespace()
        .partition(|arg| arg.starts_with("FILECHECK_OPTS="));
    Case {
        row,
        exit_code: exit_code.unwrap_or_else(|| panic!("row {row}: an exit code is expected")),
        env_opts: options
            .first()
            .map(|options| options["FILECHECK_OPTS=".len()..].replace('_', " ")),
        args: args.into_iter().map(str::to_owned).collect(),
        check_file: unescape(check_file),
        input: unescape(input),
    }
}

fn unescape(text: &str) -> Vec<u8> {
    let (text, end) = text
        .strip_suffix("\\c")
        .map_or((text, "\n"), |text| (text, ""));
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some('r')) => out.push('\r'),
            ('\\', Some('0')) => out.push('\0'),
            ('\\', Some('\\')) => out.push('\\'),
            ('\\', Some(other)) => out.extend(['\\', other]),
            _ => out.push(c),
        }
    }
    (out + end).into_bytes()
}

/// Writes a check file for one test, so that tests can run concurrently.
fn check_file(name: &str, text: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("the target's folder for temporary files can be written");
    path
}

/// Runs in this process. Returns the exit code and standard error.
fn run_case(
    name: &str,
    check: &[u8],
    input: &[u8],
    args: &[&str],
    env_opts: Option<&str>,
) -> (u8, String) {
    let path = check_file(name, check);
    let mut all = vec![name.to_owned()];
    all.extend(args.iter().map(|arg| (*arg).to_owned()));
    let cwd = path.parent().expect("a file is in a folder");
    let invocation = Invocation {
        args: &all,
        env_opts,
        cwd,
        stdin: input,
    };
    let mut stderr = Vec::new();
    let exit_code = run(&invocation, &mut Vec::new(), &mut stderr);
    (exit_code, String::from_utf8_lossy(&stderr).into_owned())
}

#[test]
fn the_table_holds() {
    let cases = cases();
    assert!(cases.len() > 350, "rows are missing");
    let mut wrong = Vec::new();
    for case in &cases {
        let args: Vec<&str> = case.args.iter().map(String::as_str).collect();
        let (found, stderr) = run_case(
            "table.txt",
            &case.check_file,
            &case.input,
            &args,
            case.env_opts.as_deref(),
        );
        if found != case.exit_code {
            wrong.push(format!(
                "row {}: exit code {found}, expected {}\n{stderr}",
                case.row, case.exit_code
            ));
        }
        assert!(
            found == 0 || !stderr.is_empty(),
            "row {}: a failure without a message",
            case.row
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_missing_line_shows_the_nearest() {
    let check = b"CHECK: %[[A:[0-9]+]] = load\nCHECK-NEXT: store %[[A]], %x\n";
    let (exit_code, stderr) = run_case(
        "missing.txt",
        check,
        b"f\n  %7 = load\n  store %7, %y\n",
        &[],
        None,
    );
    let expected = "\
missing.txt:2:13: error: CHECK-NEXT: not found
  2 | CHECK-NEXT: store %[[A]], %x
    |             ^
  searched up to <stdin>:4:1, from <stdin>:2:11:
  2 |  %7 = load
    |           ^
  with A = \"7\"
  expected: store %7, %x
  nearest line, up to where it differs, <stdin>:3:13:
  3 |  store %7, %y
    |             ^
rerun: filecheck missing.txt
";
    assert_eq!((exit_code, stderr.as_str()), (1, expected));
}

#[test]
fn a_wrong_line_shows_both_places() {
    let (_, stderr) = run_case(
        "wrong-line.txt",
        b"CHECK: a\nCHECK-NEXT: b\n",
        b"a\nx\nb\n",
        &[],
        None,
    );
    let expected = "\
wrong-line.txt:2:13: error: CHECK-NEXT: found 2 lines after the previous match
  2 | CHECK-NEXT: b
    |             ^
  previous match ended at <stdin>:1:2:
  1 | a
    |  ^
  found at <stdin>:3:1:
  3 | b
    | ^
rerun: filecheck wrong-line.txt
";
    assert_eq!(stderr, expected);
}

#[test]
fn every_block_and_every_not_is_reported() {
    let check = b"CHECK-LABEL: f\nCHECK-NOT: x\nCHECK-NOT: y\nCHECK-LABEL: g\nCHECK: z\n";
    let (_, stderr) = run_case("all.txt", check, b"f\nx y\ng\n", &[], None);
    let places: Vec<&str> = stderr
        .lines()
        .filter(|line| line.contains("error:"))
        .map(|line| &line[..9])
        .collect();
    assert_eq!(places, ["all.txt:2", "all.txt:3", "all.txt:5"]);
}

#[test]
fn a_dump_has_the_failures_below_their_lines() {
    let (_, stderr) = run_case(
        "dump.txt",
        b"CHECK-NOT: x\n",
        b"a\nbx\n",
        &["--dump-input=fail"],
        None,
    );
    assert!(
        stderr.contains("     2 | bx\n       |  ^ CHECK-NOT: found, but must not be\n"),
        "{stderr}"
    );
}

#[test]
fn the_tool_reads_its_surroundings() {
    let check = check_file("tool.txt", b"CHECK: A\n");
    let input = check_file("tool-input.txt", b"a\n");
    let tool = |opts: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_filecheck"));
        command
            .arg(&check)
            .arg("--input-file")
            .arg(&input)
            .env("FILECHECK_OPTS", opts);
        command.output().expect("the tool starts").status.code()
    };
    assert_eq!(
        (tool(""), tool("--ignore-case"), tool("--no-such-flag")),
        (Some(1), Some(0), Some(1))
    );
}

#[test]
fn any_bytes_have_a_verdict() {
    let parts: [&[u8]; 44] = [
        b"CHECK",
        b"-NEXT",
        b"-NOT",
        b"-DAG",
        b"-LABEL",
        b"-EMPTY",
        b"-COUNT-2",
        b"_",
        b"{LITERAL}",
        b":",
        b": ",
        b": a\n",
        b"\n",
        b"\r\n",
        b"{{",
        b"}}",
        b"[[",
        b"]]",
        b"[[#",
        b"X",
        b"X:",
        b"@LINE",
        b"+1",
        b"%x,",
        b"%.3d,",
        b"(",
        b")",
        b"*",
        b"{2}",
        b"[",
        b"]",
        b"^",
        b"$",
        b"\\1",
        b"|",
        b".",
        b"a",
        b"aa",
        b"1",
        b"\0",
        b"\xff",
        b" ",
        b"\t",
        b"add(1,",
    ];
    let flags = [
        "--match-full-lines",
        "--strict-whitespace",
        "--ignore-case",
        "--enable-var-scope",
        "-DX=a",
        "-D#X=1",
        "-v",
    ];
    let mut random = Rng::new(1);
    let mut text = |most: usize| -> Vec<u8> {
        let count = random.below(most);
        (0..count)
            .flat_map(|_| random.pick(&parts).to_vec())
            .collect()
    };
    let inputs = [
        "random-0.txt",
        "random-1.txt",
        "random-2.txt",
        "random-3.txt",
    ];
    let paths = inputs.map(|name| check_file(name, &[b"a".to_vec(), text(40)].concat()));
    for round in 0..4_000 {
        let check = [b"CHECK: a\n".to_vec(), text(40), b"\n".to_vec()].concat();
        let args = [
            "-",
            "--input-file",
            inputs[round % inputs.len()],
            flags[round % flags.len()],
        ];
        let args = args.map(str::to_owned);
        let cwd = paths[0].parent().expect("a file is in a folder");
        let invocation = Invocation {
            args: &args,
            env_opts: None,
            cwd,
            stdin: &check,
        };
        assert!(run(&invocation, &mut Vec::new(), &mut Vec::new()) <= 2);
    }
}

#[test]
fn costly_checks_end() {
    let long = "a".repeat(3_000);
    let nested = format!("CHECK: {{{{{}}}}}\n", "(".repeat(50_000));
    let parentheses = format!("CHECK: [[#{}]]\n", "(".repeat(50_000));
    let terms = format!("CHECK: [[#1{}]]\n", "+1".repeat(50_000));
    let cases: [(&str, &str, u8); 9] = [
        ("CHECK: {{(a*)*(a*)*(a*)*(a*)*[bc]}}\n", &long, 1),
        (
            "CHECK: [[X:(a*)*(a|aa)*]][[Y:.*.*.*.*]]{{[!?]}}\n",
            &long,
            1,
        ),
        (
            "CHECK: {{((a|aa)+)+\\1[bc]}}\n",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            1,
        ),
        ("CHECK: {{(((a{200}){200}){200}){200}b}}\n", &long, 2),
        ("CHECK-COUNT-2147483647: {{x*}}\n", "a", 0),
        ("CHECK: [[#%.4000000000u,1]]\n", "a", 1),
        (&nested, "a", 2),
        (&parentheses, "a", 2),
        (&terms, "50001", 0),
    ];
    for (check, input, expected) in cases {
        let start = Instant::now();
        let (exit_code, stderr) =
            run_case("costly.txt", check.as_bytes(), input.as_bytes(), &[], None);
        assert_eq!(exit_code, expected, "{:.80}: {stderr:.200}", check);
        assert!(start.elapsed() < Duration::from_secs(20), "{:.80}", check);
    }
}
