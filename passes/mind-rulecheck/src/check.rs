//! Checks the rules of a rule set.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use mind_core::ops::fused::Fused;
use mind_eqsat::cost::HOST_CPU;
use mind_eqsat::{Context, Limits, RuleInstances};
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::verify::VerifyError;
use mind_rules::{FastMath, Hint, RuleInstance, RuleSet};

use crate::counterexample::counterexample;
use crate::criteria::excuse;
use crate::draw::Chooser;
use crate::instance::{Draw, Leaf, LeafKind, Unbuilt, build, replay};
use crate::plan::{Plan, Plans};
use crate::report::{RuleCheck, Verdict, class_text};
use crate::shrink::shrink;
use crate::strata::strata;
use crate::tally::{Tally, Without};
use crate::trial::{Promise, Trial};
use crate::values::{Grid, Mode};
use mind_ir::random::Rng;

/// The number of modules below which a rule counts as not tested.
const LEAST_DRAWS: usize = 20;

/// The number of compared elements below which a rule counts as not tested.
const LEAST_CASES: usize = 1000;

/// The maximum number of attempts for each module wanted.
const PATIENCE: usize = 960;

/// The factor by which the number of modules may grow if their results are small or NaN.
const MORE: usize = 10;

/// The number of modules evaluated in each dtype although the condition does not hold.
const REJECTED_MODULES: usize = 4;

/// The number of further modules drawn in each dtype to show that each part of the condition is needed.
const MORE_REJECTED_MODULES: usize = 80;

/// The maximum number of attempts to build a module of a stratum.
const STRATUM_TRIES: usize = 8;

/// Dtypes other than `f32` and `i32` are tried in one stratum of this many.
const STRATUM_INTERVAL: usize = 4;

/// The number of cases excluded by a part of the condition after which the part may be called needless.
const NEEDLESS_CASES: usize = 250;

/// The thoroughness of a check.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The number of modules per rule in `f32` and in `i32`. Other dtypes get at least a third of it.
    pub draws: usize,
    /// The seed of all random choices.
    pub seed: u64,
    /// The number of threads. The result does not depend on it.
    pub threads: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            draws: 16,
            seed: 1,
            threads: 1,
        }
    }
}

/// Checks every rule of `rules` and returns one entry per rule and direction, in the order of the files.
pub fn check(rules: &RuleSet, config: &Config) -> Vec<RuleCheck> {
    let forms = RuleInstances::new(Context {
        rules,
        classes: FastMath::ALL,
        cost: &HOST_CPU,
        limits: Limits::default(),
        constant: mind_core::constant,
        splat: mind_core::splat,
        fused: Fused::DEF,
        canonical: |_| (),
    });
    let all: Vec<RuleInstance<'_>> = forms.iter().collect();
    let tallies = in_parallel(all.len(), config.threads, |at| {
        let form = all[at];
        Plans::new(form).map(|plans| {
            let same = |other: &&RuleInstance<'_>| {
                other.rule() == form.rule() && other.reversed() == form.reversed()
            };
            let share = all.iter().filter(same).count();
            let tally = Checker::new(&forms, form, &plans, config, share).run();
            (plans, tally)
        })
    });
    let mut checks = Vec::new();
    let mut tallies: Vec<Option<_>> = tallies.into_iter().map(Some).collect();
    for first in 0..all.len() {
        let same = |at: &usize| {
            all[*at].rule() == all[first].rule() && all[*at].reversed() == all[first].reversed()
        };
        let group: Vec<usize> = (first..all.len()).filter(same).collect();
        let mut found = Vec::new();
        for at in group {
            if let Some(tally) = tallies[at].take() {
                found.push((all[at], tally));
            }
        }
        if !found.is_empty() {
            checks.push(summary(&forms, found));
        }
    }
    checks
}

/// Returns the results of `work` for 0 to `count - 1`, in order.
fn in_parallel<T: Send>(count: usize, threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(count));
    let worker = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                break;
            }
            let result = work(at);
            if let Ok(mut done) = done.lock() {
                done.push((at, result));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            scope.spawn(worker);
        }
        worker();
    });
    let mut done = done
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|&(at, _)| at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The dtypes in the order in which they are tried. The counterexample comes from the first one that has any.
const DTYPES: [DType; 13] = [
    DType::F32,
    DType::I32,
    DType::F64,
    DType::F16,
    DType::BF16,
    DType::I64,
    DType::I16,
    DType::I8,
    DType::U32,
    DType::U64,
    DType::U16,
    DType::U8,
    DType::Bool,
];

struct Checker<'c, 'r> {
    forms: &'c RuleInstances<'r>,
    form: RuleInstance<'r>,
    plans: &'c Plans<'r>,
    config: &'c Config,
    /// The number of ops that the rule is written for. The modules of a rule are divided among them.
    share: usize,
    promise: Promise,
    tally: Tally,
}

impl<'c, 'r> Checker<'c, 'r> {
    fn new(
        forms: &'c RuleInstances<'r>,
        form: RuleInstance<'r>,
        plans: &'c Plans<'r>,
        config: &'c Config,
        share: usize,
    ) -> Checker<'c, 'r> {
        Checker {
            share,
            forms,
            form,
            plans,
            config,
            promise: Promise::of(form),
            tally: Tally {
                without: vec![Without::default(); form.conditions().len()],
                taken: vec![false; form.alternatives()],
                ..Tally::default()
            },
        }
    }

    fn run(mut self) -> Tally {
        let plan = self.plans.usual();
        let ops: Vec<&str> = plan.ops.iter().map(|op| op.left.def.name).collect();
        let direction = if self.form.reversed() { "<=" } else { "=>" };
        for dtype in DTYPES {
            if !plan.admits(dtype) {
                continue;
            }
            let mut words = vec![self.form.name(), direction, dtype.name()];
            words.extend(&ops);
            let mut rng = Rng::of_words(self.config.seed, &words);
            if self.claims(dtype) {
                // The strata have their own generator, because random modules must not depend on them.
                words.push("strata");
                let mut rng_of_strata = Rng::of_words(self.config.seed, &words);
                self.strata(dtype, &mut rng_of_strata);
                self.pairs(dtype, &mut rng_of_strata);
                self.grids(dtype, &mut rng);
                self.draws(dtype, &mut rng);
            } else {
                self.tally.excluded.push(dtype);
                self.refused(dtype, &mut rng);
            }
        }
        self.tally
    }

    /// Returns whether the rule may act if its main dtype is `dtype`, for some choice of the other dtypes.
    fn claims(&self, dtype: DType) -> bool {
        let plan = self.plans.usual();
        let others = plan.all_others();
        if others.is_empty() {
            return self.form.claims(|value| plan.dtype_of(value, dtype));
        }
        let mut others = others.iter();
        others.any(|others| self.claims_with(dtype, others))
    }

    /// Returns whether the rule may act on `dtype` and these other dtypes.
    fn claims_with(&self, dtype: DType, others: &[DType]) -> bool {
        let plan = self.plans.usual();
        self.form
            .claims(|value| plan.dtype_with(value, dtype, others))
    }

    /// Tries a module of each stratum in `f32` and `i32`, and of every fourth one in another dtype, so that all dtypes
    /// together cover each stratum several times.
    fn strata(&mut self, dtype: DType, rng: &mut Rng) {
        let plan = self.plans.usual();
        let is_main = matches!(dtype, DType::F32 | DType::I32);
        let turn = DTYPES.iter().position(|own| *own == dtype).unwrap_or(0);
        for (at, stratum) in strata(plan).into_iter().enumerate() {
            if !is_main && !(at + turn).is_multiple_of(STRATUM_INTERVAL) {
                continue;
            }
            for _ in 0..STRATUM_TRIES {
                let chooser = Chooser::in_stratum(plan, rng, dtype, stratum);
                let trial = self.built(plan, dtype, chooser);
                let Some(trial) = trial.filter(|trial| trial.acting().next().is_some()) else {
                    continue;
                };
                let modes = [Mode::Special, Mode::Moderate];
                trial.run_in(&modes, 1, &self.promise, rng, &mut self.tally);
                break;
            }
        }
    }

    /// Tries modules with casts in every combination of dtypes, on numbers that the casts round.
    fn pairs(&mut self, dtype: DType, rng: &mut Rng) {
        let plan = self.plans.usual();
        if !plan.elementwise || !plan.casts {
            return;
        }
        for others in plan.all_others() {
            if !self.claims_with(dtype, &others) {
                continue;
            }
            let mut chooser = Chooser::with_others(plan, rng, dtype, others, 2);
            let Ok(small) = build(plan, dtype, chooser.symbol, &mut chooser) else {
                continue;
            };
            if let Some(grid) = Grid::of_casts(dtype, small.inputs.len()) {
                self.grid(plan, &small.draw, &grid);
            }
        }
    }

    /// Returns the number of dtypes that the rule is tried in.
    fn dtypes(&self) -> usize {
        let plan = self.plans.usual();
        let tried = |dtype: &&DType| plan.admits(**dtype) && self.claims(**dtype);
        DTYPES.iter().filter(tried).count()
    }

    /// Tries random modules of one dtype.
    fn draws(&mut self, dtype: DType, rng: &mut Rng) {
        let draws = self.config.draws.div_ceil(self.share.min(4));
        let wanted = match dtype {
            DType::F32 | DType::I32 => draws,
            _ => draws.div_ceil(3),
        };
        // A rule that is tried in few dtypes gets more modules in each of them.
        let wanted = wanted.max((2 * draws).div_ceil(self.dtypes().max(1)));
        let (mut acted, mut full, mut kept_out, mut untyped) = (0, 0, 0, false);
        for _ in 0..wanted * PATIENCE {
            // Modules whose results have few elements do not count fully, so that more are drawn.
            let least = self.tally.judged.min(self.tally.numbers);
            let enough = least >= LEAST_CASES || acted >= MORE * wanted;
            if acted >= wanted && enough {
                break;
            }
            let Some(trial) = self.random(dtype, rng) else {
                continue;
            };
            if trial.acting().next().is_none() {
                untyped |= trial.untyped();
                if kept_out < REJECTED_MODULES {
                    trial.run_without(&self.promise, rng, &mut self.tally);
                }
                kept_out += 1;
                continue;
            }
            for (application, _) in trial.acting() {
                let taken = self.tally.taken.iter_mut().zip(&application.alternatives);
                taken.for_each(|(own, taken)| *own |= taken);
            }
            trial.run(&self.promise, rng, &mut self.tally);
            // Results without elements do not distinguish any mutant.
            let weak = self.tally.mutants.values().all(|killed| !killed);
            if full % 4 == 0 || weak || dtype == DType::Bool {
                trial.run_mutants(&self.promise, rng, &mut self.tally);
            }
            full += usize::from(!trial.is_empty());
            acted += 1;
        }
        self.draw_rejected_modules(dtype, rng);
        self.tally.draws += acted;
        self.tally.untyped |= untyped;
        // If the right side has no type, the rule never acts in this dtype, even if the condition holds.
        if acted > 0 || !untyped {
            self.tally.dtypes.push((dtype, acted));
        }
    }

    /// Draws modules until each part of the condition has excluded one on which the sides differ.
    fn draw_rejected_modules(&mut self, dtype: DType, rng: &mut Rng) {
        for _ in 0..MORE_REJECTED_MODULES {
            if self.tally.without.iter().all(|without| without.differs) {
                return;
            }
            let plan = self.plans.pick(rng);
            let trial = self.built(plan, dtype, Chooser::disobedient(plan, rng, dtype));
            if let Some(trial) = trial.filter(|trial| trial.acting().next().is_none()) {
                trial.run_without(&self.promise, rng, &mut self.tally);
            }
        }
    }

    /// Evaluates a few modules of a dtype that the condition excludes.
    fn refused(&mut self, dtype: DType, rng: &mut Rng) {
        for _ in 0..REJECTED_MODULES {
            if let Some(trial) = self.random(dtype, rng) {
                trial.run_without(&self.promise, rng, &mut self.tally);
            }
        }
    }

    fn random(&mut self, dtype: DType, rng: &mut Rng) -> Option<Trial> {
        let plan = self.plans.pick(rng);
        self.built(plan, dtype, Chooser::new(plan, rng, dtype))
    }

    /// Builds a module and applies the rule to it. Records in the tally why the verifier rejects a module.
    fn built(
        &mut self,
        plan: &Plan<'_>,
        dtype: DType,
        mut chooser: Chooser<'_, '_>,
    ) -> Option<Trial> {
        match build(plan, dtype, chooser.symbol, &mut chooser) {
            Ok(instance) => {
                self.tally.built = true;
                Some(Trial::new(self.forms, self.form, instance))
            }
            Err(Unbuilt::NoChoice) => None,
            Err(Unbuilt::Rejected { op, error }) => {
                let first = || format!("`{op}`: {}", rejection_text(&error));
                self.tally.rejection.get_or_insert_with(first);
                None
            }
        }
    }

    /// Tries modules of elementwise ops whose inputs have every combination of some values.
    fn grids(&mut self, dtype: DType, rng: &mut Rng) {
        let plan = self.plans.usual();
        if !plan.elementwise {
            return;
        }
        let fixed =
            |hint: &Hint| matches!(hint, Hint::Truth(_) | Hint::Rank(..) | Hint::SameShape(..));
        let repeats = if plan.hints.iter().all(fixed) { 1 } else { 3 };
        for _ in 0..repeats {
            let mut chooser = Chooser::flat(plan, rng, dtype, 2);
            let Ok(small) = build(plan, dtype, None, &mut chooser) else {
                return;
            };
            for grid in Grid::all(dtype, small.inputs.len()) {
                self.grid(plan, &small.draw, &grid);
            }
        }
    }

    /// Evaluates the module of `small`, whose leaves are vectors, on all combinations of a grid.
    fn grid(&mut self, plan: &Plan<'_>, small: &Draw, grid: &Grid) {
        let mut draw = small.clone();
        draw.leaves
            .iter_mut()
            .for_each(|leaf| widen(leaf, grid.count()));
        let Some(instance) = replay(plan, &draw) else {
            return;
        };
        let trial = Trial::new(self.forms, self.form, instance);
        let shape = vec![grid.count()];
        let (g, inputs) = (&trial.instance.graph, trial.instance.inputs.iter());
        let dtypes = inputs.map(|&(op, _)| g.ty(g.result(op)).dtype);
        let input = |(at, dtype)| Tensor::new(shape.clone(), grid.input(dtype, at));
        let values: Vec<Tensor> = dtypes.enumerate().map(input).collect();
        for (_, right) in trial.acting() {
            let sides = trial.sides(right);
            let (mode, promise) = (Mode::Special, &self.promise);
            trial.case(&sides, values.clone(), mode, promise, &mut self.tally);
        }
    }
}

/// Resizes a leaf that is a vector to `count` elements.
fn widen(leaf: &mut Leaf, count: usize) {
    leaf.shape = vec![count as i64];
    if let LeafKind::Constant(tensor) = &leaf.kind {
        let buffer = tensor.buffer().splat(count);
        leaf.kind = LeafKind::Constant(Tensor::new(vec![count], buffer));
    }
}

type Outcome<'r> = Result<(Plans<'r>, Tally), String>;

/// Returns the result of one direction of a rule, over all ops that it is written for.
fn summary<'r>(
    forms: &RuleInstances<'r>,
    found: Vec<(RuleInstance<'r>, Outcome<'r>)>,
) -> RuleCheck {
    let (form, _) = found[0];
    let mut check = RuleCheck {
        name: form.name().to_owned(),
        reversed: form.reversed(),
        class: form.class(),
        verdict: Verdict::Holds,
        holds: Some(FastMath::EXACT),
        dtypes: Vec::new(),
        excluded: Vec::new(),
        draws: 0,
        cases: 0,
        notes: Vec::new(),
    };
    let share = found.len();
    for (form, outcome) in found {
        let (plans, tally) = match outcome {
            Ok(done) => done,
            Err(reason) => {
                check.verdict = Verdict::Unchecked(reason);
                continue;
            }
        };
        check.draws += tally.draws;
        check.cases += tally.cases;
        let tried = tally.dtypes.iter().filter(|(_, draws)| *draws > 0);
        check.dtypes.extend(tried.map(|(dtype, _)| *dtype));
        check.excluded.extend(&tally.excluded);
        check.holds = match (check.holds, tally.holds()) {
            (Some(a), Some(b)) => Some(a.union(b)),
            _ => None,
        };
        if matches!(check.verdict, Verdict::Rejected(_)) {
            continue;
        }
        if let Some(failure) = &tally.failure {
            let plan = plans.of(failure.draw.listed);
            let smaller = shrink(forms, form, plan, failure);
            let shown = counterexample(forms, form, plan, &smaller)
                .or_else(|| counterexample(forms, form, plan, failure));
            check.verdict = match shown {
                Some(shown) => Verdict::Rejected(Box::new(shown)),
                None => Verdict::Unchecked("it failed on a module that cannot be shown".to_owned()),
            };
            continue;
        }
        if let Some(reason) = untested(&tally, share) {
            check.verdict = Verdict::Unchecked(reason);
            continue;
        }
        notes(form, &tally, &mut check.notes);
    }
    check.dtypes.sort_unstable();
    check.dtypes.dedup();
    check.excluded.sort_unstable();
    check.excluded.dedup();
    // A dtype may be excluded for one of the ops that the rule is written for, and tried for another one.
    let tried = &check.dtypes;
    check.excluded.retain(|dtype| !tried.contains(dtype));
    let stronger = check
        .holds
        .filter(|holds| check.class != *holds && check.class.allows(*holds));
    if let (Some(holds), Verdict::Holds) = (stronger, &check.verdict) {
        let (declared, holds) = (class_text(check.class), class_text(holds));
        check.notes.push(format!(
            "declared `{declared}`, and `{holds}` in all that was tried"
        ));
    }
    check
}

/// Returns the code and message of an error of the verifier.
fn rejection_text(error: &VerifyError) -> String {
    match error.code() {
        Some(code) => format!("{code}: {error}"),
        None => error.to_string(),
    }
}

/// Returns why a form counts as not tested; `None` if it counts as tested.
fn untested(tally: &Tally, share: usize) -> Option<String> {
    if tally.draws == 0 && tally.untyped {
        let reason = "where it matches, the right side has no type, or not that of the left side";
        return Some(reason.to_owned());
    }
    if let Some(error) = tally.rejected_left_side() {
        return Some(format!(
            "no module was found on which it acts, because the verifier rejects its left side: {error}"
        ));
    }
    if tally.draws == 0 {
        return Some("no module was found on which it acts".to_owned());
    }
    let missing: Vec<&str> = tally
        .dtypes
        .iter()
        .filter(|(_, draws)| *draws == 0)
        .map(|(dtype, _)| dtype.name())
        .collect();
    if !missing.is_empty() {
        let missing = missing.join(", ");
        return Some(format!(
            "no module was found on which it acts in {missing}, which its condition lets in"
        ));
    }
    if let Some(alternative) = tally.taken.iter().position(|taken| !taken) {
        return Some(format!(
            "alternative {} of its condition never held",
            alternative + 1
        ));
    }
    let (draws, cases) = (tally.draws, tally.judged);
    if draws * share < LEAST_DRAWS || cases < LEAST_CASES {
        return Some(format!(
            "only {draws} modules and {cases} elements to compare, of {LEAST_DRAWS} and {LEAST_CASES} \
             at least"
        ));
    }
    if tally.numbers < LEAST_CASES {
        return Some("nearly every result is NaN".to_owned());
    }
    let weak = tally.mutants.values().all(|killed| !killed);
    let first = tally.mutants.keys().next().filter(|_| weak);
    first.map(|first| {
        format!("the check is too weak to tell the rule from a wrong one: it also accepts {first}")
    })
}

fn notes(form: RuleInstance<'_>, tally: &Tally, notes: &mut Vec<String>) {
    for (part, without) in form.conditions().iter().zip(&tally.without) {
        let other = part.contains("one_use")
            || part.starts_with("is_float") && form.class() != FastMath::EXACT;
        if without.cases >= NEEDLESS_CASES && !without.differs && !other && form.group().is_none() {
            let note = match without.excused {
                true => format!(
                    "without `{part}` the sides differed only {} in all that was tried; class `{}` \
                     promises nothing there",
                    excuse(form.class()),
                    class_text(form.class())
                ),
                false => format!("`{part}` is not needed in anything that was tried"),
            };
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
}
