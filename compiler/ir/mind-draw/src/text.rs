//! Text in drawings: width and escaping.

/// The width of a character in thousandths of a pixel, because monospaced fonts of 12 pixels have 7,200 to 7,225.
const CHARACTER: i64 = 7_300;

/// Escapes `text` for an element or a quoted attribute in XML, HTML and DOT labels; for example `<` becomes `&lt;`.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Other control characters cannot be written in any of these languages.
            c if c.is_control() && !matches!(c, '\n' | '\t') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// As [`escape`], for a label whose consecutive spaces are kept.
pub(crate) fn label(text: &str) -> String {
    escape(
        &text
            .replace("  ", "\u{a0}\u{a0}")
            .replace(['\n', '\t'], " "),
    )
}

/// Truncates `text` to `most` characters.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some(_) => {
            let kept = text.chars().take(most.saturating_sub(1));
            kept.chain(std::iter::once('…')).collect()
        }
        None => text.to_owned(),
    }
}

/// Returns the width of `text` in pixels.
pub(crate) fn width(text: &str) -> i64 {
    let columns: i64 = text.chars().map(columns).sum();
    (columns * CHARACTER + 999) / 1_000
}

/// Returns the width of `c` in columns: 2 for East Asian scripts and emoji.
fn columns(c: char) -> i64 {
    let wide = matches!(u32::from(c),
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f
        | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd);
    if wide { 2 } else { 1 }
}
