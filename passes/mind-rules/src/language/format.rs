//! Formatter of rule files.
//!
//! The canonical form of a rule is its head and one line for each clause, in the order of [`Clause`], with an empty
//! line between rules. Comments are kept: above the clause that follows them, or at the end of the line that they end.
//! A comment within a clause breaks its line.

use std::ops::Range;

use mind_diag::Diagnostics;

use super::ast::{Clause, RuleAst};
use super::lex::{Token, TokenKind, lex};
use super::parse::parse;

/// Whether the formatter keeps comments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comments {
    /// Comments keep their position relative to the code.
    Keep,
    /// Comments are removed.
    Drop,
}

/// Returns the canonical form of the rule file `text`.
///
/// # Errors
///
/// The syntax errors of the file. Names are not resolved.
pub fn format_rules(text: &str, comments: Comments) -> Result<String, Diagnostics> {
    let mut found = Diagnostics::new();
    let rules = parse(text, &mut found);
    if found.has_errors() {
        return Err(found);
    }
    let tokens = lex(text, &mut found);
    let gaps = gaps(text, &tokens, comments);
    let mut printer = Printer {
        tokens: &tokens,
        gaps: &gaps,
        out: String::new(),
    };
    for (number, rule) in rules.iter().enumerate() {
        let next = rules.get(number + 1).map(first_token);
        let end = next.unwrap_or(tokens.len() - 1);
        let above = if number == 0 {
            printer.gaps[first_token(rule)].as_slice()
        } else {
            printer.between(first_token(rule))
        };
        printer.separated(above, number > 0);
        printer.rule(rule, end);
    }
    let last = tokens.len() - 1;
    let end_gap = if rules.is_empty() {
        printer.gaps[last].as_slice()
    } else {
        printer.between(last)
    };
    if !end_gap.is_empty() {
        printer.separated(end_gap, !rules.is_empty());
    }
    let mut out = printer.out;
    out.truncate(out.trim_end().len());
    if !out.is_empty() {
        out.push('\n');
    }
    Ok(out)
}

/// A comment and its position.
#[derive(Clone, Copy, Debug)]
struct Comment<'s> {
    text: &'s str,
    /// Whether it is on the same line as the token before it.
    trails: bool,
    /// Whether it follows an empty line.
    apart: bool,
    /// Whether an empty line follows it.
    before_gap: bool,
    /// Whether it does not start in the first column.
    indented: bool,
}

/// Returns the comments before each token.
fn gaps<'s>(text: &'s str, tokens: &[Token<'s>], comments: Comments) -> Vec<Vec<Comment<'s>>> {
    let mut start = 0;
    let mut all = Vec::with_capacity(tokens.len());
    for (number, token) in tokens.iter().enumerate() {
        let end = token.span.start as usize;
        all.push(match comments {
            Comments::Keep => comments_in(&text[start..end], number == 0),
            Comments::Drop => Vec::new(),
        });
        start = token.span.end as usize;
    }
    all
}

/// Returns the comments of the text between two tokens; `first` if there is no token before it.
fn comments_in(gap: &str, first: bool) -> Vec<Comment<'_>> {
    let mut found: Vec<Comment<'_>> = Vec::new();
    // The first line of the gap ends the line of the token before it, the last one starts the line of the token after
    // it.
    let last = gap.matches('\n').count();
    let mut apart = false;
    for (number, line) in gap.split('\n').enumerate() {
        if let Some(at) = line.find('#') {
            found.push(Comment {
                text: line[at..].trim_end(),
                trails: number == 0 && !first,
                apart: std::mem::take(&mut apart),
                before_gap: false,
                indented: at > 0,
            });
        } else if number > 0 && number < last {
            apart = true;
            if let Some(comment) = found.last_mut() {
                comment.before_gap = true;
            }
        }
    }
    found
}

fn first_token(rule: &RuleAst<'_>) -> usize {
    rule.clauses[0].1
}

struct Printer<'p, 's> {
    tokens: &'p [Token<'s>],
    /// The comments before each token.
    gaps: &'p [Vec<Comment<'s>>],
    out: String,
}

impl<'p, 's> Printer<'p, 's> {
    /// Returns the number of comments before token `at`, the first of a rule, that belong to the rule above: a comment
    /// at the end of its last line and indented comments directly below it.
    fn held(&self, at: usize) -> usize {
        let own = |comment: &&Comment<'_>| comment.trails || (comment.indented && !comment.apart);
        self.gaps[at].iter().take_while(own).count()
    }

    /// Returns the comments before token `at` that do not belong to the rule above.
    fn between(&self, at: usize) -> &'p [Comment<'s>] {
        &self.gaps[at][self.held(at)..]
    }

    /// Prints comments in the first column, after an empty line if `below`.
    fn separated(&mut self, comments: &[Comment<'_>], below: bool) {
        if below {
            self.out.push('\n');
        }
        for (number, comment) in comments.iter().enumerate() {
            if number > 0 && comment.apart {
                self.out.push('\n');
            }
            self.out.push_str(comment.text);
            self.out.push('\n');
        }
        if comments.last().is_some_and(|last| last.before_gap) {
            self.out.push('\n');
        }
    }

    /// Prints a rule whose tokens end before `end`.
    fn rule(&mut self, rule: &RuleAst<'_>, end: usize) {
        let starts = rule.clauses.iter().map(|&(_, start)| start);
        let ends = starts.clone().skip(1).chain([end]);
        let kinds = rule.clauses.iter().map(|&(kind, _)| kind);
        let mut clauses: Vec<(Clause, Range<usize>)> = kinds
            .zip(starts.zip(ends).map(|(start, end)| start..end))
            .collect();
        clauses.sort_by_key(|(kind, _)| *kind);
        for (kind, range) in clauses {
            self.clause(kind, range, end);
        }
    }

    fn clause(&mut self, kind: Clause, range: Range<usize>, end: usize) {
        const INDENT: &str = "  ";
        let indent = if kind == Clause::Head { "" } else { INDENT };
        if kind != Clause::Head {
            for comment in self.gaps[range.start].iter().filter(|own| !own.trails) {
                self.line(INDENT, comment.text);
            }
        }
        self.out.push_str(indent);
        for at in range.clone() {
            if at > range.start {
                self.gap(at);
            }
            let token = self.tokens[at];
            self.out.push_str(token.kind.mark());
            self.out.push_str(token.text);
        }
        let end_gap = self.gaps[range.end].iter();
        if let Some(comment) = end_gap.clone().find(|own| own.trails) {
            self.out.push_str("  ");
            self.out.push_str(comment.text);
        }
        self.out.push('\n');
        if range.end == end {
            let held = self.held(end);
            for comment in end_gap.take(held).filter(|own| !own.trails) {
                self.line(INDENT, comment.text);
            }
        }
    }

    fn line(&mut self, indent: &str, text: &str) {
        self.out.push_str(indent);
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Prints the gap before token `at` within a clause: a space, or comments.
    fn gap(&mut self, at: usize) {
        const INDENT: &str = "    ";
        let comments = &self.gaps[at];
        if comments.is_empty() {
            if is_spaced(&self.tokens[..at], self.tokens[at]) {
                self.out.push(' ');
            }
            return;
        }
        for comment in comments {
            if comment.trails {
                self.out.push_str("  ");
            } else {
                self.out.push('\n');
                self.out.push_str(INDENT);
            }
            self.out.push_str(comment.text);
        }
        self.out.push('\n');
        self.out.push_str(INDENT);
    }
}

/// Returns whether a space separates the last of the tokens `before` from `next`.
fn is_spaced(before: &[Token<'_>], next: Token<'_>) -> bool {
    let [.., last] = before else { return false };
    let sign = |token: Token<'_>, text: &str| token.kind == TokenKind::Sign && token.text == text;
    let is_word = |words: &[&str]| last.kind == TokenKind::Word && words.contains(&last.text);
    // `{axes=$a}` has no spaces around `=`, unlike `let ?x = term`.
    let in_braces = || {
        let braces = before
            .iter()
            .rev()
            .filter(|token| token.kind == TokenKind::Sign);
        let mut braces = braces.filter(|token| matches!(token.text, "{" | "}"));
        braces.next().is_some_and(|token| token.text == "{")
    };
    if last.kind == TokenKind::Sign && matches!(last.text, "(" | "[" | "{") {
        return false;
    }
    if sign(*last, "=") || sign(next, "=") {
        return !in_braces();
    }
    if next.kind != TokenKind::Sign {
        return true;
    }
    match next.text {
        "," | ")" | "]" | "}" | ":" => false,
        "(" => last.kind != TokenKind::Word || is_word(&["where", "and", "or", "not"]),
        "[" => last.kind != TokenKind::DType,
        ".." => last.kind != TokenKind::Value,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use mind_ir::random::Rng;

    use super::*;
    use crate::shipped::SHIPPED;

    fn formatted(text: &str) -> String {
        format_rules(text, Comments::Keep).expect(text)
    }

    /// Returns the debug text of the rules without spans.
    fn meaning(text: &str) -> String {
        let mut found = Diagnostics::new();
        let mut rules = parse(text, &mut found);
        assert!(!found.has_errors(), "{text}\n{found:?}");
        rules.iter_mut().for_each(|rule| rule.clauses.clear());
        let shown = format!("{rules:?}");
        let mut parts = shown.split("Span { ");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |out, part| {
            out + part.split_once('}').map_or(part, |(_, rest)| rest)
        })
    }

    fn comments(text: &str) -> Vec<String> {
        let tokens = lex(text, &mut Diagnostics::new());
        let gaps = gaps(text, &tokens, Comments::Keep);
        let mut all: Vec<String> = gaps
            .iter()
            .flatten()
            .map(|own| own.text.to_owned())
            .collect();
        all.sort();
        all
    }

    #[test]
    fn shipped_rules_stand_in_canonical_form() {
        for (name, text) in SHIPPED {
            assert!(formatted(text) == *text, "run `mind-fmt` on {name}");
        }
    }

    #[test]
    fn clauses_are_ordered_and_blanks_are_one() {
        let text = "\u{feff}rule   b\r\n phase layout where not ( is_int(?x)or rank( ?x )==-2 )  class approx( 1e-4 ),nsz\r\n\
             core.sum( ?x:'t[ m,1 , ..s ] ){ axes = [ 0,1 ],keepdims=true }=>?x source \"w #1\"\r\n\
             fusion g kind k let ?e=near( 1 ) class exact any(?m@core.exp(?e) , core.concat(core.neg(?xs ..)..))";
        let expected = "\
rule b
  class approx(1e-4), nsz
  phase layout
  where not (is_int(?x) or rank(?x) == -2)
  core.sum(?x: 't[m, 1, ..s]) {axes=[0, 1], keepdims=true} => ?x
  source \"w #1\"

fusion g
  class exact
  kind k
  let ?e = near(1)
  any(?m @ core.exp(?e), core.concat(core.neg(?xs..) ..))
";
        assert_eq!(formatted(text), expected);
        assert_eq!(meaning(text), meaning(expected));
    }

    #[test]
    fn comments_stay_where_they_stand() {
        let text = "# file\n\n\n#  about a\nrule a # head\n# on where\n  where is_int(?x) # ints\n  # on class\n  class exact\n\
             ?x # left\n  # between\n => ?x # sides\n  # tail\n\n# apart\n\n# b\nrule b\n class exact\n ?x => ?y # end\n# last";
        let expected = "\
# file

#  about a
rule a  # head
  # on class
  class exact
  # on where
  where is_int(?x)  # ints
  ?x  # left
    # between
    => ?x  # sides
  # tail

# apart

# b
rule b
  class exact
  ?x => ?y  # end

# last
";
        let once = formatted(text);
        assert_eq!(once, expected);
        assert_eq!(formatted(&once), once);
        assert_eq!(comments(&once), comments(text));
        let bare = format_rules(text, Comments::Drop).expect("a rule file");
        assert!(
            !bare.contains('#') && meaning(&bare) == meaning(text),
            "{bare}"
        );
    }

    #[test]
    fn files_without_rules_keep_their_comments() {
        assert_eq!(formatted(""), "");
        assert_eq!(formatted("\n\n# a\n\n\n# b"), "# a\n\n# b\n");
    }

    #[test]
    fn mistakes_are_reported() {
        let found = format_rules("rule a\n  class exact\n  ?x =>", Comments::Keep);
        assert!(found.is_err_and(|found| found.has_errors()));
    }

    /// Formats the shipped rules with other whitespace and with comments at random positions.
    #[test]
    fn disfigured_rules_find_their_form_again() {
        let mut rng = Rng::new(7);
        for (name, text) in SHIPPED.iter().flat_map(|file| [file; 4]) {
            let tokens = lex(text, &mut Diagnostics::new());
            let mut other = String::new();
            for (number, token) in tokens.iter().enumerate() {
                let gap = match rng.below(40) {
                    0 => format!(" # c{number}\n"),
                    1 => format!("\n  # c{number}\n# d{number}\r\n\n"),
                    2 => format!("\n\n# c{number}\n"),
                    3..10 => "\n\t".to_owned(),
                    _ => " ".to_owned(),
                };
                other += &gap;
                other += token.kind.mark();
                other += token.text;
            }
            let once = formatted(&other);
            assert_eq!(meaning(&once), meaning(text), "{name}");
            assert_eq!(comments(&once), comments(&other), "{name}");
            assert_eq!(formatted(&once), once, "{name}");
        }
    }
}
