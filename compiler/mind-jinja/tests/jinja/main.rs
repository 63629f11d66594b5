//! Templates compared with the output of jinja2.

mod limits;
mod places;
mod recorded;
