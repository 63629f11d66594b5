//! The filter `wordwrap`: lines of a text cut to a width, as `textwrap` of Python does.

use crate::arguments::{Arguments, int_or, text, truth_or};
use crate::error::{Error, Result};
use crate::eval::Machine;
use crate::unicode;
use crate::value::Value;

/// White space, as `textwrap` has it.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r')
}

pub(super) fn wordwrap(_: &mut Machine<'_>, value: Value, args: Arguments) -> Result<Value> {
    let names = [
        "width",
        "break_long_words",
        "wrapstring",
        "break_on_hyphens",
    ];
    let [width, break_long_words, wrapstring, break_on_hyphens] =
        args.bind("wordwrap", names, 0)?;
    let width = int_or("width", &width, 79)?;
    let width = usize::try_from(width).unwrap_or(0);
    if width == 0 {
        return Err(Error::new(format!("invalid width {width} (must be > 0)")));
    }
    let breaks = truth_or(&break_long_words, true);
    let hyphens = truth_or(&break_on_hyphens, true);
    let separator = match &wrapstring {
        None | Some(Value::None) => "\n",
        Some(own) => text("wrapstring", own)?,
    };
    let own = text("the value of wordwrap", &value)?;
    let lines = unicode::lines(own, false);
    let wrapped: Vec<String> = lines
        .iter()
        .map(|line| wrap(line, width, breaks, hyphens).join(separator))
        .collect();
    Ok(Value::from(wrapped.join(separator)))
}

/// The lines of a paragraph.
fn wrap(line: &str, width: usize, breaks: bool, hyphens: bool) -> Vec<String> {
    let mut chunks = chunks(line, hyphens);
    chunks.reverse();
    let mut lines: Vec<String> = Vec::new();
    while !chunks.is_empty() {
        let mut own: Vec<String> = Vec::new();
        let mut len = 0;
        let is_blank = |own: &String| own.trim_matches(is_space).is_empty();
        if chunks.last().is_some_and(is_blank) && !lines.is_empty() {
            chunks.pop();
        }
        while let Some(next) = chunks.last() {
            let count = next.chars().count();
            if len + count > width {
                break;
            }
            len += count;
            own.extend(chunks.pop());
        }
        if let Some(long) = chunks.last().filter(|own| own.chars().count() > width) {
            let room = if width < 1 { 1 } else { width - len };
            if breaks {
                let mut room = room;
                if hyphens && let Some(at) = hyphen_before(long, room) {
                    room = at;
                }
                let head: String = long.chars().take(room).collect();
                let tail: String = long.chars().skip(room).collect();
                own.push(head);
                chunks.pop();
                chunks.push(tail);
            } else if own.is_empty() {
                own.extend(chunks.pop());
            }
        }
        if own.last().is_some_and(is_blank) {
            own.pop();
        }
        if !own.is_empty() {
            lines.push(own.concat());
        }
    }
    lines
}

/// The character after which a word that is too long is cut at a hyphen, in the first `room`.
fn hyphen_before(word: &str, room: usize) -> Option<usize> {
    let all: Vec<char> = word.chars().collect();
    if all.len() <= room {
        return None;
    }
    let at = all[..room].iter().rposition(|c| *c == '-')?;
    let has_letters = all[..at].iter().any(|c| *c != '-');
    (at > 0 && has_letters).then_some(at + 1)
}

/// Splits a line into words, the white space between them, and parts of words after hyphens between letters.
fn chunks(line: &str, hyphens: bool) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let space = is_space(first);
        let end = rest.find(|c| is_space(c) != space).unwrap_or(rest.len());
        let (own, more) = rest.split_at(end);
        rest = more;
        match space || !hyphens {
            true => all.push(own.to_owned()),
            false => hyphenated(own, &mut all),
        }
    }
    all
}

/// The parts of a word, each but the last up to a hyphen that follows a letter and precedes one.
fn hyphenated(word: &str, all: &mut Vec<String>) {
    let chars: Vec<char> = word.chars().collect();
    let is_letter = |at: usize| {
        chars
            .get(at)
            .is_some_and(|c| c.is_alphabetic() || *c == '_')
    };
    let mut start = 0;
    for at in 0..chars.len() {
        let is_between =
            chars[at] == '-' && at > start + 1 && is_letter(at - 1) && is_letter(at - 2);
        let goes_on = is_letter(at + 1) && (is_letter(at + 2) || chars.get(at + 2) == Some(&'-'));
        if is_between && goes_on {
            all.push(chars[start..=at].iter().collect());
            start = at + 1;
        }
    }
    all.push(chars[start..].iter().collect());
}
