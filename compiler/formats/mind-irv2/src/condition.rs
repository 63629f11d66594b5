//! Conditions of buffers and nodes.
//!
//! ```text
//! cond := and ('||' and)*        and  := atom ('&&' atom)*
//! atom := '!' atom | '(' cond ')' | word (cmp number)? | 'mode' '==' word
//! cmp  := '>' | '>=' | '<' | '<=' | '==' | '!='
//! ```
//!
//! A word without a comparison holds if its value is greater than 0, for example `has_lm_head`.

use thiserror::Error;

use crate::attributes::Attribute;
use crate::config::Config;

/// The most nested negations and parentheses.
const MAX_DEPTH: usize = 32;
/// The most bytes of a condition.
const MAX_LENGTH: usize = 1000;

/// The mode in which a model runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Prefill: many positions at once.
    Prefill,
    /// A decode step: one position after earlier ones.
    Decode,
    /// The backward pass, which computes gradients.
    Backward,
}

impl Mode {
    /// The modes of inference.
    pub const INFERENCE: [Mode; 2] = [Mode::Prefill, Mode::Decode];

    /// Returns its word in conditions.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Prefill => "prefill",
            Mode::Decode => "decode",
            Mode::Backward => "backward",
        }
    }

    fn parse(name: &str) -> Option<Mode> {
        let all = [Mode::Prefill, Mode::Decode, Mode::Backward];
        all.into_iter().find(|mode| mode.name() == name)
    }
}

/// A word of conditions, and the function that computes its value.
struct Word {
    name: &'static str,
    value: fn(&Config, Mode) -> f64,
}

const fn word(name: &'static str, value: fn(&Config, Mode) -> f64) -> Word {
    Word { name, value }
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// The word for the layer of a node or a buffer, from 0.
const LAYER: &str = "layer";

/// All words: keys of the configuration, flags of `meta`, and words that only conditions have.
const WORDS: &[Word] = &[
    word("num_layers", |config, _| config.num_layers as f64),
    word("hidden_size", |config, _| config.hidden_size as f64),
    word("intermediate_size", |config, _| {
        config.intermediate_size as f64
    }),
    word("num_attention_heads", |config, _| {
        config.num_attention_heads as f64
    }),
    word("num_kv_heads", |config, _| config.num_kv_heads as f64),
    word("head_dim", |config, _| config.head_dim as f64),
    word("vocab_size", |config, _| config.vocab_size as f64),
    word("context_window", |config, _| config.context_window as f64),
    word("rms_norm_eps", |config, _| config.rms_norm_eps),
    word("rope_theta", |config, _| {
        config.rope.map_or(0.0, |rope| rope.theta)
    }),
    word("tie_word_embeddings", |config, _| {
        truth(config.tie_word_embeddings)
    }),
    word("fused_qkv", |config, _| truth(config.family.is_fused())),
    word("gated_mlp", |config, _| truth(config.has_gate())),
    word("has_lm_head", |config, _| {
        truth(!config.family.is_encoder())
    }),
    word("has_pos_emb", |config, _| truth(config.has_positions())),
    word(LAYER, |config, _| config.layer().unwrap_or(0) as f64),
    word("has_pooler", |config, _| {
        truth(config.has_bias("pooler_weight"))
    }),
    word("has_classifier", |config, _| {
        truth(config.has_bias("classifier_weight"))
    }),
    word("rope_disabled", |config, _| truth(config.rope.is_none())),
    word("parallel_residual", |config, _| {
        config.attributes.get(Attribute::ParallelResidual)
    }),
    word("gated_act", |config, _| {
        config.attributes.get(Attribute::GatedAct)
    }),
    word("training_enabled", |_, mode| truth(mode == Mode::Backward)),
    word("backward_only", |_, mode| truth(mode == Mode::Backward)),
    word("inference_only", |_, mode| truth(mode != Mode::Backward)),
    word("prefill_only", |_, mode| truth(mode == Mode::Prefill)),
    word("decode_only", |_, mode| truth(mode == Mode::Decode)),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cmp {
    Greater,
    AtLeast,
    Less,
    AtMost,
    Equal,
    Differs,
}

/// Longer spellings precede their prefixes, because the first match is taken.
const COMPARISONS: [(&str, Cmp); 6] = [
    (">=", Cmp::AtLeast),
    ("<=", Cmp::AtMost),
    ("==", Cmp::Equal),
    ("!=", Cmp::Differs),
    (">", Cmp::Greater),
    ("<", Cmp::Less),
];

/// A parsed condition.
#[derive(Clone, PartialEq, Debug)]
pub struct Condition(Term);

#[derive(Clone, PartialEq, Debug)]
enum Term {
    Any(Vec<Term>),
    All(Vec<Term>),
    Not(Box<Term>),
    Compare(usize, Cmp, f64),
    Mode(Mode),
}

/// The reason why a text is not a condition.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ConditionError {
    /// An unknown word.
    #[error(
        "the condition names `{0}`, which is neither a key of the configuration nor a word of conditions"
    )]
    Unknown(String),
    /// A syntax error.
    #[error("the condition has {found} where {expected} is expected, at byte {at}")]
    Expected {
        /// The text found.
        found: String,
        /// The expected syntax.
        expected: &'static str,
        /// The byte offset in the text.
        at: usize,
    },
    /// Too many nested parentheses.
    #[error("the condition is nested deeper than the limit of {MAX_DEPTH}")]
    Depth,
    /// The text is too long.
    #[error("the condition is longer than the limit of {MAX_LENGTH} bytes")]
    Length,
}

impl Condition {
    /// Parses a condition.
    ///
    /// # Errors
    ///
    /// See [`ConditionError`].
    pub fn parse(text: &str) -> Result<Condition, ConditionError> {
        if text.len() > MAX_LENGTH {
            return Err(ConditionError::Length);
        }
        let mut parser = Parser { text, at: 0 };
        let term = parser.any(0)?;
        if parser.at == text.len() {
            Ok(Condition(term))
        } else {
            Err(parser.expected("the end"))
        }
    }

    /// Returns whether the condition depends on `word`.
    pub fn names(&self, word: &str) -> bool {
        names(&self.0, word)
    }

    /// Returns whether it holds for the model of `config` in `mode`: for the layer of `config` or, if that is `None`,
    /// for any layer.
    pub fn holds(&self, config: &Config, mode: Mode) -> bool {
        if config.layer().is_none() && self.names(LAYER) {
            let mut layers = 0..config.num_layers;
            return layers.any(|layer| holds(&self.0, &config.of_layer(layer), mode));
        }
        holds(&self.0, config, mode)
    }
}

fn names(term: &Term, word: &str) -> bool {
    match term {
        Term::Any(terms) | Term::All(terms) => terms.iter().any(|own| names(own, word)),
        Term::Not(term) => names(term, word),
        Term::Mode(_) => false,
        Term::Compare(own, _, _) => WORDS[*own].name == word,
    }
}

fn holds(term: &Term, config: &Config, mode: Mode) -> bool {
    match term {
        Term::Any(terms) => terms.iter().any(|term| holds(term, config, mode)),
        Term::All(terms) => terms.iter().all(|term| holds(term, config, mode)),
        Term::Not(term) => !holds(term, config, mode),
        Term::Mode(own) => *own == mode,
        Term::Compare(word, cmp, number) => {
            let value = (WORDS[*word].value)(config, mode);
            match cmp {
                Cmp::Greater => value > *number,
                Cmp::AtLeast => value >= *number,
                Cmp::Less => value < *number,
                Cmp::AtMost => value <= *number,
                Cmp::Equal => value == *number,
                Cmp::Differs => value != *number,
            }
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Parser<'t> {
    fn rest(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    fn expected(&mut self, expected: &'static str) -> ConditionError {
        let found = match self.rest().chars().next() {
            Some(found) => format!("{found:?}"),
            None => "the end".to_owned(),
        };
        let at = self.at;
        ConditionError::Expected {
            found,
            expected,
            at,
        }
    }

    fn any(&mut self, depth: usize) -> Result<Term, ConditionError> {
        let mut terms = vec![self.all(depth)?];
        while self.eat("||") {
            terms.push(self.all(depth)?);
        }
        self.rest();
        Ok(Term::Any(terms))
    }

    fn all(&mut self, depth: usize) -> Result<Term, ConditionError> {
        let mut terms = vec![self.atom(depth)?];
        while self.eat("&&") {
            terms.push(self.atom(depth)?);
        }
        Ok(Term::All(terms))
    }

    fn atom(&mut self, depth: usize) -> Result<Term, ConditionError> {
        if depth > MAX_DEPTH {
            return Err(ConditionError::Depth);
        }
        if self.eat("!") {
            return Ok(Term::Not(Box::new(self.atom(depth + 1)?)));
        }
        if self.eat("(") {
            let term = self.any(depth + 1)?;
            return if self.eat(")") {
                Ok(term)
            } else {
                Err(self.expected("`)`"))
            };
        }
        let name = self.word()?;
        if name == "mode" {
            if !self.eat("==") {
                return Err(self.expected("`==`"));
            }
            let mode = self.word()?;
            let known = Mode::parse(mode);
            return known
                .map(Term::Mode)
                .ok_or_else(|| ConditionError::Unknown(mode.to_owned()));
        }
        let known = WORDS.iter().position(|word| word.name == name);
        let known = known.ok_or_else(|| ConditionError::Unknown(name.to_owned()))?;
        let comparison = COMPARISONS.into_iter().find(|(sign, _)| self.eat(sign));
        match comparison {
            Some((_, cmp)) => Ok(Term::Compare(known, cmp, self.number()?)),
            None => Ok(Term::Compare(known, Cmp::Greater, 0.0)),
        }
    }

    fn word(&mut self) -> Result<&'t str, ConditionError> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        if end == 0 || rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.expected("a word"));
        }
        self.at += end;
        Ok(&rest[..end])
    }

    fn number(&mut self) -> Result<f64, ConditionError> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let number = rest[..end]
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite());
        let number = number.ok_or_else(|| self.expected("a number"))?;
        self.at += end;
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::qwen2;

    #[test]
    fn conditions_follow_the_grammar() {
        let config = Config::new(qwen2()).unwrap();
        let cases = [
            ("rope_theta>0", [true; 3]),
            ("!(rope_theta > 0)", [false; 3]),
            ("!rope_disabled && hidden_size == 896", [true; 3]),
            ("mode==prefill", [true, false, false]),
            ("mode == decode || prefill_only", [true, true, false]),
            ("training_enabled||num_layers<24", [false, false, true]),
            (
                "num_layers <= 24 && num_layers >= 24 && num_layers != 23.5",
                [true; 3],
            ),
            ("!!inference_only", [true, true, false]),
            ("has_pos_emb", [false; 3]),
        ];
        for (text, expected) in cases {
            let condition = Condition::parse(text).unwrap();
            let modes = [Mode::Prefill, Mode::Decode, Mode::Backward];
            let found = modes.map(|mode| condition.holds(&config, mode));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_condition_on_layers_holds_in_some_or_in_one() {
        let config = Config::new(qwen2()).unwrap();
        let cases = [
            ("layer>0", true, false, true),
            ("!(layer>0)", true, true, false),
            ("layer>23", false, false, false),
            ("rope_theta>0", true, true, true),
        ];
        for (text, some, first, second) in cases {
            let condition = Condition::parse(text).unwrap();
            let holds = |config: &Config| condition.holds(config, Mode::Prefill);
            let found = [
                holds(&config),
                holds(&config.of_layer(0)),
                holds(&config.of_layer(1)),
            ];
            assert_eq!(found, [some, first, second], "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_says_why() {
        let cases = [
            ("rope_teta>0", "names `rope_teta`"),
            ("mode==training", "names `training`"),
            ("mode", "the end where `==`"),
            ("rope_theta>", "the end where a number"),
            ("rope_theta>0 1", "'1' where the end"),
            ("", "the end where a word"),
            ("(rope_theta", "the end where `)`"),
            ("rope_theta && ", "the end where a word"),
            ("1 > 0", "'1' where a word"),
            ("rope_theta & 1", "'&' where the end"),
        ];
        for (text, expected) in cases {
            let error = Condition::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let deep = |depth| format!("{}head_dim", "!".repeat(depth));
        assert_eq!(Condition::parse(&deep(900)), Err(ConditionError::Depth));
        assert_eq!(Condition::parse(&deep(1000)), Err(ConditionError::Length));
    }
}
