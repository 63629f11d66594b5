//! The page: head, style and order of sections.

use mind_draw::{STYLE, escape};

use super::sections;
use super::subject::Subject;

/// The style sheet: one column on phones; on wide screens the states before and after a pass are next to each other.
const PAGE_STYLE: &str = "\
*{box-sizing:border-box}
body{--back:#fff;--text:#1c2430;--dim:#5b6675;--rule:#d5dae2;--soft:#f4f6f9;--plus:#d9f2e1;--minus:#fbdcd8;--accent:#2457c5;
margin:0 auto;padding:16px;max-width:1500px;font:16px/1.5 system-ui,sans-serif;background:var(--back);color:var(--text)}
@media(prefers-color-scheme:dark){body{--back:#14181f;--text:#e6eaf0;--dim:#a3adba;--rule:#333c48;--soft:#1c222b;\
--plus:#173a25;--minus:#4a211d;--accent:#8fb4ff}}
h1{font-size:1.4rem;margin:.2em 0;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:1.6em 0 .5em}
h3{font-size:1rem;margin:1em 0 .4em}
a{color:var(--accent)}
p{margin:.4em 0}
.dim{color:var(--dim)}
code,pre,td.name{font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{overflow-wrap:anywhere}
pre{margin:.4em 0;padding:12px;overflow-x:auto;background:var(--soft);border-radius:8px}
table{border-collapse:collapse;width:100%}
th,td{padding:4px 10px 4px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule);overflow-wrap:break-word}
@media(min-width:641px){.stacks{table-layout:fixed}.stacks col.rule{width:18%}.stacks col.on,.stacks col.became{width:22%}}
.stacks td{overflow-wrap:anywhere}
th{font-weight:600;color:var(--dim)}
td.number,th.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
td.share{width:140px;vertical-align:middle}
.bar{height:10px;min-width:2px;border-radius:3px;background:var(--accent)}
.scroll{overflow-x:auto;border:1px solid var(--rule);border-radius:8px;background:var(--soft)}
.sides{display:grid;gap:12px;grid-template-columns:minmax(0,1fr)}
@media(min-width:900px){.sides{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}}
details{margin:.6em 0;border-top:1px solid var(--rule)}
summary{padding:.5em 0;cursor:pointer;font-weight:600}
.diff .plus{background:var(--plus)}
.diff .minus{background:var(--minus)}
.swatch{display:inline-block;width:14px;height:14px;margin-right:6px;border:1px solid var(--dim);border-radius:3px;vertical-align:-2px}
@media(max-width:640px){th,td{padding-right:6px;font-size:14px}td.name{font-size:13px}td.share{width:24px}
.stacks thead{display:none}.stacks,.stacks tbody,.stacks tr,.stacks td{display:block}
.stacks tr{padding:8px 0;border-bottom:1px solid var(--rule)}.stacks td{padding:0 0 4px;border:0}
.stacks td::before{display:block;content:attr(data-label);font:12px/1.4 system-ui,sans-serif;color:var(--dim)}}
.legend span{margin-right:14px;white-space:nowrap}
.mark-new{border-bottom:3px solid #1a7f37}
.mark-gone{border-bottom:3px dashed #b42318}
.mark-changed{border-bottom:3px solid #9a6700}
";

/// Returns the page, a self-contained file.
pub(crate) fn page(subject: &Subject<'_>) -> String {
    let name = escape(subject.file.name());
    let mut body = sections::head(subject);
    #[cfg(feature = "jit")]
    body.push_str(&super::programs::section(subject));
    body.push_str(&sections::passes(subject));
    for number in 0..subject.recording.passes.len() {
        body.push_str(&sections::pass(subject, number));
    }
    body.push_str(&sections::result(subject));
    #[cfg(feature = "jit")]
    body.push_str(&super::kernels::section(subject));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{name}: what the compiler did</title>\n<style>\n{PAGE_STYLE}{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}
