//! Core text as `print` shows it.

/// The maximal length in characters of a list of elements that is not abbreviated.
const SHOWN: usize = 120;

/// Returns Core text with only the first and last elements of large constants.
pub(crate) fn shown(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(line).collect();
    lines.join("\n")
}

fn line(line: &str) -> String {
    let Some(list) = elements(line).filter(|list| list.len() > SHOWN) else {
        return line.to_owned();
    };
    let all = &line[list.clone()];
    // Elements are ASCII and separated by commas.
    let head = all[..SHOWN / 2].rfind(',').unwrap_or(SHOWN / 2);
    let tail = all.len() - SHOWN / 4;
    let tail = all[tail..].find(',').map_or(tail, |at| tail + at);
    let (before, after) = (&line[..list.start], &line[list.end..]);
    format!("{before}{}, ...{}{after}", &all[..head], &all[tail..])
}

/// Returns the range of the elements in the line of a constant.
fn elements(line: &str) -> Option<std::ops::Range<usize>> {
    const START: &str = "ConstTensor {data=[";
    let start = line.find(START)? + START.len() - 1;
    let end = start + line[start..].find("], dtype=")? + 1;
    line[start..end].is_ascii().then_some(start..end)
}
