//! Parses programs and functions.

use mind_diag::Diagnostic;

use super::body::{body, params};
use super::reader::Reader;
use crate::mil::Parsed;
use crate::mil::lex::Kind;
use crate::mil::syntax::{Function, Program, main_position};

/// Parses a program. Reports an error and returns `None` if its header or braces are broken.
pub(super) fn program<'t>(reader: &mut Reader<'t>) -> Option<Program<'t>> {
    let result = whole(reader);
    result.map_err(|error| reader.report(*error)).ok()
}

fn whole<'t>(reader: &mut Reader<'t>) -> Parsed<Program<'t>> {
    if reader.at_word("main") {
        let error = Diagnostic::error(
            reader.peek().span,
            "this is a printout of coremltools, not MIL text",
        );
        return Err(Box::new(
            error.help("save the program as a package and export its `model.mil`"),
        ));
    }
    let span = reader.keyword("program")?;
    reader.mark(b'(')?;
    let version = reader.peek();
    if version.kind != Kind::Number {
        return reader.expected("a version");
    }
    if !matches!(version.text, "1.0" | "1.3") {
        let message = format!("version {} is not known", version.text);
        let error = Diagnostic::error(version.span, message);
        return Err(Box::new(error.help("the versions are 1.0 and 1.3")));
    }
    reader.bump();
    reader.mark(b')')?;
    let attributes = attributes(reader)?;
    reader.mark(b'{')?;
    let mut functions = Vec::new();
    while reader.at_word("func") {
        match function(reader) {
            Ok(function) => functions.push(function),
            Err(error) => {
                reader.report(*error);
                while !reader.at_word("func") && reader.peek().kind != Kind::End {
                    reader.bump();
                }
                if reader.peek().kind == Kind::End {
                    return Ok(Program {
                        version: version.text,
                        attributes,
                        main: main_position(&functions),
                        functions,
                        span,
                    });
                }
            }
        }
    }
    if functions.is_empty() {
        return reader.expected("`func`");
    }
    reader.mark(b'}')?;
    if reader.peek().kind != Kind::End {
        return reader.expected("the end of the text");
    }
    Ok(Program {
        version: version.text,
        attributes,
        main: main_position(&functions),
        functions,
        span,
    })
}

fn function<'t>(reader: &mut Reader<'t>) -> Parsed<Function<'t>> {
    reader.keyword("func")?;
    let name = reader.word("the function's name")?;
    reader.mark(b'<')?;
    let opset = reader.word("an opset, as `ios18`")?.text;
    reader.mark(b'>')?;
    let params = params(reader)?;
    let attributes = attributes(reader)?;
    let block = body(reader, params, 0)?;
    reader.mark(b';')?;
    Ok(Function {
        name,
        opset,
        attributes,
        block,
    })
}

/// Parses the attributes of a program or function, `[name = type(value), ..]`, and returns them in canonical form:
/// sorted by name, with single spaces. Their values are not interpreted.
fn attributes(reader: &mut Reader<'_>) -> Parsed<String> {
    if !reader.eat(b'[') {
        return Ok(String::new());
    }
    let mut entries: Vec<String> = Vec::new();
    while !reader.at(b']') {
        if !entries.is_empty() {
            reader.mark(b',')?;
        }
        let name = reader.word("an attribute's name")?;
        reader.mark(b'=')?;
        let mut entry = format!("{} = ", name.text);
        raw(reader, &mut entry)?;
        entries.push(entry);
    }
    reader.bump();
    entries.sort();
    Ok(entries.join(", "))
}

/// Appends tokens up to a comma or closing bracket of the enclosing list.
fn raw(reader: &mut Reader<'_>, out: &mut String) -> Parsed<()> {
    let mut open: Vec<u8> = Vec::new();
    loop {
        let next = reader.peek();
        match next.kind {
            Kind::End | Kind::Mark(b';') => return reader.expected("the end of an attribute"),
            Kind::Mark(b',' | b']') if open.is_empty() => return Ok(()),
            Kind::Mark(b',') => out.push_str(", "),
            Kind::Mark(b'=') => out.push_str(" = "),
            Kind::Mark(mark @ (b'(' | b'[' | b'{' | b'<')) => {
                open.push(mark);
                reader.check_depth(open.len(), "attributes")?;
                out.push(char::from(mark));
            }
            Kind::Mark(mark @ (b')' | b']' | b'}' | b'>')) => {
                let closed = open.pop();
                let pairs = [(b'(', b')'), (b'[', b']'), (b'{', b'}'), (b'<', b'>')];
                if !pairs
                    .iter()
                    .any(|&(left, right)| closed == Some(left) && mark == right)
                {
                    return reader.expected("the bracket that closes the last one");
                }
                out.push(char::from(mark));
            }
            Kind::Text => {
                out.push('"');
                out.push_str(next.text);
                out.push('"');
            }
            _ => out.push_str(next.text),
        }
        reader.bump();
    }
}
