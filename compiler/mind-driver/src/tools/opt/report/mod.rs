//! `--report`: a compilation as one page.

mod kernels;
mod page;
mod recording;
mod sections;
mod subject;

pub(super) use page::page;
pub(super) use recording::Recording;
pub(super) use subject::Subject;
