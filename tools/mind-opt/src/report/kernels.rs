//! Section of the kernels, for modules lowered to loops.

use std::fmt::Write;

use mind_diag::SourceFile;
use mind_draw::escape;
use mind_driver::segments::Segments;
use mind_ir::Graph;
use mind_jit::program::{KernelListing, listings};
use mind_loops::memory::is_kernel;
use mind_vir::target::{Isa, TargetInfo};

use super::sections::counted;
use super::subject::Subject;

/// Returns the loops and instructions of the kernels, if the module is lowered to loops.
pub(super) fn section(subject: &Subject<'_>) -> String {
    let listed = subject.recording.last.as_ref().and_then(kernels);
    let mut out = String::from("<h2 id=\"kernels\">Kernels</h2>\n");
    match listed {
        None => out.push_str("<p class=\"dim\">The module is not lowered to loops; <code>--lower-to-loops</code> does that.</p>\n"),
        Some(Err(why)) => {
            let _ = writeln!(out, "<p>They cannot be compiled: {}</p>", escape(&why));
        }
        Some(Ok(Kernels { isa, listings, segments })) => {
            let _ = writeln!(out, "<p class=\"dim\">{} for {isa}</p>", counted(listings.len(), "kernel"));
            out.push_str(&cuts(&segments, subject.file));
            for (number, listing) in listings.iter().enumerate() {
                let (op, bytes) = (escape(listing.op), listing.bytes);
                let _ = writeln!(
                    out,
                    "<h3>{}. {op}, {bytes} bytes</h3>\n<details><summary>Loops</summary><pre>{}</pre></details>\n\
                     <details><summary>Instructions</summary><pre>{}</pre></details>",
                    number + 1,
                    escape(&listing.vector_ir),
                    escape(&listing.assembly)
                );
            }
        }
    }
    out
}

/// The kernels of a module and their target.
struct Kernels {
    isa: Isa,
    listings: Vec<KernelListing>,
    segments: Segments,
}

/// Lists the cut points of the program.
fn cuts(segments: &Segments, file: &SourceFile) -> String {
    let mut out = format!("<p>{}", counted(segments.compiled, "compiled segment"));
    for cut in &segments.cuts {
        let ((line, column), op) = (file.position(cut.span), escape(cut.op));
        let (name, reason) = (escape(file.name()), cut.reason.text());
        let _ = write!(
            out,
            "<br>cut at <code>{op}</code>, {name}:{line}:{column}: {reason}"
        );
    }
    out + "</p>\n"
}

/// Returns the kernels of `g` for this machine; `None` if it has none.
///
/// # Errors
///
/// Errors if they cannot be compiled.
fn kernels(g: &Graph) -> Option<Result<Kernels, String>> {
    g.ops(g.body()).find(|&op| is_kernel(g, op))?;
    let isa = Isa::detect();
    let listed = listings(g, &TargetInfo::of(isa));
    Some(
        listed
            .map(|listings| Kernels {
                isa,
                listings,
                segments: Segments::of(g),
            })
            .map_err(|why| why.to_string()),
    )
}
