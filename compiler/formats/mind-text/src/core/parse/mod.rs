//! Parses a module.

mod attrs;
mod body;
mod constant;
mod header;
mod instruction;
mod interface;
mod literal;
mod report;
mod source;
mod suggest;
mod value;

use mind_diag::{Diagnostics, Span};
use mind_ir::ValueId;
use mind_ir::graph::Graph;

use super::cursor::Cursor;
use super::error::{Parsed, SyntaxError};
use super::labels::Labels;
use super::table::OpTable;
use crate::foreign::mlir_line;
use crate::limits::Limits;
use crate::source_map::SourceMap;
use attrs::Attributes;
use body::{Body, BodyProgress};
use header::Header;
use report::Report;
use source::Source;

/// Keywords of lines that are not instructions.
const KEYWORDS: [&str; 6] = [
    "args",
    "yield",
    "metadata",
    "input",
    "classifier",
    "outputs",
];

/// Parses a module whose first byte is at `base`.
pub(super) fn parse(
    table: &OpTable,
    text: &str,
    base: u32,
    limits: &Limits,
    map: Option<&mut SourceMap>,
) -> Result<Graph, Diagnostics> {
    let limit = limits.bytes.min(u64::from(u32::MAX - base));
    if text.len() as u64 > limit {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        return Err(SyntaxError::Limit {
            limit,
            what: "bytes",
        }
        .diagnostic(Span::FILE)
        .into());
    }
    let mut graph = Graph::new();
    graph.reserve((text.len() / 48).min(limits.nodes));
    let module = Body::module(&graph);
    let mut parser = Parser {
        table,
        src: Source {
            cursor: Cursor::new(text),
            graph,
            limits,
            suggest: true,
            base,
            map,
        },
        header: Header::default(),
        attrs: Attributes::default(),
        bytes: Vec::new(),
        values: Vec::new(),
        labels: Labels::default(),
        report: Report::new(base),
        bodies: vec![module],
        scopes: 0,
        nodes: 0,
    };
    parser.run();
    if parser.report.is_empty() {
        return Ok(parser.src.graph);
    }
    if let Some((at, len)) = mlir_line(text) {
        let span = parser.report.span(at, at + len);
        return Err(SyntaxError::Mlir.diagnostic(span).into());
    }
    Err(parser.report.finish(text, &parser.labels))
}

/// State of parsing a module.
struct Parser<'t> {
    table: &'t OpTable,
    src: Source<'t>,
    header: Header,
    attrs: Attributes,
    /// The elements of the constant being read.
    bytes: Vec<u8>,
    /// The operands of the line being read.
    values: Vec<ValueId>,
    labels: Labels,
    report: Report,
    /// The open bodies, outermost first; the first is the module's own.
    bodies: Vec<Body>,
    /// Number of bodies opened so far.
    scopes: u32,
    nodes: usize,
}

impl Parser<'_> {
    fn run(&mut self) {
        let mut lines = 0;
        while !self.src.cursor.is_done() {
            lines += 1;
            let start = self.src.cursor.at();
            let limit = self.src.limits.lines;
            let (module_ended, scopes) = (self.module_ended(), self.scopes);
            let read = match self.src.cursor.at_line_end() {
                _ if lines > limit => Err(SyntaxError::Limit {
                    limit,
                    what: "lines",
                }
                .at(start, self.src.cursor.token_end(start))),
                true => Ok(()),
                false => self.line(),
            };
            if let Err(fault) = read {
                self.report.add(&fault);
                self.src.suggest = self.report.has_room();
                if module_ended || fault.error.is_fatal() {
                    return;
                }
                self.src.cursor.seek(start);
                if self.scopes == scopes && self.src.cursor.line_opens_body() {
                    self.open_rejected(start);
                }
            }
            self.src.cursor.next_line();
        }
        if let Some(fault) = self.open_body_fault() {
            self.report.add(&fault);
        }
    }

    /// Returns whether the module's last line was read.
    fn module_ended(&self) -> bool {
        self.bodies.len() == 1 && self.bodies[0].progress == BodyProgress::Ended
    }

    /// Reads a line that is not blank.
    fn line(&mut self) -> Parsed<()> {
        let next = self.src.cursor.peek();
        if next == b'}' {
            return self.close_body();
        }
        let start = self.src.cursor.at();
        let keyword = if next == b'%' { None } else { self.keyword()? };
        if self.body().progress == BodyProgress::Ended {
            let unclosed = self.bodies.len() > 1 && matches!(keyword, Some("outputs"));
            if !unclosed {
                self.after_end(start)?;
            }
        }
        match keyword {
            Some("args") => self.arguments(start),
            Some("yield") => self.end_body(start),
            Some("metadata") => self.metadata(start),
            Some("input") => self.input_feature(start),
            Some("classifier") => self.classifier(start),
            Some(_) => self.outputs(start),
            None => self.instruction(),
        }
    }

    /// Reads the keyword of a line such as `outputs: %1`, with its colon.
    fn keyword(&mut self) -> Parsed<Option<&'static str>> {
        let start = self.src.cursor.at();
        let word = self.src.cursor.op_name()?;
        let keyword = KEYWORDS.into_iter().find(|&known| Some(known) == word);
        if keyword.is_some() && self.src.cursor.eat(b':') {
            return Ok(keyword);
        }
        self.src.cursor.seek(start);
        Ok(None)
    }

    fn end_line(&mut self) -> Parsed<()> {
        if self.src.cursor.at_line_end() {
            Ok(())
        } else {
            Err(self.src.cursor.unexpected("the end of the line"))
        }
    }

    /// Counts `count` more values, or one for an op without results.
    fn count_nodes(&mut self, count: usize, start: usize) -> Parsed<()> {
        self.nodes += count.max(1);
        let limit = self.src.limits.nodes;
        if self.nodes > limit {
            Err(SyntaxError::Limit {
                limit,
                what: "values",
            }
            .at(start, self.src.cursor.at()))
        } else {
            Ok(())
        }
    }
}
