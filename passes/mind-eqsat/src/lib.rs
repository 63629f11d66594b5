//! E-graph folding and fusion over any op table.
