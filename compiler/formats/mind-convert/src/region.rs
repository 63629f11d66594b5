//! Ops with closed regions, whose bodies an importer emits.

use mind_core::region::Carried;
use mind_ir::ValueId;
use mind_ir::attr::Attr;
use mind_ir::builder::Builder;
use mind_ir::opdef::OpDef;
use mind_ir::verify::VerifyError;

use crate::{Many, Refusal};

/// An op with closed regions.
#[derive(Clone, Copy)]
pub struct RegionOp<'o> {
    /// Its table entry.
    pub def: &'static OpDef,
    /// Its attributes.
    pub attrs: &'o [Attr<'o>],
    /// Its operands. Values that the bodies read from outside are among them, because regions of core are closed.
    pub operands: &'o [ValueId],
    /// The number of its results.
    pub results: usize,
}

/// The bodies of a loop.
pub trait Bodies {
    /// Emits the body of region `region` by `b`, which inserts at its end, and returns the values that it yields.
    ///
    /// # Errors
    ///
    /// If a part of the body cannot be imported.
    fn emit(&mut self, region: usize, b: &mut Builder<'_>, arguments: &[ValueId]) -> Many;

    /// Called before the bodies are emitted once more with open extents.
    ///
    /// # Errors
    ///
    /// If that happens too often: each of the loops inside of each other doubles the work.
    fn reopen(&mut self) -> Result<(), Refusal> {
        Ok(())
    }
}

impl RegionOp<'_> {
    /// Creates the op and returns its results. `body` takes the index of a region, a builder at its end and the block
    /// arguments, and returns the values that the region yields.
    ///
    /// # Errors
    ///
    /// Those of `body`, as they are, and of the rules of the op. The graph is then unchanged, except that some ids are
    /// unused.
    pub fn create(
        &self,
        b: &mut Builder<'_>,
        mut body: impl FnMut(usize, &mut Builder<'_>, &[ValueId]) -> Many,
    ) -> Many {
        let mut refused = None;
        let fill = |region: usize, b: &mut Builder<'_>, arguments: &[ValueId]| {
            body(region, b, arguments).map_err(|refusal| {
                let problem = refusal.to_string();
                refused = Some(refusal);
                Box::new(VerifyError::Structure { problem })
            })
        };
        let made = b.create_with_bodies(self.def, self.operands, self.attrs, self.results, fill);
        match (made, refused) {
            (_, Some(refusal)) => Err(refusal),
            (Ok(op), None) => Ok(b.graph.results(op).into_iter().collect()),
            (Err(error), None) => Err(error.into()),
        }
    }

    /// Creates a loop, whose first operands are carried, and returns its results. If a step changes the extents of a
    /// carried value, the loop is emitted once more with open ones, because the ops of a step depend on the types of its
    /// arguments.
    ///
    /// # Errors
    ///
    /// Those of `bodies` and of the rules of the op.
    pub fn create_loop(
        &self,
        b: &mut Builder<'_>,
        mut carried: Carried,
        bodies: &mut impl Bodies,
    ) -> Many {
        loop {
            carried.changes = false;
            let made = self.create(b, |region, b, arguments| {
                carried.open(b.graph, region, arguments);
                let next = bodies.emit(region, b, arguments)?;
                carried.widen(b.graph, region, arguments, &next);
                Ok(next)
            });
            if !carried.changes {
                return made;
            }
            let first = made.ok().and_then(|results| results.first().copied());
            if let Some(op) = first.and_then(|result| b.graph.defining_op(result)) {
                b.graph.erase(op);
            }
            bodies.reopen()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use mind_core::ops::control::{If, While};
    use mind_core::ops::join::Concat;
    use mind_ir::Graph;
    use mind_ir::opdef::Op as _;
    use mind_ir::tensor::Tensor;
    use mind_ir::types::Dim;

    use super::*;

    #[test]
    fn a_refusal_in_a_body_is_returned_as_it_is() {
        let mut module = Graph::new();
        let mut b = Builder::at_end(&mut module);
        let condition = mind_core::constant(&mut b, &Tensor::scalar(true));
        let choice = RegionOp {
            def: If::DEF,
            attrs: &[],
            operands: &[condition],
            results: 1,
        };
        let refusal = Refusal::axis(3, 2);
        let made = choice.create(&mut b, |_, _, _| Err(refusal.clone()));
        assert_eq!(made, Err(refusal));
        assert_eq!(module.ops(module.body()).count(), 1);
    }

    /// A loop that doubles the extent of its value.
    struct Doubling {
        reopened: usize,
    }

    impl Bodies for Doubling {
        fn emit(&mut self, region: usize, b: &mut Builder<'_>, arguments: &[ValueId]) -> Many {
            Ok(vec![match region {
                0 => mind_core::constant(b, &Tensor::scalar(false)),
                _ => Concat::with(0).build(b, &[arguments[0], arguments[0]])?,
            }])
        }

        fn reopen(&mut self) -> Result<(), Refusal> {
            self.reopened += 1;
            Ok(())
        }
    }

    #[test]
    fn a_loop_whose_steps_change_extents_is_emitted_again_with_open_ones() {
        let mut module = Graph::new();
        let mut b = Builder::at_end(&mut module);
        let first = mind_core::constant(&mut b, &Tensor::of(vec![2], vec![1.0f32; 2]));
        let attrs = While::attrs(1);
        let doubled = RegionOp {
            def: While::DEF,
            attrs: &attrs,
            operands: &[first],
            results: 1,
        };
        let mut bodies = Doubling { reopened: 0 };
        let made = doubled.create_loop(&mut b, Carried::new(1, 1), &mut bodies);
        let results = made.expect("a loop");
        assert_eq!(bodies.reopened, 1);
        assert_eq!(module.ty(results[0]).shape, [Dim::Dynamic]);
        assert_eq!(module.ops(module.body()).count(), 2);
    }
}
