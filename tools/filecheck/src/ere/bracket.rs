//! Parsing of bracket expressions, for example `[a-z[:digit:]]`.

use super::byte_set::ByteSet;
use super::error::RegexError;
use super::node::{Assertion, NodeKind};
use crate::cursor::Cursor;

/// Parses a bracket expression after its `[`.
pub fn parse_bracket(cursor: &mut Cursor, ignore_case: bool) -> Result<NodeKind, RegexError> {
    if cursor.eat(b"[:<:]]") {
        return Ok(NodeKind::Assert(Assertion::WordStart));
    }
    if cursor.eat(b"[:>:]]") {
        return Ok(NodeKind::Assert(Assertion::WordEnd));
    }
    let mut set = ByteSet::default();
    let negated = cursor.eat(b"^");
    if cursor.eat(b"]") {
        set.insert(b']');
    } else if cursor.eat(b"-") {
        set.insert(b'-');
    }
    while cursor.peek().is_some_and(|byte| byte != b']') && !cursor.sees(b"-]") {
        parse_item(cursor, &mut set)?;
    }
    if cursor.eat(b"-") {
        set.insert(b'-');
    }
    if !cursor.eat(b"]") {
        return Err(RegexError("brackets ([ ]) not balanced"));
    }
    if ignore_case {
        set = set.with_both_cases();
    }
    Ok(NodeKind::Set(if negated {
        set.inverted_in_line()
    } else {
        set
    }))
}

fn parse_item(cursor: &mut Cursor, set: &mut ByteSet) -> Result<(), RegexError> {
    if cursor.eat(b"[:") {
        let name = cursor.take_while(|byte| byte.is_ascii_alphabetic());
        let known = set.insert_class(name);
        return if known && cursor.eat(b":]") {
            Ok(())
        } else {
            Err(RegexError("invalid character class"))
        };
    }
    if cursor.eat(b"[=") {
        set.insert(parse_collating_element(cursor, b"=]")?);
        return Ok(());
    }
    if cursor.peek() == Some(b'-') {
        return Err(RegexError("invalid character range"));
    }
    let first = parse_symbol(cursor)?;
    let is_range =
        cursor.peek() == Some(b'-') && cursor.peek_second().is_some_and(|byte| byte != b']');
    if !is_range {
        set.insert(first);
        return Ok(());
    }
    cursor.take();
    let last = if cursor.eat(b"-") {
        b'-'
    } else {
        parse_symbol(cursor)?
    };
    if set.insert_range(first, last) {
        Ok(())
    } else {
        Err(RegexError("invalid character range"))
    }
}

fn parse_symbol(cursor: &mut Cursor) -> Result<u8, RegexError> {
    if cursor.eat(b"[.") {
        return parse_collating_element(cursor, b".]");
    }
    let Some(byte) = cursor.take() else {
        return Err(RegexError("brackets ([ ]) not balanced"));
    };
    Ok(byte)
}

/// Parses a collating element. Only single characters are supported; POSIX names, for example `[.hyphen.]`, are errors.
fn parse_collating_element(cursor: &mut Cursor, end: &[u8]) -> Result<u8, RegexError> {
    let Some(byte) = cursor.take() else {
        return Err(RegexError("brackets ([ ]) not balanced"));
    };
    if cursor.eat(end) {
        Ok(byte)
    } else {
        Err(RegexError("invalid collating element"))
    }
}
