//! `mind-run --model`, and the tools with it.

mod args;
mod generate;
mod program;
mod translate;

use mind_driver::host::{Host, Tool};
use mind_driver::tools;

/// Every tool by the name of its binary.
pub const ALL: &[(&str, Tool)] = &[
    ("mind-fmt", tools::fmt::run),
    ("mind-opt", tools::opt::run),
    ("mind-reduce", tools::reduce::run),
    ("mind-run", run),
    ("mind-translate", translate),
];

/// Runs `mind-translate`: on the description of a model where one is named, else on a module.
pub fn translate(args: &[String], host: &mut dyn Host) -> u8 {
    if program::asks_for_model(args) {
        program::run(args, host)
    } else {
        translate::run(args, host)
    }
}

/// Runs `mind-run`: on a model where `--model` is given, else on a module.
pub fn run(args: &[String], host: &mut dyn Host) -> u8 {
    let names_model = |arg: &String| arg == "--model" || arg.starts_with("--model=");
    if args.iter().any(names_model) {
        generate::run(args, host)
    } else {
        tools::run::run(args, host)
    }
}
