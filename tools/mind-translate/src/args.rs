//! Command line of `mind-translate`.

use std::fmt::Write as _;

use clap::builder::ValueParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use mind_cli::{constants, flag, output, value};
use mind_driver::formats::{FORMATS, FormatInfo, Linking, Output, Read, Write};
use mind_jit::program::ObjectConfig;
use mind_pass::{OptionInfo, OptionKind};
use mind_vir::object::Container;

use crate::model::CAPACITY;
use crate::{Request, Task};

const LOWERING: &str = "Lowering to MIL";
const MODELS: &str = "Descriptions of models";
const C: &str = "C and machine code";

pub(crate) fn command() -> Command {
    Command::new("mind-translate")
        .about("Translates a module, or the description of a model, from one format to another")
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(format!(
            "Formats:\n{}\nNothing else changes unless passes are named. With `--from irv2` or `--from hf`, `--to c` writes the \
             whole model; without, a document is a module like any other.\n\n\
             Exit status: 0 done, 1 the input was rejected, 2 usage.",
            formats()
        ))
        .args(mind_cli::module_args().into_iter().map(widened))
        .arg(
            value(
                "to",
                "FORMAT",
                "the output's format; by default that of the extension of -o, with `--patch` the input's format; \
                 for MIL and packages the module is lowered, unless it is a program",
            )
            .value_parser(FormatInfo::words(is_written))
            .required_unless_present_any(["output", "patch", "token-report"]),
        )
        .arg(output::arg(
            "write there, not to standard output; its extension selects the format; a package is a folder and needs it",
        ))
        .arg(value(
            "patch",
            "EDITS",
            "apply the edits of this JSON file first, all or none; `docs/patching.md` describes them",
        ))
        .arg(
            flag(
                "token-report",
                "print how many bytes and tokens the module takes in every format, and as JSON",
            )
            .conflicts_with_all(["to", "patch"]),
        )
        .arg(
            value(
                "dim",
                "NAME=EXTENT",
                "replace a symbolic dimension by this extent first",
            )
            .action(ArgAction::Append)
            .value_parser(ValueParser::new(mind_cli::parse_dim)),
        )
        .arg(constants::arg())
        .arg(value(
            "pass-pipeline",
            "TEXT",
            "run these passes first: `import-mil,canonicalize`",
        ))
        .arg(flag(
            "all-ops",
            "draw every op: no folding of repeated layers, no overview below 1,000 boxes",
        ))
        .arg(mind_cli::binary::data_arg())
        .next_help_heading(C)
        .arg(
            value(
                "function",
                "NAME",
                "the name of the generated C function, or the prefix of the functions of an object file",
            )
            .default_value("module"),
        )
        .arg(flag(
            "main",
            "add a `main` function that reads inputs from stdin and writes outputs to stdout",
        ))
        .arg(
            value(
                "isa",
                "SETS",
                "the target instruction sets, in the order in which they are tried at run time",
            )
            .value_delimiter(',')
            .value_parser(ObjectConfig::ISAS.iter().map(|isa| isa.name()).collect::<Vec<_>>())
            .default_values(ObjectConfig::ISAS.iter().map(|isa| isa.name())),
        )
        .arg(
            value(
                "object-format",
                "FORMAT",
                "the format of an object file, of Linux, macOS or Windows",
            )
            .value_parser(Container::ALL.map(Container::name))
            .default_value(Container::HOST.name()),
        )
        .arg(
            value(
                "capacity",
                "TOKENS",
                "capacity of the KV cache of a model in tokens",
            )
            .default_value(CAPACITY)
            .value_parser(clap::value_parser!(usize)),
        )
        .next_help_heading(MODELS)
        .arg(value(
            "weights",
            "PATH",
            "the weights, a file or a folder; by default those in the configuration's folder",
        ))
        .arg(value(
            "kernel-maps",
            "DIR",
            "also accept the model family that the files of this folder describe",
        ))
        .arg(flag(
            "allow-unknown",
            "keep unknown members of a document",
        ))
        .next_help_heading(LOWERING)
        .args(mind_to_mil::PASS.options.iter().map(lowering_arg))
        .arg(
            value(
                "flexible",
                "DIM=EXTENTS",
                "keep a symbolic dimension open: B=1..32 for a range, B=1,2,4 for a list",
            )
            .action(ArgAction::Append),
        )
        .arg(
            value(
                "build-info",
                "KEY=VALUE",
                "a build info entry of the program, instead of the tool's name",
            )
            .action(ArgAction::Append),
        )
}

/// Returns whether the tool writes a format.
fn is_written(row: &FormatInfo) -> bool {
    row.write.is_some()
}

/// Returns the output of the command line.
pub(crate) fn output(matches: &ArgMatches) -> Output<'_> {
    output::asked(matches, is_written)
}

/// Extends an argument for reading modules to descriptions of models.
fn widened(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "FILE" => arg.help(
            "the module, a folder NAME.mlpackage for a Core ML package, or the description of a model; standard input if \
             it is `-` or not given",
        ),
        "from" => arg.value_parser(FormatInfo::words(|row| row.read.is_some())),
        _ => arg,
    }
}

/// Returns a line for each format.
fn formats() -> String {
    let mut text = String::new();
    for row in FORMATS {
        let way = match (row.read.is_some(), row.write.is_some()) {
            (true, true) => "",
            (true, false) => " (read)",
            (false, _) => " (written)",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:10}  {}{way}", row.word, row.summary);
    }
    text
}

/// Returns the flag for an option of the lowering.
fn lowering_arg(option: &'static OptionInfo) -> Arg {
    let arg = value(option.name, "WORD", option.summary);
    let arg = match option.kind {
        // The values for ONNX are numbers.
        OptionKind::Word(_) if option.name == "opset" => arg.help(format!(
            "{}; for ONNX 13 to 26, 21 by default",
            option.summary
        )),
        OptionKind::Word(words) => arg.value_parser(words.to_vec()),
        OptionKind::Count | OptionKind::Flag | OptionKind::Extents => arg,
    };
    arg.default_value(option.default)
}

/// Checks that the opset of a MIL output is one of MIL's.
///
/// # Errors
///
/// Errors if it is not.
fn check_opset(matches: &ArgMatches, lowers: bool) -> Result<(), String> {
    let options = mind_to_mil::PASS.options.iter();
    let words = options.filter(|option| option.name == "opset");
    let words = words.filter_map(|option| match option.kind {
        OptionKind::Word(words) => Some(words),
        OptionKind::Count | OptionKind::Flag | OptionKind::Extents => None,
    });
    let words: Vec<&str> = words.flatten().copied().collect();
    match matches.get_one::<String>("opset") {
        Some(word) if lowers && !words.contains(&&word[..]) => Err(format!(
            "invalid `--opset={word}`: expected one of `{}`",
            words.join("`, `")
        )),
        Some(_) | None => Ok(()),
    }
}

/// Checks that every specified option applies to the task.
///
/// # Errors
///
/// Errors with the option and the tasks it applies to.
pub(crate) fn check(matches: &ArgMatches, request: &Request) -> Result<(), String> {
    let (task, write) = (request.task(), request.write());
    let lowers = matches!(write, Some(Write::Program(_) | Write::Package));
    let lowering = mind_to_mil::PASS.options.iter().map(|option| option.name);
    let lowering = lowering.filter(|name| *name != "opset");
    let lowering: Vec<&str> = lowering.chain(["flexible", "build-info"]).collect();
    check_opset(matches, lowers)?;
    let reads_model = request
        .from
        .is_some_and(|row| matches!(row.read, Some(Read::Model)));
    let is_module = task == Task::Module;
    let is_code = matches!(write, Some(Write::C(_) | Write::Object(_)));
    let scopes: [(&[&str], bool, &str); 12] = [
        (
            &lowering,
            lowers,
            "`--to mil`, `--to mil-primer` and `--to mlpackage`",
        ),
        (
            &["all-ops"],
            matches!(write, Some(Write::Drawing(_))),
            "`--to dot`, `--to svg` and `--to html`",
        ),
        (
            &["opset"],
            lowers || matches!(write, Some(Write::Binary(_))),
            "`--to mil`, `--to mil-primer`, `--to mlpackage` and `--to onnx`",
        ),
        (
            &["external-data"],
            matches!(write, Some(Write::Binary(_))),
            "`--to onnx`",
        ),
        (
            &["function"],
            is_module && is_code,
            "`--to c` of a module, `--to object` and `--to so`",
        ),
        (
            &["main"],
            is_module && matches!(write, Some(Write::C(_))),
            "`--to c` of a module",
        ),
        (
            &["isa"],
            matches!(write, Some(Write::Object(_))),
            "`--to object` and `--to so`",
        ),
        (
            &["object-format"],
            matches!(write, Some(Write::Object(Linking::Object))),
            "`--to object`",
        ),
        (
            &["capacity"],
            task == Task::ModelAsC,
            "`--to c` of a model, which `--from hf` and `--from irv2` read",
        ),
        (
            &["kernel-maps"],
            task == Task::ModelAsC || task == Task::Description || is_module && reads_model,
            "models, which `--from hf` and `--from irv2` read",
        ),
        (
            &["weights", "allow-unknown"],
            task == Task::Description || task == Task::ModelAsC || is_module && reads_model,
            "`--to irv2`, to `--to c` of a model, and to modules of a model that `--from hf` reads",
        ),
        (
            &[
                "patch",
                "dim",
                "bind",
                "pass-pipeline",
                "profile",
                "keep-padding",
                "no-input-limits",
            ],
            is_module,
            "modules, not to the description of a model",
        ),
    ];
    for (options, applies, scope) in scopes {
        let given = |option: &&&str| matches.value_source(option) == Some(ValueSource::CommandLine);
        if let Some(option) = options.iter().find(given)
            && !applies
        {
            return Err(format!("`--{option}` applies only to {scope}"));
        }
    }
    Ok(())
}
