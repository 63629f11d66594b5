//! Tables of docs/models.md with measured numbers.

use std::path::Path;

/// Checks that the document has this table between its markers.
pub fn check(name: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/models.md");
    let text = std::fs::read_to_string(&path).expect("docs/models.md");
    let (begin, end) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end of {name} -->"),
    );
    let (before, rest) = text.split_once(&begin).expect("the table's first marker");
    let (found, after) = rest.split_once(&end).expect("the table's last marker");
    if found != table {
        println!("the table `{name}` is now\n{table}");
        mind_snapshot::check_file(&path, format!("{before}{begin}{table}{end}{after}"));
    }
}
