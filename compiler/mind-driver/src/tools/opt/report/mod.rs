//! `--report`: a compilation as one page.

mod kernels;
mod page;
mod recording;
mod sections;

pub(super) use page::{Subject, page};
pub(super) use recording::Recording;
