//! Templates against what jinja2 makes of them.

mod limits;
mod places;
mod recorded;
