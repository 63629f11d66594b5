//! Parses blocks and statements, which may contain blocks.

use mind_diag::{Diagnostic, Fix};

use super::literal::typed;
use super::reader::Reader;
use super::types::{at_type, not_type, ty};
use crate::mil::Parsed;
use crate::mil::lex::{ARROW, Kind, Token};
use crate::mil::syntax::{Arg, Block, Name, Statement, Typed};
use mind_text::foreign;

/// Parses a nested block.
fn block<'t>(reader: &mut Reader<'t>, depth: usize) -> Parsed<Block<'t>> {
    reader.check_depth(depth, "blocks")?;
    let params = params(reader)?;
    body(reader, params, depth)
}

/// Parameters with their types.
pub(super) type Params<'t> = Vec<(crate::mil::types::Type, Name<'t>)>;

/// Parses parameters in parentheses.
pub(super) fn params<'t>(reader: &mut Reader<'t>) -> Parsed<Params<'t>> {
    reader.mark(b'(')?;
    let mut params = Vec::new();
    while !reader.at(b')') {
        if !params.is_empty() {
            reader.mark(b',')?;
        }
        params.push((ty(reader)?, reader.word("a parameter's name")?));
    }
    reader.bump();
    Ok(params)
}

/// Parses `{ statements } -> (outputs)`.
pub(super) fn body<'t>(
    reader: &mut Reader<'t>,
    params: Params<'t>,
    depth: usize,
) -> Parsed<Block<'t>> {
    reader.mark(b'{')?;
    let mut statements = Vec::new();
    while !reader.at(b'}') && reader.peek().kind != Kind::End {
        reader.statements += 1;
        if reader.statements > reader.limits.nodes {
            let message = format!("more than {} statements", reader.limits.nodes);
            return Err(Box::new(Diagnostic::error(reader.peek().span, message)));
        }
        match statement(reader, depth) {
            Ok(statement) => statements.push(statement),
            Err(error) => {
                reader.report(*error);
                reader.recover();
            }
        }
    }
    reader.mark(b'}')?;
    reader.mark(ARROW)?;
    let end = reader.mark(b'(')?;
    let mut outputs = Vec::new();
    while !reader.at(b')') {
        if !outputs.is_empty() {
            reader.mark(b',')?;
        }
        outputs.push(reader.word("an output's name")?);
    }
    reader.bump();
    Ok(Block {
        params,
        statements,
        outputs,
        end,
    })
}

/// Parses a statement, whose blocks are at nesting depth `depth`.
fn statement<'t>(reader: &mut Reader<'t>, depth: usize) -> Parsed<Statement<'t>> {
    let mut results = Vec::new();
    // An op without results begins with its name, and no type starts like a name.
    if at_type(reader) {
        loop {
            results.push((ty(reader)?, reader.word("a result's name")?));
            if !reader.eat(b',') {
                break;
            }
        }
        reader.mark(b'=')?;
    }
    let op = reader.word("an op")?;
    if reader.peek().kind == Kind::Word && foreign::dtype(op.text).is_some() {
        return Err(Box::new(not_type(op)));
    }
    if reader.eat(b'<') {
        reader.word("an opset")?;
        reader.mark(b'>')?;
    }
    let (mut args, inside) = arguments(reader, op)?;
    let mut attributes = attributes(reader)?;
    attributes.extend(inside);
    args.sort_by_key(|(name, _)| name.text);
    let mut blocks = Vec::new();
    while reader.at(b'(') {
        blocks.push(block(reader, depth + 1)?);
    }
    reader.mark(b';')?;
    Ok(Statement {
        results,
        op,
        args,
        attributes,
        blocks,
    })
}

type Arguments<'t> = (Vec<(Name<'t>, Arg<'t>)>, Vec<(Name<'t>, Typed)>);

/// Parses arguments. The arguments of `const`, as the primer writes it, are returned as attributes.
fn arguments<'t>(reader: &mut Reader<'t>, op: Name<'t>) -> Parsed<Arguments<'t>> {
    reader.mark(b'(')?;
    let (mut args, mut inside) = (Vec::new(), Vec::new());
    while !reader.at(b')') {
        if !args.is_empty() || !inside.is_empty() {
            reader.mark(b',')?;
        }
        let name = reader.word("an argument's name")?;
        reader.mark(b'=')?;
        if op.text == "const" {
            inside.push((name, typed(reader)?));
        } else {
            args.push((name, argument(reader, 0)?));
        }
    }
    reader.bump();
    Ok((args, inside))
}

fn argument<'t>(reader: &mut Reader<'t>, depth: usize) -> Parsed<Arg<'t>> {
    reader.check_depth(depth, "tuples")?;
    if reader.eat(b'(') {
        let mut entries = Vec::new();
        while !reader.at(b')') {
            if !entries.is_empty() {
                reader.mark(b',')?;
            }
            entries.push(argument(reader, depth + 1)?);
        }
        reader.bump();
        return Ok(Arg::Tuple(entries));
    }
    if reader.at_word("const") {
        reader.bump();
        reader.mark(b'(')?;
        if reader.at_word("val") {
            reader.bump();
            reader.mark(b'=')?;
        }
        let value = typed(reader)?;
        reader.mark(b')')?;
        return Ok(Arg::Typed(value));
    }
    match at_type(reader) {
        true => Ok(Arg::Typed(typed(reader)?)),
        false => {
            let next = reader.peek();
            let name = reader.word("a value");
            Ok(Arg::Name(
                name.map_err(|error| Box::new(literal(*error, next)))?,
            ))
        }
    }
}

/// Adds help to the error for the token `next`, where a value was expected, because literals need a type.
#[cold]
fn literal(error: Diagnostic, next: Token<'_>) -> Diagnostic {
    let element = match next.kind {
        Kind::Text => "string",
        Kind::Number if next.text.contains('.') => "fp16",
        Kind::Number => "int32",
        Kind::Mark(b'[') => {
            return error.help("a list says its type, as in `tensor<int32, [2]>([0, 1])`");
        }
        Kind::Word | Kind::Mark(_) | Kind::End => return error,
    };
    let quote = if next.kind == Kind::Text { "\"" } else { "" };
    let typed = format!("{element}({quote}{}{quote})", next.text);
    let help = format!("a literal says its type: `{typed}`");
    let fix = Fix {
        span: next.span,
        text: typed,
    };
    error.help(help).fix(fix)
}

fn attributes<'t>(reader: &mut Reader<'t>) -> Parsed<Vec<(Name<'t>, Typed)>> {
    let mut attributes = Vec::new();
    if !reader.eat(b'[') {
        return Ok(attributes);
    }
    while !reader.at(b']') {
        if !attributes.is_empty() {
            reader.mark(b',')?;
        }
        let name = reader.word("an attribute's name")?;
        reader.mark(b'=')?;
        attributes.push((name, typed(reader)?));
    }
    reader.bump();
    Ok(attributes)
}
