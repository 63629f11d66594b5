//! Pipeline text: `canonicalize,fuse{max-iters=8},cse`.

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_ir::opdef::nearest;

use crate::{OptionKind, Options, PassInfo, PassRegistry};

/// Passes to run in order.
#[derive(Clone, Default)]
pub struct Pipeline {
    /// The steps in order.
    pub steps: Vec<Step>,
}

/// A pass with its options.
#[derive(Clone)]
pub struct Step {
    /// The pass's row.
    pub pass: &'static PassInfo,
    /// Its options, complete.
    pub options: Options,
}

impl Pipeline {
    /// Returns pipeline text that parses back to this, with all defaults written out.
    pub fn text(&self) -> String {
        let steps = self.steps.iter();
        let steps = steps.map(|step| format!("{}{}", step.pass.name, step.options.pipeline_text()));
        steps.collect::<Vec<_>>().join(",")
    }
}

/// The ops that MLIR's pipelines name around their passes, for example in `builtin.module(cse)`. They change nothing,
/// because every pass here runs on a module.
const ANCHORS: [&str; 4] = ["builtin.module", "func.func", "module", "any"];

/// Parses pipeline text: pass names separated by commas, each with options in braces, separated by blanks; for example
/// `fuse{max-iters=8}`. Ops around the passes, as MLIR names them, are allowed. Spans in the errors are into `text`.
///
/// # Errors
///
/// Returns all errors: unknown passes and options, values of the wrong type, and syntax errors.
pub fn parse_pipeline(text: &str, registry: &PassRegistry) -> Result<Pipeline, Diagnostics> {
    let mut parser = Parser {
        text,
        at: 0,
        registry,
        found: Diagnostics::new(),
    };
    let pipeline = parser.pipeline();
    if parser.found.has_errors() {
        Err(parser.found)
    } else {
        Ok(pipeline)
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    registry: &'t PassRegistry,
    found: Diagnostics,
}

impl<'t> Parser<'t> {
    fn pipeline(&mut self) -> Pipeline {
        let (mut steps, mut depth) = (Vec::new(), 0usize);
        loop {
            while self.anchor() {
                depth += 1;
            }
            self.blanks();
            // `builtin.module()` runs nothing.
            let is_empty = depth > 0 && self.text[self.at..].starts_with(')');
            if !is_empty && let Some(step) = self.step() {
                steps.push(step);
            }
            self.blanks();
            while depth > 0 && self.eat(')') {
                depth -= 1;
                self.blanks();
            }
            if self.at == self.text.len() {
                if depth > 0 {
                    self.error(self.at..self.at + 1, "expected `)`");
                }
                return Pipeline { steps };
            }
            if !self.eat(',') {
                self.error(self.at..self.text.len(), "expected `,` between passes");
                return Pipeline { steps };
            }
        }
    }

    /// Reads the beginning of `builtin.module(...)`; whether there was one.
    fn anchor(&mut self) -> bool {
        let before = self.at;
        let (start, name) = self.word();
        self.blanks();
        if name.is_empty() || !self.eat('(') {
            self.at = before;
            return false;
        }
        if !ANCHORS.contains(&name) {
            let message = format!("`{name}` does not hold passes");
            let help = "passes run on a module: write their names alone, or `builtin.module(...)` around them";
            self.error_with_help(start..start + name.len(), message, help.to_owned());
        }
        true
    }

    fn step(&mut self) -> Option<Step> {
        let (start, name) = self.word();
        if name.is_empty() {
            self.error(start..start + 1, "expected the name of a pass");
            return None;
        }
        let pass = self.registry.get(name);
        if pass.is_none() {
            let names = self.registry.iter().map(|info| info.name);
            let help = match nearest(name, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`--list-passes` lists all passes".to_owned(),
            };
            let message = format!("no pass is called `{name}`");
            self.error_with_help(start..start + name.len(), message, help);
        }
        let written = self.options(pass);
        pass.map(|pass| Step {
            pass,
            options: Options::new(pass, &written),
        })
    }

    fn options(&mut self, pass: Option<&'static PassInfo>) -> Vec<(String, String)> {
        let mut written = Vec::new();
        if !self.eat('{') {
            return written;
        }
        loop {
            self.blanks();
            if self.eat('}') {
                return written;
            }
            let (start, name) = self.word();
            if name.is_empty() {
                self.error(start..start + 1, "expected an option or `}`");
                self.at = self.text.len();
                return written;
            }
            let value = if self.eat('=') { self.word().1 } else { "true" };
            let place = start..self.at;
            if let Some(pass) = pass
                && self.admits(pass, name, value, place)
            {
                written.push((name.to_owned(), value.to_owned()));
            }
        }
    }

    fn admits(
        &mut self,
        pass: &PassInfo,
        name: &str,
        value: &str,
        place: std::ops::Range<usize>,
    ) -> bool {
        let Some(option) = pass.options.iter().find(|option| option.name == name) else {
            let names: Vec<&str> = pass.options.iter().map(|option| option.name).collect();
            let help = match (nearest(name, names.iter().copied()), names.is_empty()) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, true) => format!("`{}` has no options", pass.name),
                (None, false) => format!("its options are {}", names.join(", ")),
            };
            let message = format!("`{}` has no option `{name}`", pass.name);
            self.error_with_help(place, message, help);
            return false;
        };
        if option.kind.admits(value) {
            return true;
        }
        let message = format!("`{name}` of `{}` takes {}", pass.name, option.kind.text());
        let help = match option.kind {
            OptionKind::Extents => "an extent is a number above 0".to_owned(),
            OptionKind::Count | OptionKind::Flag => format!("its default is {}", option.default),
            OptionKind::Word(words) => match nearest(value, words.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("its default is {}", option.default),
            },
        };
        self.error_with_help(place, message, help);
        false
    }

    fn word(&mut self) -> (usize, &'t str) {
        self.blanks();
        let (start, rest) = (self.at, &self.text[self.at..]);
        let end = rest
            .find([',', '{', '}', '(', ')', '=', ' ', '\t', '\n'])
            .unwrap_or(rest.len());
        self.at += end;
        (start, &rest[..end])
    }

    fn blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, expected: char) -> bool {
        let found = self.text[self.at..].starts_with(expected);
        self.at += if found { expected.len_utf8() } else { 0 };
        found
    }

    fn error(&mut self, place: std::ops::Range<usize>, message: impl Into<String>) {
        self.found.push(Diagnostic::error(span(place), message));
    }

    fn error_with_help(&mut self, place: std::ops::Range<usize>, message: String, help: String) {
        self.found
            .push(Diagnostic::error(span(place), message).help(help));
    }
}

fn span(place: std::ops::Range<usize>) -> Span {
    Span::new(place.start as u32, place.end.max(1) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Changed, OptionInfo, Pass, PassCx, PassError};
    use mind_ir::Graph;

    struct Nothing;

    impl Pass for Nothing {
        fn run(&self, _: &mut Graph, _: &mut PassCx<'_>) -> Result<Changed, PassError> {
            Ok(Changed::No)
        }
    }

    const fn info(name: &'static str, options: &'static [OptionInfo]) -> PassInfo {
        let make: fn(&Options) -> Box<dyn Pass> = |_| Box::new(Nothing);
        PassInfo {
            name,
            alias: None,
            summary: "",
            example: "",
            options,
            enters_regions: false,
            make,
        }
    }

    static ITERS: OptionInfo = OptionInfo {
        name: "max-iters",
        kind: OptionKind::Count,
        default: "8",
        summary: "",
    };
    static PASSES: [PassInfo; 2] = [info("cse", &[]), info("fuse", std::slice::from_ref(&ITERS))];
    static REGISTRY: PassRegistry = PassRegistry::new(&[&PASSES]);

    fn messages(text: &str) -> Vec<(u32, String, Option<String>)> {
        let found = parse_pipeline(text, &REGISTRY).err().expect("an error");
        let found = found
            .iter()
            .map(|d| (d.span.start, d.message.clone(), d.help.clone()));
        found.collect()
    }

    #[test]
    fn parses_names_and_options_and_prints_them_back() {
        let pipeline = parse_pipeline(" cse , fuse{ max-iters=3 },fuse", &REGISTRY)
            .ok()
            .unwrap();
        assert_eq!(pipeline.text(), "cse,fuse{max-iters=3},fuse{max-iters=8}");
        assert_eq!(pipeline.steps[1].options.count("max-iters"), 3);
    }

    #[test]
    fn ops_around_passes_change_nothing() {
        let text = |text: &str| parse_pipeline(text, &REGISTRY).ok().unwrap().text();
        assert_eq!(text("builtin.module(cse)"), "cse");
        let nested = "any( builtin.module ( func.func(cse , fuse{max-iters=1}) ), cse ),cse";
        assert_eq!(text(nested), "cse,fuse{max-iters=1},cse,cse");
        assert_eq!(text("builtin.module()"), "");
        assert_eq!(messages("builtin.module(cse")[0].1, "expected `)`");
        assert_eq!(messages("cse(cse)")[0].1, "`cse` does not hold passes");
        assert_eq!(messages("cse)")[0].1, "expected `,` between passes");
        let deep = format!("{}cse{}", "any(".repeat(100_000), ")".repeat(100_000));
        assert_eq!(text(&deep), "cse");
    }

    #[test]
    fn names_every_mistake_with_a_way_out() {
        let help = |text: &str| Some(text.to_owned());
        assert_eq!(
            messages("fsue,cse{x=1},fuse{max-iter=1 max-iters=no}"),
            [
                (
                    0,
                    "no pass is called `fsue`".into(),
                    help("did you mean `fuse`?")
                ),
                (
                    9,
                    "`cse` has no option `x`".into(),
                    help("`cse` has no options")
                ),
                (
                    19,
                    "`fuse` has no option `max-iter`".into(),
                    help("did you mean `max-iters`?")
                ),
                (
                    30,
                    "`max-iters` of `fuse` takes a count".into(),
                    help("its default is 8")
                ),
            ]
        );
    }

    #[test]
    fn broken_syntax_is_an_error() {
        assert_eq!(messages("cse,,cse")[0].1, "expected the name of a pass");
        assert_eq!(
            messages("fuse{max-iters=1")[0].1,
            "expected an option or `}`"
        );
        assert_eq!(messages("cse}")[0].1, "expected `,` between passes");
        assert_eq!(messages("")[0].1, "expected the name of a pass");
    }
}
