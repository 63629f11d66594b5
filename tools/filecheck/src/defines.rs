//! Variables defined on the command line.

use crate::numeric_block::{Dialect, leading_name, parse_block};
use crate::variables::Variables;

/// Defines variables by `NAME=text` or `#NAME=EXPR`. Returns the errors.
///
/// As in LLVM, the first of several definitions of a text variable counts, but the last of a numeric variable.
pub fn define_all(definitions: &[String], variables: &mut Variables) -> Vec<String> {
    let define = |definition: &String| {
        let defined = match definition.strip_prefix('#') {
            Some(number) => define_number(number, variables),
            None => define_text(definition, variables),
        };
        defined
            .err()
            .map(|message| format!("error: -D{definition}: {message}"))
    };
    definitions.iter().filter_map(define).collect()
}

fn define_text(definition: &str, variables: &mut Variables) -> Result<(), String> {
    let (name, value) = definition.split_once('=').ok_or("missing equal sign")?;
    let valid = leading_name(name.as_bytes()).map_err(|error| error.message)?;
    if valid != name || name.starts_with('@') {
        return Err("invalid variable name".to_owned());
    }
    variables.declare_text(name)?;
    if variables.text(name).is_none() {
        variables.set_text(name, value.as_bytes());
    }
    Ok(())
}

fn define_number(definition: &str, variables: &mut Variables) -> Result<(), String> {
    let block = definition.replacen('=', ":", 1);
    let block = parse_block(block.as_bytes(), Dialect::Numeric, None, variables)
        .map_err(|error| error.message)?;
    let (Some(id), Some(value)) = (block.defines, block.value) else {
        return Err("a name and a value are expected".to_owned());
    };
    let value = variables.evaluate(&value)?;
    variables.set_number(id, value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions() {
        let mut variables = Variables::default();
        let valid = ["X=a=b", "X=c", "$Y=", "#N=3", "#M=N+1", "#%x,H=255"].map(str::to_owned);
        assert_eq!(define_all(&valid, &mut variables), [""; 0]);
        assert_eq!(variables.text("X"), Some(&b"a=b"[..]));
        let invalid = [
            "1=a", "A+=1", "@LINE=1", "#N=", "#X=1", "N=a", "#Q=R", "#Z=1*2",
        ]
        .map(str::to_owned);
        assert_eq!(define_all(&invalid, &mut variables).len(), invalid.len());
    }
}
