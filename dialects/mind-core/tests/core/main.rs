//! The shape rule and the evaluation of every op of the core dialect.

mod constructors;
mod coverage;
mod elements;
mod module;
mod rules;
mod run;
mod sample;

mod choice;
mod constant;
mod contract;
mod control;
mod conv;
mod convert;
mod convolution;
mod cumulative;
mod dot_general;
mod dynamic;
mod elementwise;
mod indexing;
mod limits;
mod movement;
mod normalize;
mod pad;
mod quantize;
mod reduce;
mod runtime_shape;
mod solve;
mod window;
