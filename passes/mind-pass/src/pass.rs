//! What a pass is.

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::Graph;
use mind_ir::opdef::Registry;
use mind_ir::verify::VerifyConfig;
use thiserror::Error;

use crate::{Instrument, RewriteOptions, RunCache, Statistics};

/// A transformation or check of a whole module.
pub trait Pass {
    /// Runs on `g` and says whether it changed anything.
    ///
    /// # Errors
    ///
    /// What stopped it. The module is then not used any further.
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError>;
}

/// Whether a pass changed the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Changed {
    /// The module is as it was.
    No,
    /// Something is different.
    Yes,
}

impl Changed {
    /// `Yes` when `changed`.
    pub fn when(changed: bool) -> Changed {
        if changed { Changed::Yes } else { Changed::No }
    }
}

/// What a pass may use besides the module.
pub struct PassCx<'a> {
    /// The ops of all dialects.
    pub registry: &'a Registry,
    /// What the user asked of rewriting.
    pub rewriting: &'a RewriteOptions,
    /// What passes share.
    pub shared: &'a RunCache,
    /// What the verifier checks besides the op tables.
    pub verify: &'a VerifyConfig,
    /// Whether the module is a region of control flow, whose inputs and outputs keep their types.
    pub is_region: bool,
    /// Counters, named by the pass.
    pub statistics: &'a mut Statistics,
    /// What is asked before rewrites and hears of them.
    pub watch: &'a mut dyn Instrument,
}

/// Why a pass gave up.
#[derive(Debug, Error)]
pub enum PassError {
    /// Rewriting went on past its bound.
    #[error("no fixpoint after {rewrites} rewrites; the last rules were {last}")]
    NotConverged {
        /// How many rewrites were made.
        rewrites: usize,
        /// The names of the last rules that acted.
        last: String,
    },
    /// The input is not what the pass takes.
    #[error("{}", .0.message)]
    Rejected(Box<Diagnostic>),
    /// The module breaks rules of its ops.
    #[error("the module breaks {} rules", .0.error_count())]
    Invalid(Diagnostics),
}

/// The row of a pass.
pub struct PassInfo {
    /// The name in flags and pipeline text.
    pub name: &'static str,
    /// Another spelling of the name.
    pub alias: Option<&'static str>,
    /// One sentence on what it does.
    pub summary: &'static str,
    /// The flags to type, with an option where it has some.
    pub example: &'static str,
    /// Its options.
    pub options: &'static [OptionInfo],
    /// Whether it also runs on the regions of control flow, each as a module of its own, before the module.
    pub enters_regions: bool,
    /// Makes the pass. The options have been checked against the row.
    pub make: fn(&Options) -> Box<dyn Pass>,
}

/// An option of a pass.
#[derive(Debug)]
pub struct OptionInfo {
    /// The name in flags and pipeline text.
    pub name: &'static str,
    /// What it takes.
    pub kind: OptionKind,
    /// Its value where none is written, as text.
    pub default: &'static str,
    /// One sentence on what it does.
    pub summary: &'static str,
}

/// What an option takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionKind {
    /// A count from 0.
    Count,
    /// `true` or `false`; the name alone means `true`.
    Flag,
    /// One of the listed words.
    Word(&'static [&'static str]),
    /// Extents by name, joined by `+`: `B:32+S:128`; nothing for none.
    Extents,
}

impl OptionKind {
    /// What it takes, in words.
    pub fn text(self) -> String {
        match self {
            OptionKind::Count => "a count".to_owned(),
            OptionKind::Flag => "true or false".to_owned(),
            OptionKind::Word(words) => format!("one of {}", words.join(", ")),
            OptionKind::Extents => "extents by name, as in B:32+S:128".to_owned(),
        }
    }

    /// Whether `value` is one of those.
    pub fn admits(self, value: &str) -> bool {
        match self {
            OptionKind::Count => value.parse::<usize>().is_ok(),
            OptionKind::Flag => matches!(value, "true" | "false"),
            OptionKind::Word(words) => words.contains(&value),
            OptionKind::Extents => parse_extents(value).is_some(),
        }
    }
}

/// The option values of one step, complete and checked against the pass's row.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    values: Vec<(&'static str, String)>,
}

impl Options {
    /// The defaults of `info`, overridden by `written`. Panics on names or values the row refuses.
    pub fn new(info: &PassInfo, written: &[(String, String)]) -> Options {
        let value = |option: &OptionInfo| {
            let given = written.iter().rev().find(|(name, _)| name == option.name);
            let value = given.map_or(option.default, |(_, value)| value.as_str());
            assert!(option.kind.admits(value), "{}: {value}", option.name);
            (option.name, value.to_owned())
        };
        Options {
            values: info.options.iter().map(value).collect(),
        }
    }

    /// The value of a `Count` option. Panics when the row has no such option.
    pub fn count(&self, name: &str) -> usize {
        self.text(name).parse().expect("a checked count")
    }

    /// The value of a `Flag` option. Panics when the row has no such option.
    pub fn flag(&self, name: &str) -> bool {
        self.text(name) == "true"
    }

    /// The value of an `Extents` option, in the order written. Panics when the row has no such option.
    pub fn extents(&self, name: &str) -> Vec<(String, i64)> {
        parse_extents(self.text(name)).expect("checked extents")
    }

    /// The value of a `Word` option. Panics when the row has no such option.
    pub fn text(&self, name: &str) -> &str {
        let found = self.values.iter().find(|(own, _)| *own == name);
        &found.expect("an option of the pass's row").1
    }

    /// The options as pipeline text, defaults included: `{max-iters=8}`; empty without options.
    pub fn pipeline_text(&self) -> String {
        if self.values.is_empty() {
            return String::new();
        }
        let pairs = self
            .values
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        format!("{{{}}}", pairs.collect::<Vec<_>>().join(" "))
    }
}

/// The names and extents of `B:32+S:128`; `None` for another text.
fn parse_extents(text: &str) -> Option<Vec<(String, i64)>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let pair = |part: &str| {
        let (name, extent) = part.split_once(':')?;
        let extent = extent.parse().ok().filter(|&extent: &i64| extent >= 0)?;
        (!name.is_empty()).then(|| (name.to_owned(), extent))
    };
    text.split('+').map(pair).collect()
}
