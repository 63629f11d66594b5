//! HTML page of one module.

use mind_draw::{Drawing, STYLE, escape, svg_figure};

const PAGE: &str = ":root{color-scheme:light dark}
body{margin:0 auto;padding:16px;max-width:1400px;font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.3rem;overflow-wrap:anywhere}
.scroll{overflow-x:auto;border:1px solid #8a94a355;border-radius:8px}
pre{overflow-x:auto;padding:12px;font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}";

/// Returns a self-contained page with the drawing and the module's text.
pub fn html(drawing: &Drawing, name: &str, text: &str) -> String {
    let (name, text, figure) = (escape(name), escape(text), svg_figure(drawing));
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>{name}</title>\n<style>{PAGE}\n{STYLE}</style></head>\n\
         <body><h1>{name}</h1>\n<div class=\"scroll\" tabindex=\"0\">{figure}</div>\n<pre>{text}</pre>\n</body></html>\n"
    )
}
