//! `--report`: a compilation as one page.

mod costs;
#[cfg(feature = "jit")]
mod kernels;
mod page;
mod recording;
mod rewrites;
mod sections;
mod subject;

pub(super) use page::page;
pub(super) use recording::Recording;
pub(super) use subject::Subject;
