//! Rule files: names from tokens, and diagnostics from the compiler's own checks.

use std::collections::BTreeMap;
use std::ops::Range;

use mind_diag::{Diagnostic, Diagnostics, SourceFile, Span};
use mind_ir::opdef::{OpDef, Registry};
use mind_rules::{
    RuleErrors, RuleSet, SourceErrors, Token, TokenKind, built_in_functions, built_in_params,
    built_in_predicates, tokens,
};
use mind_text::Role;

use crate::names::{NameKind, Names, Occurrence, Referent, Symbol};
use crate::refusal::Refusal;

/// The maximal length of a text that is checked while it is typed, because checking tests each rule on modules.
const MOST_BYTES: usize = 256 * 1024;

/// The keywords, which cannot be names.
pub(crate) const KEYWORDS: [&str; 15] = [
    "rule", "fusion", "class", "engine", "phase", "kind", "let", "for", "op", "in", "where", "and",
    "or", "not", "source",
];

/// Returns all errors and warnings of a rule file.
pub(crate) fn diagnostics(registry: &Registry, file: &SourceFile) -> Diagnostics {
    if file.text().len() > MOST_BYTES {
        let message = format!(
            "the file has {} bytes and is not checked; up to {MOST_BYTES} are",
            file.text().len()
        );
        return Diagnostic::error(Span::FILE, message).into();
    }
    let found = |all: &[SourceErrors]| {
        let first = all.first();
        first.map_or_else(Diagnostics::new, |errors| errors.diagnostics.clone())
    };
    match RuleSet::load(registry, &[(file.name(), file.text())]) {
        Ok(rules) => found(rules.warnings()),
        Err(RuleErrors(errors)) => found(&errors),
    }
}

/// Returns the names in a rule file.
pub(crate) fn names(registry: &Registry, text: &str) -> Names {
    if text.len() > MOST_BYTES {
        return Names::default();
    }
    let tokens = tokens(text);
    let mut found = Vec::new();
    for (number, rule) in rules(&tokens).enumerate() {
        Scope::new(registry, number as u64, rule).read(rule, &mut found);
    }
    Names::new(found)
}

/// Splits the tokens by rule; those before the first rule are a group of their own.
fn rules<'t, 's>(tokens: &'t [Token<'s>]) -> impl Iterator<Item = &'t [Token<'s>]> {
    let starts = |at: usize| {
        let word = tokens[at];
        let named = tokens
            .get(at + 1)
            .is_some_and(|next| next.kind == TokenKind::Word);
        word.kind == TokenKind::Word && matches!(word.text, "rule" | "fusion") && named
    };
    let mut bounds: Vec<usize> = (0..tokens.len()).filter(|&at| starts(at)).collect();
    bounds.insert(0, 0);
    bounds.push(tokens.len());
    bounds.dedup();
    let pairs: Vec<Range<usize>> = bounds.windows(2).map(|pair| pair[0]..pair[1]).collect();
    pairs.into_iter().map(move |range| &tokens[range])
}

/// The names that one rule binds.
struct Scope<'s> {
    registry: &'s Registry,
    rule: u64,
    /// By mark and name: the number among the names of the rule, and whether it has been declared.
    bound: BTreeMap<(char, &'s str), (u64, bool)>,
    /// The ops with open parentheses; `None` for a call.
    open: Vec<Option<&'static OpDef>>,
    /// The op whose braces may follow.
    closed: Option<&'static OpDef>,
}

impl<'s> Scope<'s> {
    fn new(registry: &'s Registry, rule: u64, tokens: &[Token<'s>]) -> Scope<'s> {
        let mut scope = Scope {
            registry,
            rule,
            bound: BTreeMap::new(),
            open: Vec::new(),
            closed: None,
        };
        for (at, token) in tokens.iter().enumerate() {
            let is_dim = token.kind == TokenKind::Word && in_type(tokens, at);
            if let Some(mark) = mark(token.kind).or(is_dim.then_some(' ')) {
                let number = scope.bound.len() as u64;
                let name = (mark, token.text);
                scope.bound.entry(name).or_insert((number, false));
            }
        }
        scope
    }

    fn read(mut self, tokens: &[Token<'s>], found: &mut Vec<Occurrence>) {
        let mut clause = "";
        for (at, token) in tokens.iter().enumerate() {
            let before = at.checked_sub(1).map_or("", |before| tokens[before].text);
            let next = tokens.get(at + 1).map_or("", |next| next.text);
            let (referent, role) = match token.kind {
                TokenKind::Word => {
                    let names_op = token.text.contains('.') || (token.text == "op" && next == "(");
                    if names_op && clause != "for" {
                        clause = "";
                    }
                    if KEYWORDS.contains(&token.text) && token.text != "op" {
                        clause = match token.text {
                            "and" | "or" | "not" | "in" => clause,
                            word => word,
                        };
                    }
                    match self.word(token, [clause, before, next], in_type(tokens, at)) {
                        Some(word) => word,
                        None => continue,
                    }
                }
                TokenKind::Sign => {
                    self.sign(token.text);
                    continue;
                }
                kind => match mark(kind).and_then(|mark| self.name(mark, token.text, clause)) {
                    Some(name) => name,
                    None => continue,
                },
            };
            if next == "(" {
                self.open.push(match referent {
                    Referent::Op(def) => Some(def),
                    _ => None,
                });
            }
            found.push(Occurrence {
                range: token.span.start as usize..token.span.end as usize,
                referent,
                role,
            });
        }
    }

    fn word(
        &mut self,
        token: &Token<'s>,
        [clause, before, next]: [&str; 3],
        in_type: bool,
    ) -> Option<(Referent, Role)> {
        let text = token.text;
        if matches!(before, "rule" | "fusion") {
            let symbol = Symbol {
                kind: NameKind::Rule,
                number: self.rule,
            };
            return Some((Referent::Symbol(symbol), Role::Definition));
        }
        let referent = if in_type {
            return self.name(' ', text, clause);
        } else if let (Some(def), "=") = (self.closed, next) {
            Referent::Attr(def, def.attr_index(text))
        } else if let Some(def) = self.registry.get(text) {
            Referent::Op(def)
        } else if KEYWORDS.contains(&text)
            || matches!(before, "class" | "engine" | "phase" | "kind")
        {
            Referent::Keyword
        } else if let (Some(name), "(") = (built_in(text), next) {
            Referent::Call(name)
        } else {
            return self.name(' ', text, clause);
        };
        Some((referent, Role::Reference))
    }

    /// Returns the binding of a name. Its first occurrence in the terms is its declaration.
    fn name(&mut self, mark: char, text: &'s str, clause: &str) -> Option<(Referent, Role)> {
        let (number, declared) = self.bound.get_mut(&(mark, text))?;
        let declares = clause != "where" && !*declared;
        *declared |= declares;
        let symbol = Symbol {
            kind: if mark == '?' {
                NameKind::Value
            } else {
                NameKind::Binding
            },
            number: self.rule << 32 | *number,
        };
        let role = if declares {
            Role::Definition
        } else {
            Role::Reference
        };
        Some((Referent::Symbol(symbol), role))
    }

    fn sign(&mut self, sign: &str) {
        match sign {
            ")" => self.closed = self.open.pop().flatten(),
            "}" => self.closed = None,
            _ => {}
        }
    }
}

/// Returns the mark of a name, from the kind of its token.
fn mark(kind: TokenKind) -> Option<char> {
    match kind {
        TokenKind::Value => Some('?'),
        TokenKind::Attr => Some('$'),
        TokenKind::DType => Some('\''),
        TokenKind::Rest => Some('.'),
        _ => None,
    }
}

/// Returns whether the word at `at` is an extent of a type, as in `'t[m, 4]`.
fn in_type(tokens: &[Token<'_>], at: usize) -> bool {
    /// The maximal number of tokens of a type.
    const LONGEST: usize = 64;
    for before in (0..at).rev().take(LONGEST) {
        let token = tokens[before];
        match (token.kind, token.text) {
            (TokenKind::Sign, "[") => {
                let dtype = before.checked_sub(1).map(|dtype| tokens[dtype].kind);
                return dtype == Some(TokenKind::DType);
            }
            (TokenKind::Sign, ",") | (TokenKind::Word | TokenKind::Number | TokenKind::Rest, _) => {
            }
            _ => return false,
        }
    }
    false
}

/// Returns the function or predicate called `name`.
fn built_in(name: &str) -> Option<&'static str> {
    built_in_functions()
        .chain(built_in_predicates())
        .find(|own| *own == name)
}

/// Returns the signature of a function or predicate.
pub(crate) fn call(name: &str) -> Option<String> {
    let params = built_in_params(name)?.iter();
    let params: Vec<&str> = params.map(|param| param.text()).collect();
    let what = if built_in_predicates().any(|own| own == name) {
        "predicate"
    } else {
        "function"
    };
    Some(format!("{what} `{name}`: takes {}", params.join("; ")))
}

/// Returns the source of the rule whose name is at `offset`.
pub(crate) fn summary(text: &str, offset: usize) -> Option<String> {
    let start = text[..offset].rfind('\n').map_or(0, |end| end + 1);
    let lines = text[start..].lines();
    let rule: Vec<&str> = lines.take_while(|line| !line.trim().is_empty()).collect();
    Some(format!("```mind\n{}\n```", rule.join("\n")))
}

/// Returns `wanted` as a name of this kind, with the mark of `now`.
///
/// # Errors
///
/// `wanted` is not a valid name.
pub(crate) fn spelled(kind: NameKind, wanted: &str, now: &str) -> Result<String, Refusal> {
    let marks = ["?", "$", "'", ".."];
    let mark = marks.into_iter().find(|mark| now.starts_with(mark));
    let mark = mark.unwrap_or_default();
    let name = wanted.strip_prefix(mark).unwrap_or(wanted);
    let more: &[u8] = if kind == NameKind::Rule { b"_-." } else { b"_" };
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || more.contains(&byte);
    if name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.bytes().all(fits) {
        Ok(format!("{mark}{name}"))
    } else {
        Err(Refusal::failed(format!("invalid name `{wanted}`")))
    }
}

/// Returns whether two entities of one kind must have different names: rules always, other names within their rule.
pub(crate) fn same_scope(a: Symbol, b: Symbol) -> bool {
    a.kind == NameKind::Rule || a.number >> 32 == b.number >> 32
}
