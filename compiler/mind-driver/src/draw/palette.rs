//! Colours, for light and for dark screens.

/// The style of pictures and of what stands around them, in CSS.
pub const STYLE: &str = "\
:root{color-scheme:light dark}
.figure{--paper:#fff;--ink:#1c2430;--line:#8a94a3;--op:#eef1f6;--input:#dcebff;--param:#e7e0fb;--const:#e9e9e4;\
--out:#d9f2e1;--new:#1a7f37;--gone:#b42318;--changed:#9a6700}
@media(prefers-color-scheme:dark){.figure{--paper:#14181f;--ink:#e6eaf0;--line:#6c7787;--op:#232b36;\
--input:#173457;--param:#34285c;--const:#33332d;--out:#1b4029;--new:#4ac26b;--gone:#ff8a7a;--changed:#e3b341}}
.figure text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:var(--ink)}
.figure .title{font-weight:700}
.figure .edge{fill:none;stroke:var(--line);stroke-width:1.2}
.figure rect{stroke:var(--line);stroke-width:1;fill:var(--op)}
.figure .input rect{fill:var(--input)}
.figure .param rect{fill:var(--param)}
.figure .constant rect{fill:var(--const)}
.figure .output rect{fill:var(--out)}
.figure .new rect{stroke:var(--new);stroke-width:3}
.figure .gone rect{stroke:var(--gone);stroke-width:3;stroke-dasharray:5 3}
.figure .changed rect{stroke:var(--changed);stroke-width:3}
";

/// Fills of fusion groups: light enough for dark text, each told apart from its neighbours.
const GROUPS: [&str; 8] = [
    "#ffd8a8", "#b2f2bb", "#a5d8ff", "#eebefa", "#ffec99", "#99e9f2", "#ffc9c9", "#d0bfff",
];

/// The fill of the group with this number.
pub fn group_colour(number: usize) -> &'static str {
    GROUPS[number % GROUPS.len()]
}
