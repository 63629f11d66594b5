//! Builtin commands.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::ShellError;
use crate::diff;
use crate::tool::CommandHost;

/// The working folder and variables of a shell.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The working directory.
    pub cwd: PathBuf,
    /// Environment variables; FileCheck reads `FILECHECK_OPTS`.
    pub env: BTreeMap<String, String>,
}

/// The implementation of a builtin.
#[derive(Debug, Clone, Copy)]
pub enum Builtin {
    /// Reads and writes streams, so it may be part of a pipeline.
    Filter(fn(&[String], &mut CommandHost<'_>) -> Result<u8, ShellError>),
    /// Changes the shell or files, so it must be the only command of its pipeline.
    Action(fn(&[String], &mut CommandHost<'_>, &mut Surroundings) -> Result<u8, ShellError>),
}

const TABLE: [(&str, Builtin); 9] = [
    ("cat", Builtin::Filter(cat)),
    ("cd", Builtin::Action(cd)),
    ("diff", Builtin::Filter(compare)),
    ("echo", Builtin::Filter(echo)),
    ("export", Builtin::Action(export)),
    ("false", Builtin::Filter(|_, _| Ok(1))),
    ("mkdir", Builtin::Action(mkdir)),
    ("rm", Builtin::Action(rm)),
    ("true", Builtin::Filter(|_, _| Ok(0))),
];

/// Returns the builtin called `name`.
pub fn find(name: &str) -> Option<Builtin> {
    TABLE
        .iter()
        .find(|(known, _)| *known == name)
        .map(|&(_, builtin)| builtin)
}

/// Returns the names of the builtins for messages.
pub fn names() -> String {
    TABLE.map(|(name, _)| name).join(", ")
}

/// Consumes leading `-i`, `-u NAME` and `NAME=value` arguments, as `env` and `export` do.
pub fn assign<'a>(mut args: &'a [String], env: &mut BTreeMap<String, String>) -> &'a [String] {
    loop {
        args = match args {
            [flag, rest @ ..] if flag == "-i" => {
                env.clear();
                rest
            }
            [flag, name, rest @ ..] if flag == "-u" => {
                env.remove(name);
                rest
            }
            [first, rest @ ..] => match first.split_once('=') {
                Some((name, value)) => {
                    env.insert(name.to_owned(), value.to_owned());
                    rest
                }
                None => return args,
            },
            [] => return args,
        }
    }
}

fn cat(args: &[String], host: &mut CommandHost<'_>) -> Result<u8, ShellError> {
    if args.is_empty() {
        let stdin = std::mem::take(&mut host.stdin);
        emit(&mut host.stdout, &stdin);
    }
    for name in args {
        if name.starts_with('-') {
            return Err(refuse("cat", name));
        }
        match fs::read(host.cwd.join(name)) {
            Ok(bytes) => emit(&mut host.stdout, &bytes),
            Err(error) => return Ok(report(host, "cat", name, &error)),
        }
    }
    Ok(0)
}

fn cd(
    args: &[String],
    _: &mut CommandHost<'_>,
    shell: &mut Surroundings,
) -> Result<u8, ShellError> {
    let [dir] = args else {
        return Err(operands("cd", "one folder"));
    };
    let cwd = shell.cwd.join(dir);
    if !cwd.is_dir() {
        return Err(ShellError::File {
            path: dir.clone(),
            problem: "no such folder".to_owned(),
        });
    }
    shell.cwd = cwd;
    Ok(0)
}

fn compare(args: &[String], host: &mut CommandHost<'_>) -> Result<u8, ShellError> {
    let mut blanks = diff::Blanks::Count;
    let mut context = 3;
    let mut names = vec![];
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-u" => {}
            "-U" => {
                let lines = args.next().and_then(|lines| lines.parse().ok());
                context = lines.ok_or_else(|| operands("diff", "a number after `-U`"))?;
            }
            "-w" => blanks = diff::Blanks::Ignore,
            "-b" => blanks = diff::Blanks::Squeeze,
            "--strip-trailing-cr" => blanks = diff::Blanks::StripReturn,
            flag if flag.starts_with('-') && flag != "-" => return Err(refuse("diff", flag)),
            name => names.push(name),
        }
    }
    let [old, new] = names[..] else {
        return Err(operands("diff", "two files"));
    };
    let mut texts = vec![];
    for name in [old, new] {
        let bytes = match name {
            "-" => Ok(std::mem::take(&mut host.stdin)),
            _ => fs::read(host.cwd.join(name)),
        };
        match bytes {
            Ok(bytes) => texts.push(blanks.normalize(&String::from_utf8_lossy(&bytes))),
            Err(error) => return Ok(report(host, "diff", name, &error)),
        }
    }
    if texts[0] == texts[1] {
        return Ok(0);
    }
    emit(
        &mut host.stdout,
        diff::unified_with(context, &texts[0], &texts[1], old, new).as_bytes(),
    );
    Ok(1)
}

fn echo(args: &[String], host: &mut CommandHost<'_>) -> Result<u8, ShellError> {
    let (newline, words) = match args {
        [flag, words @ ..] if flag == "-n" => (false, words),
        words => (true, words),
    };
    if let Some(flag @ ("-n" | "-e" | "-E" | "-ne" | "-en")) = words.first().map(String::as_str) {
        return Err(refuse("echo", flag));
    }
    let line = words.join(" ") + if newline { "\n" } else { "" };
    emit(&mut host.stdout, line.as_bytes());
    Ok(0)
}

fn export(
    args: &[String],
    _: &mut CommandHost<'_>,
    shell: &mut Surroundings,
) -> Result<u8, ShellError> {
    match args {
        [one] if one.contains('=') => {
            assign(args, &mut shell.env);
            Ok(0)
        }
        _ => Err(operands("export", "one `NAME=value`")),
    }
}

fn mkdir(
    args: &[String],
    host: &mut CommandHost<'_>,
    _: &mut Surroundings,
) -> Result<u8, ShellError> {
    let (flags, names) = options("mkdir", args, &["-p"])?;
    for name in names {
        let path = writable(host, name)?;
        let made = match fs::create_dir(&path) {
            Err(_) if path.is_dir() => Ok(()),
            Err(_) if flags.contains(&"-p") => fs::create_dir_all(&path),
            made => made,
        };
        if let Err(error) = made {
            return Ok(report(host, "mkdir", name, &error));
        }
    }
    Ok(0)
}

fn rm(args: &[String], host: &mut CommandHost<'_>, _: &mut Surroundings) -> Result<u8, ShellError> {
    let (flags, names) = options("rm", args, &["-f", "-r", "-R", "-rf", "-fr"])?;
    let has = |letter: char| flags.iter().any(|flag| flag.contains(letter));
    let (force, recursive) = (has('f'), has('r') || has('R'));
    for name in names {
        let path = writable(host, name)?;
        let removed = if path.is_dir() && recursive {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        match removed {
            Err(error) if force && error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Ok(report(host, "rm", name, &error)),
            Ok(()) => {}
        }
    }
    Ok(0)
}

/// Splits known flags from names, of which there must be at least one.
fn options<'a>(
    command: &'static str,
    args: &'a [String],
    known: &[&str],
) -> Result<(Vec<&'a str>, Vec<&'a str>), ShellError> {
    let (flags, names): (Vec<&str>, Vec<&str>) = args
        .iter()
        .map(String::as_str)
        .partition(|arg| arg.starts_with('-'));
    if let Some(flag) = flags.iter().find(|flag| !known.contains(flag)) {
        return Err(refuse(command, flag));
    }
    if names.is_empty() {
        return Err(operands(command, "a name"));
    }
    Ok((flags, names))
}

fn writable(host: &CommandHost<'_>, name: &str) -> Result<PathBuf, ShellError> {
    let path = host.sandbox.writable(&host.cwd, Path::new(name));
    path.ok_or_else(|| ShellError::Outside(name.to_owned()))
}

fn report(host: &mut CommandHost<'_>, command: &str, name: &str, error: &io::Error) -> u8 {
    emit(
        &mut host.stderr,
        format!("{command}: {name}: {error}\n").as_bytes(),
    );
    1
}

fn emit(sink: &mut impl Write, bytes: &[u8]) {
    sink.write_all(bytes).expect("memory takes every byte");
}

fn refuse(command: &str, argument: &str) -> ShellError {
    ShellError::Argument {
        command: command.to_owned(),
        argument: argument.to_owned(),
    }
}

fn operands(command: &str, expected: &'static str) -> ShellError {
    ShellError::Operands {
        command: command.to_owned(),
        expected,
    }
}
