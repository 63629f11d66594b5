//! Templates compared with the output of jinja2.

mod frames;
mod limits;
mod places;
mod recorded;
