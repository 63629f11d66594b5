//! The interface of passes.

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::Graph;
use mind_ir::opdef::Registry;
use mind_ir::verify::VerifyConfig;
use thiserror::Error;

use crate::{Instrument, RewriteOptions, RunCache, Statistics};

/// A transformation or check of a whole module.
pub trait Pass {
    /// Replaces ops of `g` by ones with regions, before the pass enters regions: those of the new ops are entered, too.
    ///
    /// # Errors
    ///
    /// Errors if the pass fails. The module must not be used after that.
    fn prepare(&self, _: &mut Graph) -> Result<Changed, PassError> {
        Ok(Changed::No)
    }

    /// Runs on `g` and returns whether it changed anything.
    ///
    /// # Errors
    ///
    /// Errors if the pass fails. The module must not be used after that.
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
    /// Returns `Yes` if `changed`.
    pub fn when(changed: bool) -> Changed {
        if changed { Changed::Yes } else { Changed::No }
    }
}

/// The context of a pass.
pub struct PassCx<'a> {
    /// The ops of all dialects.
    pub registry: &'a Registry,
    /// The user's rewrite options.
    pub rewriting: &'a RewriteOptions,
    /// Caches shared by passes.
    pub shared: &'a RunCache,
    /// Checks of the verifier beyond the op tables.
    pub verify: &'a VerifyConfig,
    /// Whether the module is a region of a control flow op; the types of its inputs and outputs must not change.
    pub is_region: bool,
    /// Counters, named by the pass.
    pub statistics: &'a mut Statistics,
    /// Called before and after each rewrite.
    pub watch: &'a mut dyn Instrument,
}

/// Why a pass failed.
#[derive(Debug, Error)]
pub enum PassError {
    /// Rewriting exceeded its bound, because rules undo each other or grow the module.
    #[error("no fixpoint after {rewrites} rewrites; the last rules were {last}")]
    NotConverged {
        /// The number of rewrites.
        rewrites: usize,
        /// The names of the last rules that were applied.
        last: String,
    },
    /// The pass does not support the input.
    #[error("{}", .0.message)]
    Rejected(Box<Diagnostic>),
    /// The module is invalid.
    #[error("the module breaks {} rules", .0.error_count())]
    Invalid(Diagnostics),
}

/// The table row of a pass.
pub struct PassInfo {
    /// The name in flags and pipeline text.
    pub name: &'static str,
    /// An alternative spelling of the name.
    pub alias: Option<&'static str>,
    /// A one-sentence description.
    pub summary: &'static str,
    /// An example of its flags, with an option if it has one.
    pub example: &'static str,
    /// Its options.
    pub options: &'static [OptionInfo],
    /// Whether it also runs on the regions of control flow ops, each as a module, before the enclosing module.
    pub enters_regions: bool,
    /// Creates the pass. The options have been checked against the row.
    pub make: fn(&Options) -> Box<dyn Pass>,
}

/// An option of a pass.
#[derive(Debug)]
pub struct OptionInfo {
    /// The name in flags and pipeline text.
    pub name: &'static str,
    /// The type of its value.
    pub kind: OptionKind,
    /// The default value, as text.
    pub default: &'static str,
    /// A one-sentence description.
    pub summary: &'static str,
}

/// The type of an option's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionKind {
    /// An integer ≥ 0.
    Count,
    /// `true` or `false`; without a value it means `true`.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Extents by name, joined by `+`, for example `B:32+S:128`; may be empty.
    Extents,
}

impl OptionKind {
    /// Returns the type in words.
    pub fn text(self) -> String {
        match self {
            OptionKind::Count => "a count".to_owned(),
            OptionKind::Flag => "true or false".to_owned(),
            OptionKind::Word(words) => format!("one of {}", words.join(", ")),
            OptionKind::Extents => "extents by name, as in B:32+S:128".to_owned(),
        }
    }

    /// Returns whether `value` is of the type.
    pub fn admits(self, value: &str) -> bool {
        match self {
            OptionKind::Count => value.parse::<usize>().is_ok(),
            OptionKind::Flag => matches!(value, "true" | "false"),
            OptionKind::Word(words) => words.contains(&value),
            OptionKind::Extents => parse_extents(value).is_some(),
        }
    }
}

/// The option values of one step, with defaults, checked against the pass's row.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    values: Vec<(&'static str, String)>,
}

impl Options {
    /// Returns the defaults of `info`, overridden by `written`. Panics on names or values that the row does not allow.
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

    /// Returns the value of a `Count` option. Panics if the row has no such option.
    pub fn count(&self, name: &str) -> usize {
        self.text(name).parse().expect("a checked count")
    }

    /// Returns the value of a `Flag` option. Panics if the row has no such option.
    pub fn flag(&self, name: &str) -> bool {
        self.text(name) == "true"
    }

    /// Returns the value of an `Extents` option, in order. Panics if the row has no such option.
    pub fn extents(&self, name: &str) -> Vec<(String, i64)> {
        parse_extents(self.text(name)).expect("checked extents")
    }

    /// Returns the value of a `Word` option. Panics if the row has no such option.
    pub fn text(&self, name: &str) -> &str {
        let found = self.values.iter().find(|(own, _)| *own == name);
        &found.expect("an option of the pass's row").1
    }

    /// Returns the options as pipeline text including defaults, for example `{max-iters=8}`; empty without options.
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

/// Parses names and extents, for example `B:32+S:128`; returns `None` for other text.
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
