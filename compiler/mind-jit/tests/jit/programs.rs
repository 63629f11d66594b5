//! Random functions of vector IR.
