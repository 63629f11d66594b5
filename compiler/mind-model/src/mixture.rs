//! What a layer with experts does behind its attention.

use std::sync::Arc;

use mind_irv2::graph::routed::Cut;

use crate::error::ModelError;
use crate::model::{Model, Parts, Stage};
use crate::sizes::pass_tokens;

/// The parts and the arrays of a pass through layers with experts.
pub(crate) struct Mixture<'m, 'w> {
    model: &'m Model<'w>,
    cut: &'m Cut,
    route: Arc<Parts>,
    merge: Arc<Parts>,
    /// What the steps in front of the experts leave.
    left: Vec<Vec<f32>>,
    /// What the experts made of each token.
    made: Vec<f32>,
}

impl<'m, 'w> Mixture<'m, 'w> {
    /// For passes of `padded` tokens.
    ///
    /// # Errors
    ///
    /// A part that cannot be made, no memory.
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

    /// Runs `layer` behind its attention on the first `count` tokens; those behind them are padding.
    ///
    /// # Errors
    ///
    /// No memory for the values in between.
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

    /// Adds what an expert makes of its tokens.
    fn add_expert(&mut self, layer: usize, expert: usize, count: usize) -> Result<(), ModelError> {
        let [width, experts] = [0, 1].map(|at| self.cut.left[at].width);
        let share = |token: usize| self.left[1][token * experts + expert];
        // A share that is not above 0 is that of an expert that is not chosen.
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
