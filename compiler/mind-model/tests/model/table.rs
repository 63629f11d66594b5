//! Tables of docs/models.md that tests measure.

use std::path::Path;

/// Checks that the document has this table between its markers; `MIND_BLESS=1` writes it there.
pub fn check(name: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/models.md");
    let text = std::fs::read_to_string(&path).expect("docs/models.md");
    let (begin, end) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end of {name} -->"),
    );
    let (before, rest) = text.split_once(&begin).expect("the table's first marker");
    let (found, after) = rest.split_once(&end).expect("the table's last marker");
    if found == table {
        return;
    }
    if std::env::var_os("MIND_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, format!("{before}{begin}{table}{end}{after}")).expect("it is ours");
        return;
    }
    panic!(
        "the table `{name}` of docs/models.md is stale (`MIND_BLESS=1` rewrites it); now\n{table}"
    );
}
