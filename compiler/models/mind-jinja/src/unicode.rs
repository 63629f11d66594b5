//! Classes of characters and lines, as Python has them.

/// `str.islower`.
pub(crate) fn is_lower(text: &str) -> bool {
    text.chars().any(char::is_lowercase) && !text.chars().any(|c| c.is_uppercase() || is_title(c))
}

/// `str.isupper`.
pub(crate) fn is_upper(text: &str) -> bool {
    text.chars().any(char::is_uppercase) && !text.chars().any(|c| c.is_lowercase() || is_title(c))
}

/// The digraphs that are titles.
fn is_title(c: char) -> bool {
    matches!(c, '\u{1c5}' | '\u{1c8}' | '\u{1cb}' | '\u{1f2}')
}

/// `str.isspace` of a character: white space of Unicode, and the separators of ASCII.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// `str.strip` without an argument.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `str.capitalize`.
pub(crate) fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else {
        return String::new();
    };
    let mut own = upper_first(first);
    own.push_str(&chars.as_str().to_lowercase());
    own
}

/// A character as the first one of a title.
fn upper_first(c: char) -> String {
    // The digraphs of Croatian have a form of their own.
    let upper: String = match c {
        '\u{1c4}'..='\u{1c6}' => '\u{1c5}'.to_string(),
        '\u{1c7}'..='\u{1c9}' => '\u{1c8}'.to_string(),
        '\u{1ca}'..='\u{1cc}' => '\u{1cb}'.to_string(),
        '\u{1f1}'..='\u{1f3}' => '\u{1f2}'.to_string(),
        c => c.to_uppercase().collect(),
    };
    // One letter becomes several: only the first of them is upper.
    let mut chars = upper.chars();
    match (chars.next(), chars.as_str()) {
        (Some(first), rest) if !rest.is_empty() => format!("{first}{}", rest.to_lowercase()),
        _ => upper,
    }
}

/// `str.title`: the first letter of each word is upper case, the others are lower case.
pub(crate) fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut follows = false;
    for c in text.chars() {
        match follows {
            true => out.extend(c.to_lowercase()),
            false => out.push_str(&upper_first(c)),
        }
        follows = c.is_lowercase() || c.is_uppercase();
    }
    out
}

/// `str.istitle`.
pub(crate) fn is_titled(text: &str) -> bool {
    let (mut found, mut follows) = (false, false);
    for c in text.chars() {
        if c.is_uppercase() {
            if follows {
                return false;
            }
            (found, follows) = (true, true);
        } else if c.is_lowercase() {
            if !follows {
                return false;
            }
        } else {
            follows = false;
        }
    }
    found
}

/// `str.splitlines`.
pub(crate) fn lines(text: &str, keeps_ends: bool) -> Vec<&str> {
    let is_end = |c: char| {
        matches!(
            c,
            '\n' | '\r'
                | '\u{b}'
                | '\u{c}'
                | '\u{1c}'
                | '\u{1d}'
                | '\u{1e}'
                | '\u{85}'
                | '\u{2028}'
                | '\u{2029}'
        )
    };
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_end) {
        let own = rest[at..].chars().next().map_or(0, char::len_utf8);
        let len = if rest[at..].starts_with("\r\n") {
            2
        } else {
            own
        };
        all.push(&rest[..if keeps_ends { at + len } else { at }]);
        rest = &rest[at + len..];
    }
    if !rest.is_empty() {
        all.push(rest);
    }
    all
}
