//! An instance of a rule and its evaluation.

use mind_eqsat::{Application, RuleInstances};
use mind_ir::ValueId;
use mind_ir::opdef::Trait;
use mind_ir::tensor::Tensor;
use mind_rules::{FastMath, RuleInstance};

use crate::criteria::{Evidence, Judgement, judge};
use crate::evaluate::{Ran, Sides, values};
use crate::format::to_f64;
use crate::instance::Instance;
use crate::mutants::mutants;
use crate::tally::{CLASSES, Failure, Tally};
use crate::values::{MODES, Mode};
use mind_ir::random::Rng;

/// The maximum number of evaluations of an instance in each mode. Instances with many elements have fewer.
const ROUNDS: usize = 6;

/// An instance to which a rule was applied.
pub(crate) struct Trial {
    pub(crate) instance: Instance,
    pub(crate) applications: Vec<Application>,
    /// Ops from this id on belong to right sides.
    pub(crate) right: usize,
}

impl Trial {
    /// Applies `form` to `instance`.
    pub(crate) fn new<'r>(
        forms: &RuleInstances<'r>,
        form: RuleInstance<'r>,
        mut instance: Instance,
    ) -> Trial {
        let right = instance.graph.op_bound();
        let applications = forms.apply(form, &mut instance.graph, instance.left, instance.twin);
        Trial {
            instance,
            applications,
            right,
        }
    }

    /// Returns the applications whose condition holds, each with its right side.
    pub(crate) fn acting(&self) -> impl Iterator<Item = (&Application, ValueId)> {
        let holding = self.applications.iter().filter(|each| each.holds());
        holding.filter_map(|each| Some((each, each.right?)))
    }

    /// Returns whether the condition holds for some application, and the right side has no type that fits in all of
    /// these.
    pub(crate) fn untyped(&self) -> bool {
        let mut holding = self.applications.iter().filter(|each| each.holds());
        let any = holding.clone().next().is_some();
        any && holding.all(|each| each.right.is_none())
    }

    /// Returns whether the left side has no elements.
    pub(crate) fn is_empty(&self) -> bool {
        let left = self.instance.graph.ty(self.instance.left);
        left.count() == Some(0)
    }

    /// Returns the module of the left side and this right side.
    pub(crate) fn sides(&self, right: ValueId) -> Sides {
        let outputs = [self.instance.left, right];
        Sides::new(&self.instance, &outputs, self.right)
    }

    /// Returns an upper bound for the number of roundings that one element of a result depends on.
    fn steps(&self) -> usize {
        let leaves = self.instance.draw.leaves.iter();
        let most = leaves.map(|leaf| leaf.count()).max().unwrap_or(1);
        let longest = leaves_extents(self).max().unwrap_or(1);
        let g = &self.instance.graph;
        let ops = g
            .ops(g.body())
            .filter(|&op| !g.def(op).has(Trait::Constant));
        let elementwise = ops
            .clone()
            .all(|op| g.def(op).has(Trait::Elementwise) || g.def(op).has(Trait::Interface));
        if elementwise {
            ops.count()
        } else {
            ops.count() + most.min(longest * longest)
        }
    }

    /// Evaluates the trial in every mode and adds the results to `tally`.
    pub(crate) fn run(&self, promise: &Promise, rng: &mut Rng, tally: &mut Tally) {
        let g = &self.instance.graph;
        let count = g.ty(self.instance.left).count().unwrap_or(8).max(1) as usize;
        let rounds = (64 / count).clamp(1, ROUNDS);
        self.run_in(&MODES, rounds, promise, rng, tally);
    }

    /// Evaluates the trial `rounds` times in each of `modes` and adds the results to `tally`.
    pub(crate) fn run_in(
        &self,
        modes: &[Mode],
        rounds: usize,
        promise: &Promise,
        rng: &mut Rng,
        tally: &mut Tally,
    ) {
        for (_, right) in self.acting() {
            let sides = self.sides(right);
            for &mode in modes {
                for _ in 0..rounds {
                    let values = values(&self.instance, rng, mode);
                    self.case(&sides, values, mode, promise, tally);
                }
            }
        }
    }

    /// Evaluates one case and adds its result to `tally`.
    pub(crate) fn case(
        &self,
        sides: &Sides,
        values: Vec<Tensor>,
        mode: Mode,
        promise: &Promise,
        tally: &mut Tally,
    ) {
        let outputs = match sides.run(&values) {
            Ran::Done(outputs) => outputs,
            Ran::LeftFails => return,
            Ran::RightFails(_) => {
                tally.broken = [true; CLASSES.len()];
                self.fail(values, mode, 0, tally);
                return;
            }
        };
        let [left, right] = &outputs[..] else { return };
        let numbers = to_f64(left.buffer()).iter().filter(|x| !x.is_nan()).count();
        tally.cases += left.count();
        tally.numbers += numbers;
        if left.same_bits(right) {
            tally.judged += left.count();
            return;
        }
        let Some(everything) = sides.everything(&values) else {
            return;
        };
        let case = Evidence {
            left,
            right,
            mode,
            everything: &everything,
            steps: self.steps(),
        };
        for (class, broken) in CLASSES.iter().zip(&mut tally.broken) {
            *broken |= matches!(judge(*class, 0.0, &case), Judgement::Broken(_));
        }
        match judge(promise.class, promise.tolerance, &case) {
            Judgement::Kept => tally.judged += left.count(),
            Judgement::Excused { differ } => tally.excused |= differ,
            Judgement::Broken(at) => self.fail(values, mode, at, tally),
        }
    }

    fn fail(&self, values: Vec<Tensor>, mode: Mode, at: usize, tally: &mut Tally) {
        tally.failure.get_or_insert_with(|| Failure {
            draw: self.instance.draw.clone(),
            values,
            mode,
            at,
        });
    }

    /// Evaluates applications that exactly one part of the condition excludes.
    pub(crate) fn run_without(&self, promise: &Promise, rng: &mut Rng, tally: &mut Tally) {
        for application in &self.applications {
            let parts = &application.conditions;
            let refused = |part: &Option<bool>| *part != Some(true);
            let Some(part) = parts.iter().position(refused) else {
                continue;
            };
            if parts[part + 1..].iter().any(refused) || parts[part].is_none() {
                continue;
            }
            let Some(right) = application.right else {
                continue;
            };
            let sides = self.sides(right);
            let mut seen = Tally::default();
            for mode in MODES {
                let values = values(&self.instance, rng, mode);
                self.case(&sides, values, mode, promise, &mut seen);
            }
            let without = &mut tally.without[part];
            without.cases += seen.judged;
            without.differs |= seen.failure.is_some();
            without.excused |= seen.excused;
        }
    }

    /// Evaluates mutants of the right side and records which of them are distinguished from the left side.
    pub(crate) fn run_mutants(&self, promise: &Promise, rng: &mut Rng, tally: &mut Tally) {
        let Some((_, right)) = self.acting().next() else {
            return;
        };
        let mut instance = Instance {
            graph: self.instance.graph.clone(),
            draw: self.instance.draw.clone(),
            inputs: self.instance.inputs.clone(),
            below: self.instance.below.clone(),
            ..self.instance
        };
        let left = instance.left;
        for mutant in mutants(&mut instance.graph, self.right, left, right) {
            let sides = Sides::new(&instance, &[left, mutant.value], self.right);
            let mut seen = Tally::default();
            for mode in [Mode::Special, Mode::Moderate, Mode::Window] {
                let values = values(&instance, rng, mode);
                self.case(&sides, values, mode, promise, &mut seen);
            }
            if seen.judged > 0 || seen.failure.is_some() {
                tally.mutant(mutant.label, seen.failure.is_some());
            }
        }
    }
}

fn leaves_extents(trial: &Trial) -> impl Iterator<Item = usize> {
    let leaves = trial.instance.draw.leaves.iter();
    leaves.flat_map(|leaf| leaf.shape.iter().map(|&extent| extent as usize))
}

/// The promise of a rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Promise {
    pub(crate) class: FastMath,
    /// The relative error that `approx` allows.
    pub(crate) tolerance: f64,
}

impl Promise {
    /// Returns the promise of `form`.
    pub(crate) fn of(form: RuleInstance<'_>) -> Promise {
        Promise {
            class: form.class(),
            tolerance: form.tolerance(),
        }
    }
}
