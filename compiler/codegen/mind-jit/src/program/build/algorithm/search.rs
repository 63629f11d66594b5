//! Argmax over sliding windows.

use mind_core::ops::window::ArgMaxWindow;
use mind_loops::extents::known;
use mind_vir::program::{Algorithm, Search, Slide};

use super::Call;

/// Returns the search that `call` evaluates; `None` if it evaluates another op, or has more elements than C can count.
pub(super) fn search(call: Call<'_>) -> Option<Algorithm> {
    let g = call.g;
    let op = g.view::<ArgMaxWindow>(call.inner)?;
    let input = *call.op.inputs(g).first()?;
    let slides = op.slides(g, &known(g, input)).ok()?;
    let slides = slides.into_iter().map(|axis| Slide {
        extent: axis.extent,
        positions: axis.positions,
        window: axis.window,
        stride: axis.stride,
        dilation: axis.dilation,
        low: axis.low,
    });
    let search = Algorithm::Search(Search {
        dtype: g.ty(input).dtype,
        slides: slides.collect(),
    });
    search.stays_inside().then_some(search)
}
