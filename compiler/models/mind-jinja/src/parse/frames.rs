//! Variables that are undefined until their frame assigns them.
//!
//! jinja2 binds names while it compiles a template: a name belongs to the innermost frame that mentions it outside of its inner
//! frames. If the first mention is an assignment and no enclosing frame mentions the name, the variable is undefined until
//! then, in inner frames too. If the assignment is in a branch of an `if`, the variable has the value that the caller of the
//! template gives it until then (jinja2 3.1, `idtracking.py`).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Parsed;
use crate::ast::{Args, Body, Expr, ExprKind, Filter, MacroBody, MacroNode, Node, Target};

/// Sets [`Body::unassigned`] of all frames of a template.
pub(super) fn mark_unassigned(parsed: &mut Parsed) {
    let mut pass = Pass {
        macros: &mut parsed.macros,
        enclosing: BTreeMap::new(),
    };
    pass.frame(&mut parsed.body, Mentions::default());
}

/// How a frame mentions a name first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mention {
    /// An assignment outside of branches.
    Assigned,
    /// A read, a parameter, or an assignment in a branch.
    Other,
}

/// The names that a frame mentions outside of its inner frames.
#[derive(Default)]
struct Mentions {
    first: BTreeMap<String, Mention>,
    /// How many `if` blocks are around the current node.
    branches: usize,
}

struct Pass<'p> {
    macros: &'p mut Vec<MacroBody>,
    /// The number of enclosing frames that mention a name.
    enclosing: BTreeMap<String, usize>,
}

impl Pass<'_> {
    /// Visits the frame of `body`, whose parameters and defaults are in `mentions`, and its inner frames.
    fn frame(&mut self, body: &mut Body, mentions: Mentions) {
        self.frame_with_filters(body, mentions, &[]);
    }

    /// As [`Pass::frame`], with filters that are applied within the frame once the body was rendered.
    fn frame_with_filters(&mut self, body: &mut Body, mut mentions: Mentions, filters: &[Filter]) {
        mentions.nodes(&body.nodes, self.macros);
        mentions.filters(filters);
        let is_unassigned = |(name, mention): &(&String, &Mention)| {
            **mention == Mention::Assigned && !self.enclosing.contains_key(*name)
        };
        let unassigned = mentions.first.iter().filter(is_unassigned);
        let unassigned: BTreeSet<String> = unassigned.map(|(name, _)| name.clone()).collect();
        body.unassigned = Rc::new(unassigned);
        for name in mentions.first.keys() {
            *self.enclosing.entry(name.clone()).or_default() += 1;
        }
        self.inner_frames(&mut body.nodes);
        for name in mentions.first.keys() {
            if let Some(count) = self.enclosing.get_mut(name) {
                *count -= 1;
                if *count == 0 {
                    self.enclosing.remove(name);
                }
            }
        }
    }

    fn inner_frames(&mut self, nodes: &mut [Node]) {
        for node in nodes {
            match node {
                Node::If(own) => {
                    for (_, body) in &mut own.branches {
                        self.inner_frames(body);
                    }
                    self.inner_frames(&mut own.otherwise);
                }
                Node::For(own) => {
                    let mut mentions = Mentions::default();
                    mentions.other("loop");
                    mentions.parameter(&own.target);
                    self.frame(&mut own.body, mentions);
                    self.frame(&mut own.otherwise, Mentions::default());
                }
                // jinja2 does not look for names in filters of this block.
                Node::SetBlock(_, _, body) | Node::Scope(body) => {
                    self.frame(body, Mentions::default());
                }
                Node::FilterBlock(filters, body, _) => {
                    self.frame_with_filters(body, Mentions::default(), filters);
                }
                Node::With(pairs, body) => {
                    let mut mentions = Mentions::default();
                    for (target, _) in pairs {
                        mentions.parameter(target);
                    }
                    self.frame(body, mentions);
                }
                Node::Macro(own) | Node::CallBlock(own, _) => self.macro_frame(own),
                Node::Block(body, _) => {
                    let enclosing = std::mem::take(&mut self.enclosing);
                    self.frame(body, Mentions::default());
                    self.enclosing = enclosing;
                }
                Node::Text(_) | Node::Print(_) | Node::Set(..) | Node::Break | Node::Continue => {}
            }
        }
    }

    fn macro_frame(&mut self, own: &MacroNode) {
        let own = own.index;
        let mut mentions = Mentions::default();
        for (name, _) in &self.macros[own].parameters {
            mentions.other(name);
        }
        for (_, default) in &self.macros[own].parameters {
            default.iter().for_each(|own| mentions.expr(own));
        }
        let special = ["varargs", "kwargs", "caller"].iter();
        for (name, is_read) in special.zip(self.macros[own].reads) {
            if is_read {
                mentions.other(name);
            }
        }
        let mut body = std::mem::take(&mut self.macros[own].body);
        self.frame(&mut body, mentions);
        self.macros[own].body = body;
    }
}

impl Mentions {
    fn other(&mut self, name: &str) {
        if !self.first.contains_key(name) {
            self.first.insert(name.to_owned(), Mention::Other);
        }
    }

    fn assigned(&mut self, name: &str) {
        if self.branches > 0 {
            self.other(name);
        } else if !self.first.contains_key(name) {
            self.first.insert(name.to_owned(), Mention::Assigned);
        }
    }

    /// The target of a loop or of `with`.
    fn parameter(&mut self, target: &Target) {
        match target {
            Target::Name(name) | Target::Attribute(name, ..) => self.other(name),
            Target::Tuple(all, _) => all.iter().for_each(|own| self.parameter(own)),
        }
    }

    fn target(&mut self, target: &Target) {
        match target {
            Target::Name(name) => self.assigned(name),
            Target::Attribute(name, ..) => self.other(name),
            Target::Tuple(all, _) => all.iter().for_each(|own| self.target(own)),
        }
    }

    fn nodes(&mut self, nodes: &[Node], macros: &[MacroBody]) {
        for node in nodes {
            match node {
                Node::Print(value) => self.expr(value),
                Node::If(own) => {
                    self.branches += 1;
                    for (condition, body) in &own.branches {
                        self.expr(condition);
                        self.nodes(body, macros);
                    }
                    self.nodes(&own.otherwise, macros);
                    self.branches -= 1;
                }
                Node::For(own) => self.expr(&own.iterable),
                Node::Set(target, value) => {
                    self.expr(value);
                    self.target(target);
                }
                Node::SetBlock(target, ..) => self.target(target),
                Node::With(pairs, _) => pairs.iter().for_each(|(_, value)| self.expr(value)),
                Node::Macro(own) => {
                    let name = macros[own.index].name.iter();
                    name.for_each(|name| self.assigned(name));
                }
                Node::CallBlock(_, call) => self.expr(call),
                Node::FilterBlock(filters, ..) => self.filters(filters),
                Node::Text(_) | Node::Scope(_) | Node::Block(..) | Node::Break | Node::Continue => {
                }
            }
        }
    }

    fn filters(&mut self, filters: &[Filter]) {
        filters.iter().for_each(|own| self.filter(own));
    }

    fn filter(&mut self, own: &Filter) {
        own.value.iter().for_each(|value| self.expr(value));
        self.args(&own.args);
    }

    fn args(&mut self, own: &Args) {
        self.exprs(&own.positional);
        own.named.iter().for_each(|(_, value)| self.expr(value));
        let rest = own.list.iter().chain(&own.dict);
        rest.for_each(|value| self.expr(value));
    }

    fn exprs(&mut self, all: &[Expr]) {
        all.iter().for_each(|own| self.expr(own));
    }

    fn expr(&mut self, own: &Expr) {
        match &own.kind {
            ExprKind::Constant(_) => {}
            ExprKind::Name(name) => self.other(name),
            ExprKind::List(all) | ExprKind::Tuple(all) | ExprKind::Concat(all) => self.exprs(all),
            ExprKind::Dict(pairs) => {
                for (key, value) in pairs {
                    self.expr(key);
                    self.expr(value);
                }
            }
            ExprKind::Unary(_, own) | ExprKind::Attribute(own, _) => self.expr(own),
            ExprKind::Binary(_, both) | ExprKind::And(both) | ExprKind::Or(both) => {
                self.exprs(&**both);
            }
            ExprKind::Compare(first, others) => {
                self.expr(first);
                others.iter().for_each(|(_, other)| self.expr(other));
            }
            ExprKind::Choice(own) => {
                self.expr(&own.condition);
                self.expr(&own.then);
                own.otherwise.iter().for_each(|own| self.expr(own));
            }
            ExprKind::Item(own, key) => {
                self.expr(own);
                self.expr(key);
            }
            ExprKind::Slice(own, bounds) => {
                self.expr(own);
                let bounds = bounds.iter().flatten();
                bounds.for_each(|bound| self.expr(bound));
            }
            ExprKind::Call(function, args) => {
                self.expr(function);
                self.args(args);
            }
            ExprKind::Filter(own) => self.filter(own),
            ExprKind::Test(own) => {
                self.expr(&own.value);
                self.args(&own.args);
            }
        }
    }
}
