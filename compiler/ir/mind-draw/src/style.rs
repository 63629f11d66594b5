//! Colours, on light and on dark screens.

use crate::drawing::Fill;

/// The style sheet of drawings. It has no CSS variables, because some SVG viewers do not support them.
pub const STYLE: &str = "\
.figure{color-scheme:light dark}
.figure text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1c2430}
.figure .title{font-weight:700}
.figure .aside,.figure .note{fill:#5f6b7a}
.figure .times{font-size:18px;font-weight:700;fill:#5f6b7a}
.figure .paper{fill:#fff;stroke:none}
.figure .edge{fill:none;stroke:#98a2b0;stroke-width:1.25;stroke-linejoin:round}
.figure .head{fill:#98a2b0;stroke:none}
.figure .edge.chosen{stroke:#2b8a3e;stroke-width:1.75}
.figure .head.chosen{fill:#2b8a3e}
.figure rect{stroke:#b4bcc8;stroke-width:1;fill:#f4f6f9}
.figure .input rect{fill:#e3effd;stroke:#9dbfe6}
.figure .param rect{fill:#efeafb;stroke:#c0b2e3}
.figure .constant rect{fill:#f1f1ed;stroke:#c9c9bf}
.figure .output rect{fill:#e2f4e7;stroke:#9ccdaa}
.figure .group rect{fill-opacity:.16}
.figure .frame rect{fill:#8a94a3;fill-opacity:.07;stroke:#98a2b0;stroke-dasharray:6 4}
.figure .new rect{stroke:#1a7f37;stroke-width:3}
.figure .gone rect{stroke:#b42318;stroke-width:3;stroke-dasharray:5 3}
.figure .changed rect{stroke:#9a6700;stroke-width:3}
.figure rect.chosen{fill:#cfe9d5;fill-opacity:1;stroke:none}
@media(prefers-color-scheme:dark){
.figure text{fill:#e6eaf0}
.figure .aside,.figure .note,.figure .times{fill:#9aa6b5}
.figure .paper{fill:#14181f}
.figure .edge{stroke:#6c7787}
.figure .head{fill:#6c7787}
.figure .edge.chosen{stroke:#4ac26b}
.figure .head.chosen{fill:#4ac26b}
.figure rect{stroke:#4a5462;fill:#20272f}
.figure .input rect{fill:#16304d;stroke:#31608f}
.figure .param rect{fill:#2c2547;stroke:#5b4d8a}
.figure .constant rect{fill:#2a2a26;stroke:#55554c}
.figure .output rect{fill:#18381f;stroke:#37704a}
.figure .group rect{fill-opacity:.24}
.figure .frame rect{stroke:#6c7787}
.figure .new rect{stroke:#4ac26b}
.figure .gone rect{stroke:#ff8a7a}
.figure .changed rect{stroke:#e3b341}
.figure rect.chosen{fill:#1f4a2b}
}
";

/// Tints of groups, for light and dark backgrounds.
const GROUPS: [&str; 8] = [
    "#e8590c", "#2f9e44", "#1c7ed6", "#9c36b5", "#e0a800", "#0c8599", "#e03131", "#6741d9",
];

/// Returns the colour of the group with this number.
pub fn group_colour(number: usize) -> &'static str {
    GROUPS[number % GROUPS.len()]
}

/// Returns the colour of a box in DOT, which has no style sheet.
pub(crate) fn fill_colour(fill: Fill) -> String {
    match fill {
        Fill::Input => "#e3effd".to_owned(),
        Fill::Param => "#efeafb".to_owned(),
        Fill::Constant => "#f1f1ed".to_owned(),
        Fill::Op => "#f4f6f9".to_owned(),
        Fill::Group(number) => format!("{}29", group_colour(number)),
        Fill::Output => "#e2f4e7".to_owned(),
    }
}
