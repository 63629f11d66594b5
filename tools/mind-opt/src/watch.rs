//! Timing of passes and printing between them.

use std::time::Duration;

use clap::ArgMatches;
use mind_cli::diff;
use mind_diag::{Diagnostic, Span};
use mind_driver::formats::{Format, Formats};
use mind_driver::host::Host;
use mind_ir::Graph;
use mind_ir::listener::{Listener, Rewrite, RuleTime};
use mind_pass::{Changed, Drawing, Instrument, PassInfo, PipelineEvent};

use super::report::Recording;
use super::rewrites::Rewrites;

/// Selection of the modules printed between passes.
#[derive(Clone, Debug, Default)]
pub(super) struct Printing {
    before: Vec<String>,
    after: Vec<String>,
    after_all: bool,
    after_change: bool,
    tree_dir: Option<String>,
}

impl Printing {
    pub(super) fn of(matches: &ArgMatches) -> Printing {
        let names = |id: &str| -> Vec<String> {
            matches
                .get_many(id)
                .into_iter()
                .flatten()
                .cloned()
                .collect()
        };
        Printing {
            before: names("print-ir-before"),
            after: names("print-ir-after"),
            after_all: matches.get_flag("print-ir-after-all"),
            after_change: matches.get_flag("print-ir-after-change"),
            tree_dir: matches.get_one("print-ir-tree-dir").cloned(),
        }
    }
}

/// The time of one step.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    pub(super) name: String,
    pub(super) time: Duration,
    /// CPU time on all threads, if the host knows it.
    pub(super) cpu: Option<Duration>,
}

/// Instrument that times stages, prints modules and observes rewrites.
pub(super) struct Watch<'a, 'f> {
    pub(super) host: &'a mut dyn Host,
    pub(super) rewrites: &'a mut Rewrites<'f>,
    formats: &'a Formats,
    printing: &'a Printing,
    /// Whether the input of each pass is kept for a crash reproducer.
    keep_input: bool,
    /// Number of passes run on all parts of the input.
    pub(super) step: usize,
    /// Number of passes run on the current part of the input.
    pub(super) done: usize,
    /// The input of the last pass, if kept.
    pub(super) input: String,
    before: String,
    started: Duration,
    /// The CPU time at `started`.
    started_cpu: Option<Duration>,
    /// The times of steps, in order.
    pub(super) times: Vec<Timed>,
    /// The time spent printing between passes, which is not part of any pass.
    pub(super) printing_time: Duration,
    /// The recording for `--report`.
    pub(super) recording: Option<Recording>,
}

impl<'a, 'f> Watch<'a, 'f> {
    pub(super) fn new(
        host: &'a mut dyn Host,
        rewrites: &'a mut Rewrites<'f>,
        formats: &'a Formats,
        printing: &'a Printing,
        keep_input: bool,
        step: usize,
    ) -> Watch<'a, 'f> {
        let (started, started_cpu) = (host.now(), host.cpu());
        Watch {
            host,
            rewrites,
            formats,
            printing,
            keep_input,
            step,
            done: 0,
            input: String::new(),
            before: String::new(),
            started,
            started_cpu,
            times: Vec::new(),
            printing_time: Duration::ZERO,
            recording: None,
        }
    }

    /// Records the time since the last mark.
    pub(super) fn mark(&mut self, name: impl Into<String>) {
        let (before, cpu_before) = (self.started, self.started_cpu);
        self.restart();
        let cpu = self.started_cpu.zip(cpu_before);
        self.times.push(Timed {
            name: name.into(),
            time: self.started.saturating_sub(before),
            cpu: cpu.map(|(now, before)| now.saturating_sub(before)),
        });
    }

    /// Restarts the clock.
    fn restart(&mut self) {
        self.started = self.host.now();
        self.started_cpu = self.host.cpu();
    }

    fn text(&self, g: &Graph) -> String {
        self.formats
            .print(Format::Core, g)
            .unwrap_or_else(|_| "# this cannot be printed".to_owned())
    }

    fn dump(&mut self, title: &str, text: &str) {
        let text: String = text.lines().map(|line| elide(line) + "\n").collect();
        mind_cli::print_error(self.host, &format!("# ----- {title} -----\n{text}\n"));
    }

    fn before(&mut self, pass: &PassInfo, g: &Graph) {
        if let Some(recording) = &mut self.recording {
            recording.before(pass.name, self.formats, g, self.rewrites.history.len());
        }
        let wanted = self.printing.before.iter().any(|name| name == pass.name);
        if wanted || self.printing.after_change || self.keep_input {
            self.before = self.text(g);
        }
        if self.keep_input {
            self.input.clone_from(&self.before);
        }
        if wanted {
            let text = self.before.clone();
            self.dump(&format!("before {}", pass.name), &text);
        }
    }

    fn after(&mut self, pass: &PassInfo, changed: Changed, g: &Graph) {
        if let Some(recording) = &mut self.recording {
            let time = self.times.last().map_or(Duration::ZERO, |timed| timed.time);
            recording.after(self.formats, g, changed, time, self.rewrites.history.len());
        }
        let wanted = self.printing.after_all || self.printing.after.iter().any(|n| n == pass.name);
        if wanted {
            let text = self.text(g);
            self.dump(&format!("after {}", pass.name), &text);
        }
        if self.printing.after_change {
            self.diff(pass, changed, g);
        }
        if let Some(dir) = &self.printing.tree_dir {
            let path =
                std::path::Path::new(dir).join(format!("{:03}-{}.core", self.step, pass.name));
            let text = self.text(g);
            let made = self.host.create_dir(std::path::Path::new(dir));
            if let Err(error) = made.and_then(|()| self.host.write(&path, text.as_bytes())) {
                let message = format!("warning: {}: {error}\n", path.display());
                mind_cli::print_error(self.host, &message);
            }
        }
    }

    fn diff(&mut self, pass: &PassInfo, changed: Changed, g: &Graph) {
        let text = self.text(g);
        if text == self.before {
            let what = match changed {
                Changed::No => "no change",
                Changed::Yes => "no change in the text",
            };
            return mind_cli::print_error(self.host, &format!("# {}: {what}\n", pass.name));
        }
        let lines = |text: &str| {
            text.lines()
                .map(|line| elide(line) + "\n")
                .collect::<String>()
        };
        let (old, new) = (lines(&self.before), lines(&text));
        let before = format!("before {}", pass.name);
        let shown = diff::unified(&old, &new, (&before, "after"));
        mind_cli::print_error(self.host, &shown);
    }
}

impl Listener for Watch<'_, '_> {
    fn admits(&self, rules: &[&str]) -> bool {
        self.rewrites.bisect.admits(rules)
    }

    fn admit(&mut self, rules: &[&str]) -> bool {
        self.rewrites.bisect.admit(rules)
    }

    fn applied(&mut self, g: &Graph, rewrite: &Rewrite<'_>) {
        self.rewrites.applied(g, rewrite);
    }

    fn observes_missed(&self, rule: &str) -> bool {
        self.rewrites.observes_missed(rule)
    }

    fn missed(&mut self, span: Span, rule: &str, reason: &str) {
        self.rewrites.missed(span, rule, reason);
    }

    fn noted(&mut self, note: &Diagnostic) {
        self.rewrites.noted(note);
    }

    fn visit(&mut self, span: Span) {
        self.rewrites.at = span;
    }

    fn now(&self) -> Option<Duration> {
        self.rewrites.timed.then(|| self.host.now())
    }

    fn spent(&mut self, rule: &str, time: RuleTime) {
        self.rewrites.spent(rule, time);
    }
}

impl Instrument for Watch<'_, '_> {
    fn drawing(&mut self) -> Option<&mut Drawing> {
        let wanted = |drawing: &&mut Drawing| drawing.text.is_none();
        self.rewrites.drawing.as_mut().filter(wanted)
    }

    fn event(&mut self, event: PipelineEvent<'_>, g: &Graph) {
        match event {
            PipelineEvent::Before(pass) => {
                self.rewrites.enter(pass.name);
                let entered = self.host.now();
                self.before(pass, g);
                self.restart();
                self.printing_time += self.started.saturating_sub(entered);
            }
            PipelineEvent::After(pass, changed) => {
                self.mark(pass.name);
                let entered = self.started;
                self.after(pass, changed, g);
                self.step += 1;
                self.done += 1;
                self.restart();
                self.printing_time += self.started.saturating_sub(entered);
            }
            PipelineEvent::Verified(pass) => self.mark(format!("verify after {}", pass.name)),
        }
    }
}

/// Returns a line with the middle omitted if it is long.
fn elide(line: &str) -> String {
    const SHOWN: usize = 240;
    if line.chars().count() <= SHOWN {
        return line.to_owned();
    }
    let head: String = line.chars().take(SHOWN / 2).collect();
    let tail: String = line
        .chars()
        .skip(line.chars().count() - SHOWN / 4)
        .collect();
    format!("{head} ... {tail}")
}
