//! Searching and trimming byte strings.

/// Returns the offset of the first `needle` in `haystack`.
pub fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let Some((&first, rest)) = needle.split_first() else {
        return Some(0);
    };
    let mut at = 0;
    loop {
        at += haystack[at..].iter().position(|&byte| byte == first)?;
        if haystack[at + 1..].starts_with(rest) {
            return Some(at);
        }
        at += 1;
    }
}

/// Returns the offset of the first `needle` in `haystack`, ignoring the case of ASCII letters.
pub fn find_ignoring_case(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    match needle.len() {
        0 => Some(0),
        length => haystack
            .windows(length)
            .position(|window| window.eq_ignore_ascii_case(needle)),
    }
}

/// Returns whether `byte` is a space or a tab.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Returns `text` without leading spaces and tabs.
pub fn trim_start(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|&&byte| is_blank(byte)).count();
    &text[blanks..]
}

/// Returns `text` without trailing spaces and tabs.
pub fn trim_end(text: &[u8]) -> &[u8] {
    let blanks = text
        .iter()
        .rev()
        .take_while(|&&byte| is_blank(byte))
        .count();
    &text[..text.len() - blanks]
}

/// Returns `text` for a message.
pub fn display(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_takes_the_first() {
        assert_eq!(find(b"aabaab", b"ab"), Some(1));
        assert_eq!(find(b"aab", b"b!"), None);
        assert_eq!(find(b"", b""), Some(0));
        assert_eq!(find(b"ab", b"abc"), None);
        assert_eq!(find_ignoring_case(b"xAb", b"aB"), Some(1));
        assert_eq!(find_ignoring_case(b"x", b"xy"), None);
    }

    #[test]
    fn trimming_takes_blanks_only() {
        assert_eq!(trim_start(b" \t\na "), b"\na ");
        assert_eq!(trim_end(b" a\r \t"), b" a\r");
    }
}
