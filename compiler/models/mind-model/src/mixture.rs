//! Mixture of experts: the part of a layer after attention.

use std::sync::Arc;

use mind_irv2::graph::routed::Cut;

use crate::error::ModelError;
use crate::model::{Model, Parts, Stage};
use crate::sizes::pass_tokens;

/// The parts and activations of layers with experts.
pub(crate) struct Mixture<'m, 'w> {
    model: &'m Model<'w>,
    cut: &'m Cut,
    route: Arc<Parts>,
    merge: Arc<Parts>,
    /// The outputs of the router part: the experts' input, the weights of each token's experts, and values that the
    /// merge part reads.
    left: Vec<Vec<f32>>,
    /// The sum of the experts' outputs for each token.
    made: Vec<f32>,
}

impl<'m, 'w> Mixture<'m, 'w> {
    /// Returns the parts for passes of `padded` tokens.
    ///
    /// # Errors
    ///
    /// A part cannot be compiled; out of memory.
    pub(crate) fn new(
        model: &'m Model<'w>,
        cut: &'m Cut,
        padded: usize,
    ) -> Result<Mixture<'m, 'w>, ModelError> {
        let left = cut.left.iter().map(|own| vec![0.0; padded * own.width]);
        Ok(Mixture {
            model,
            cut,
            route: model.stage(Stage::Route(padded))?,
            merge: model.stage(Stage::Merge(padded))?,
            left: left.collect(),
            made: vec![0.0; padded * cut.left[0].width],
        })
    }

    /// Runs the part of `layer` after attention on the first `count` tokens; the others are padding.
    ///
    /// # Errors
    ///
    /// Out of memory for intermediate values.
    pub(crate) fn run(
        &mut self,
        layer: usize,
        count: usize,
        inputs: [&[f32]; 2],
        y: &mut [f32],
    ) -> Result<(), ModelError> {
        let owner = (Some(layer), None);
        let mut outputs: Vec<&mut [f32]> = self.left.iter_mut().map(Vec::as_mut_slice).collect();
        self.route[&owner].run(&inputs, &mut outputs)?;
        self.made.fill(0.0);
        for expert in 0..self.cut.left[1].width {
            self.add_expert(layer, expert, count)?;
        }
        let mut inputs: Vec<&[f32]> = vec![&self.made];
        inputs.extend(self.cut.read.iter().map(|&at| self.left[at].as_slice()));
        self.merge[&owner].run(&inputs, &mut [y])
    }

    /// Adds an expert's outputs for the tokens that are routed to it.
    fn add_expert(&mut self, layer: usize, expert: usize, count: usize) -> Result<(), ModelError> {
        let [width, experts] = [0, 1].map(|at| self.cut.left[at].width);
        let share = |token: usize| self.left[1][token * experts + expert];
        // Experts that are not chosen for a token have a weight of 0.
        let own: Vec<usize> = (0..count).filter(|&token| share(token) > 0.0).collect();
        if own.is_empty() {
            return Ok(());
        }
        let rows = pass_tokens(own.len());
        let (mut x, mut shares) = (vec![0.0; rows * width], vec![0.0; rows]);
        for (row, &token) in own.iter().enumerate() {
            let from = &self.left[0][token * width..][..width];
            x[row * width..][..width].copy_from_slice(from);
            shares[row] = share(token);
        }
        let parts = self.model.stage(Stage::Expert(rows))?;
        let mut y = vec![0.0; rows * width];
        parts[&(Some(layer), Some(expert))].run(&[&x, &shares], &mut [&mut y])?;
        for (row, &token) in own.iter().enumerate() {
            let sum = &mut self.made[token * width..][..width];
            for (sum, y) in sum.iter_mut().zip(&y[row * width..]) {
                *sum += y;
            }
        }
        Ok(())
    }
}
