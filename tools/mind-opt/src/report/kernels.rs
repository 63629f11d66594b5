//! The kernels of a module that is lowered to loops, as people read them.

use std::fmt::Write;

use mind_draw::escape;
use mind_ir::Graph;
use mind_jit::program::{KernelListing, listings};
use mind_loops::memory::is_kernel;
use mind_vir::target::{Isa, TargetInfo};

use super::sections::counted;
use super::subject::Subject;

/// Loops and instructions of the kernels, where the module is lowered that far.
pub(super) fn section(subject: &Subject<'_>) -> String {
    let listed = subject.recording.last.as_ref().and_then(kernels);
    let mut out = String::from("<h2 id=\"kernels\">Kernels</h2>\n");
    match listed {
        None => out.push_str("<p class=\"dim\">The module is not lowered to loops; <code>--lower-to-loops</code> does that.</p>\n"),
        Some(Err(why)) => {
            let _ = writeln!(out, "<p>They cannot be compiled: {}</p>", escape(&why));
        }
        Some(Ok(Kernels { isa, listings })) => {
            let _ = writeln!(out, "<p class=\"dim\">{} for {isa}</p>", counted(listings.len(), "kernel"));
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

/// The kernels of a module and what they are compiled for.
struct Kernels {
    isa: Isa,
    listings: Vec<KernelListing>,
}

/// The kernels of `g` for this machine; `None` if it holds none.
///
/// # Errors
///
/// Why they cannot be compiled.
fn kernels(g: &Graph) -> Option<Result<Kernels, String>> {
    g.ops(g.body()).find(|&op| is_kernel(g, op))?;
    let isa = Isa::detect();
    let listed = listings(g, &TargetInfo::of(isa));
    Some(
        listed
            .map(|listings| Kernels { isa, listings })
            .map_err(|why| why.to_string()),
    )
}
