//! Identifiers of the generated text.

use std::fmt;

/// A C identifier that does not collide with a header or a helper.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(String);

/// An invalid function name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` cannot be the name of a C function; expected a letter, then letters, digits and `_`, and no name \
     that already means something"
)]
pub struct SymbolError(pub String);

/// Reserved names: keywords up to C23, declarations of the included headers, and names that the generated file uses.
const RESERVED_WORDS: &str = "alignas alignof asm auto bool break case char const constexpr continue default do double \
    else enum extern false float for fortran goto if inline int long main nullptr register restrict return \
    short signed sizeof static struct switch thread_local true typedef typeof typeof_unqual union unsigned void \
    volatile while inputs outputs status \
    bcmp bcopy bzero ffs index memchr memcmp memcpy memmove memset rindex strcat strchr strcmp strcoll strcpy \
    strcspn strdup strerror strlen strncat strncmp strncpy strndup strpbrk strrchr strspn strstr strtok strxfrm \
    clearerr fclose feof ferror fflush fgetc fgetpos fgets fopen fprintf fputc fputs fread freopen fscanf fseek \
    fsetpos ftell fwrite getc getchar gets perror printf putc putchar puts remove rename rewind scanf setbuf \
    setvbuf snprintf sprintf sscanf stderr stdin stdout tmpfile tmpnam ungetc vfprintf vprintf vsnprintf vsprintf \
    abs acos asin atan ceil cos erf exp fabs floor fma fmod log pow sin sqrt tan tanh linux unix";

impl Symbol {
    /// Returns `text` as a symbol.
    ///
    /// # Errors
    ///
    /// Errors if it is not an identifier, or if it is reserved.
    pub fn new(text: &str) -> Result<Symbol, SymbolError> {
        let mut bytes = text.bytes();
        let is_identifier = bytes
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic())
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_taken =
            text.starts_with("mind_") || RESERVED_WORDS.split_whitespace().any(|word| word == text);
        if is_identifier && !is_taken {
            return Ok(Symbol(text.to_owned()));
        }
        Err(SymbolError(text.to_owned()))
    }

    /// Returns this name with a suffix of letters, digits and `_`.
    pub fn suffixed(&self, text: &str) -> Symbol {
        Symbol(format!("{self}_{text}"))
    }

    /// Returns `text` with invalid characters replaced, prefixed with this name and a number.
    pub(crate) fn derived(&self, text: &str, number: usize) -> Symbol {
        let kept = text.bytes().map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte),
            _ => '_',
        });
        let kept: String = kept.take(40).collect();
        Symbol(format!("{self}_{number}_{kept}"))
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_mean_something_are_refused() {
        for name in ["net", "relu_block2", "N0", "f", "model_v1"] {
            assert!(Symbol::new(name).is_ok(), "{name}");
        }
        for name in [
            "",
            "2d",
            "_x",
            "a-b",
            "ä",
            "int",
            "main",
            "memcpy",
            "exp",
            "mind_fma_f32",
        ] {
            assert_eq!(Symbol::new(name), Err(SymbolError(name.to_owned())));
        }
    }

    #[test]
    fn derived_names_are_identifiers_whatever_they_are_derived_from() {
        let net = Symbol::new("net").expect("a name");
        assert_eq!(net.derived("relu*/é 1", 3).to_string(), "net_3_relu_____1");
    }
}
