//! Verification of a whole module.

use mind_diag::{Diagnostics, Span};

use rustc_hash::FxHashSet;

use super::profile::check_core_v1;
use super::{Profile, VerifyError, infer_op};
use crate::entity::{BlockId, OpId, Ty, ValueId};
use crate::graph::{Graph, ValueRange};
use crate::opdef::Trait;
use crate::types::{Dim, TypeView, shape_text};

/// Options of the verifier.
#[derive(Clone, Copy, Default, Debug)]
pub struct VerifyConfig {
    /// The ops, dtypes and dimensions that are allowed.
    pub profile: Profile,
}

/// Infers the type of every value and returns a diagnostic for every broken rule, in text order.
///
/// Total and deterministic. Each op has at most one error, of the first class that fails: definitions of operands,
/// errors in its regions, arity, dtypes, shape rule, declared type, size, profile. After an error the declared type is
/// assumed. A value without one stays untyped, and the ops that read it are not checked, so that one mistake gives one
/// error.
pub fn verify(g: &mut Graph, config: &VerifyConfig) -> Diagnostics {
    let mut verifier = Verifier {
        config,
        defined: vec![0; g.value_bound()],
        next: 1,
        floor: 1,
        counted: Vec::new(),
        labels: Labels::new(g.value_bound()),
        found: Diagnostics::new(),
    };
    let body = g.body();
    verifier.block(g, body);
    if g.outputs().is_empty() {
        let span = g.terminator(body).map_or(Span::FILE, |end| g.span(end));
        verifier.found.push(VerifyError::NoOutput.at(span));
    }
    if let Some(problem) = g.interface.problem(g.outputs().len()) {
        let span = g.terminator(body).map_or(Span::FILE, |end| g.span(end));
        verifier
            .found
            .push(VerifyError::Structure { problem }.at(span));
    }
    verifier.found
}

struct Verifier<'c> {
    config: &'c VerifyConfig,
    /// When each value was defined, counted from 1; 0 for values that are not defined yet or out of scope.
    defined: Vec<u32>,
    next: u32,
    /// Values defined before this time are outside of the closed body that is being checked.
    floor: u32,
    /// The types, by index, whose size has been checked.
    counted: Vec<bool>,
    labels: Labels,
    found: Diagnostics,
}

/// The numbers of the values seen so far.
struct Labels {
    /// A table of low numbers; `sparse` has the others.
    dense: Vec<bool>,
    sparse: FxHashSet<u64>,
}

impl Labels {
    /// Returns an empty set, with a table sized for `values` values.
    fn new(values: usize) -> Labels {
        Labels {
            dense: vec![false; 2 * values],
            sparse: FxHashSet::default(),
        }
    }

    /// Inserts a number. Returns false if it was in the set.
    fn insert(&mut self, label: u64) -> bool {
        let low = usize::try_from(label).ok();
        match low.and_then(|index| self.dense.get_mut(index)) {
            Some(seen) => !std::mem::replace(seen, true),
            None => self.sparse.insert(label),
        }
    }
}

impl Verifier<'_> {
    fn block(&mut self, g: &mut Graph, block: BlockId) {
        self.check_labels(g, g.arguments(block), || block_span(g, block));
        self.define(g.arguments(block));
        let mut next = g.ops(block).next();
        while let Some(op) = next {
            if let Err(error) = self.op(g, op) {
                self.found.push(error.at_op(g, op));
                assume_declared(g, op);
            }
            self.check_labels(g, g.results(op), || g.span(op));
            self.define(g.results(op));
            next = g.next(op);
            if next.is_some() && g.def(op).has(Trait::Terminator) {
                let problem = "nothing may follow the end of a block".to_owned();
                self.found
                    .push(VerifyError::Structure { problem }.at(g.span(op)));
            }
        }
        if block != g.body() && g.terminator(block).is_none() {
            let owner = g.block_owner(block).expect("an inner block has an owner");
            let problem = "a body ends with `yield`".to_owned();
            self.found
                .push(VerifyError::Structure { problem }.at(g.span(owner)));
        }
    }

    fn op(&mut self, g: &mut Graph, op: OpId) -> Result<(), Box<VerifyError>> {
        if g.def(op).has(Trait::Interface) && g.parent(op) != Some(g.body()) {
            let problem = "an input must be in the module's own block".to_owned();
            return Err(Box::new(VerifyError::Structure { problem }));
        }
        for &operand in g.operands(op) {
            if self.defined[operand.index()] < self.floor {
                let operand = format!("%{}", g.label(operand));
                return Err(Box::new(VerifyError::UseBeforeDef { operand }));
            }
        }
        let untyped = |&value: &ValueId| g.type_id(value).is_none();
        if g.operands(op).iter().any(untyped) {
            assume_declared(g, op);
            return Ok(());
        }
        for index in 0..g.regions(op).len() {
            let block = g.block(g.regions(op)[index]);
            if g.def(op).has_closed_body() {
                type_arguments(g, op, index)?
            } else {
                assume_arguments(g, block)
            }
            let before = self.found.error_count();
            self.inner_block(g, op, block);
            if self.found.error_count() > before {
                assume_declared(g, op);
                return Ok(());
            }
        }
        let types = infer_op(g, op)?;
        for (value, inferred) in g.results(op).into_iter().zip(types) {
            self.result(g, value, inferred)?;
            self.check_count(g, value)?;
        }
        if g.def(op).has(Trait::DeclaresType) {
            check_extents(g, op)?;
        }
        if self.config.profile == Profile::CoreV1 {
            check_core_v1(g, op)?;
        }
        Ok(())
    }

    /// Checks that the numbers of values are unique, because text refers to values by number.
    fn check_labels(&mut self, g: &Graph, values: ValueRange, span: impl Fn() -> Span) {
        for value in values {
            let label = g.label(value);
            if !self.labels.insert(label) {
                let problem = format!("two values have the id %{label}");
                self.found
                    .push(VerifyError::Structure { problem }.at(span()));
            }
        }
    }

    fn define(&mut self, values: ValueRange) {
        for value in values {
            self.defined[value.index()] = self.next;
            self.next += 1;
        }
    }

    /// Checks the block of a region of `op`. The values that it defines are out of scope afterwards.
    fn inner_block(&mut self, g: &mut Graph, op: OpId, block: BlockId) {
        let floor = self.floor;
        if g.def(op).has_closed_body() {
            self.floor = self.next;
        }
        self.block(g, block);
        self.floor = floor;
        let inner = g.ops(block).map(|op| g.results(op));
        for value in inner.chain([g.arguments(block)]).flatten() {
            self.defined[value.index()] = 0;
        }
    }

    /// Checks that the size of a value in bytes fits in an `i64`.
    fn check_count(&mut self, g: &Graph, value: ValueId) -> Result<(), Box<VerifyError>> {
        let Some(ty) = g.type_id(value) else {
            return Ok(());
        };
        self.counted
            .resize(g.types().len().max(self.counted.len()), false);
        if !std::mem::replace(&mut self.counted[ty.index()], true) {
            let ty = g.types().get(ty);
            let known = ty.shape.iter().all(|dim| dim.fixed().is_some());
            let bytes = ty
                .count()
                .and_then(|count| count.checked_mul(ty.dtype.size() as i64));
            if known && bytes.is_none() {
                return Err(Box::new(VerifyError::TooLarge {
                    ty: ty.text(g.symbols()),
                }));
            }
        }
        Ok(())
    }

    /// Sets the type of a result to the meet of its inferred and declared types.
    fn result(&self, g: &mut Graph, value: ValueId, inferred: Ty) -> Result<(), Box<VerifyError>> {
        let ty = match g.declared(value) {
            Some(declared) if declared != inferred => {
                let (written, found) = (g.types().get(declared), g.types().get(inferred));
                match found.meet(written) {
                    Some(ty) => g.intern_type(ty.view()),
                    None => return Err(Box::new(declared_type(g, written, found))),
                }
            }
            _ => inferred,
        };
        g.set_type(value, ty);
        Ok(())
    }
}

/// Returns the source location of the op whose region holds `block`.
fn block_span(g: &Graph, block: BlockId) -> Span {
    g.block_owner(block).map_or(Span::FILE, |op| g.span(op))
}

fn declared_type(g: &Graph, declared: TypeView<'_>, inferred: TypeView<'_>) -> VerifyError {
    let symbols = g.symbols();
    VerifyError::DeclaredType {
        declared: declared.text(symbols),
        inferred: inferred.text(symbols),
    }
}

fn assume_declared(g: &mut Graph, op: OpId) {
    for value in g.results(op) {
        if let Some(declared) = g.declared(value) {
            g.set_type(value, declared);
        }
    }
}

/// Gives the arguments of a body that is not closed their declared types.
fn assume_arguments(g: &mut Graph, block: BlockId) {
    for argument in g.arguments(block) {
        if let Some(declared) = g.declared(argument) {
            g.set_type(argument, declared);
        }
    }
}

/// Infers the types of the arguments of a closed region.
fn type_arguments(g: &mut Graph, op: OpId, region: usize) -> Result<(), Box<VerifyError>> {
    let types = g.argument_types(op, region)?;
    let arguments = g.arguments(g.block(g.regions(op)[region]));
    if arguments.len() != types.len() {
        let name = g.def(op).short_name();
        let (found, expected) = (arguments.len(), types.len());
        let what = match g.def(op).arguments {
            Some(_) => format!("; it needs {expected}"),
            None => format!(" for {expected} operands"),
        };
        let problem = format!("the body of `{name}` has {found} arguments{what}");
        return Err(Box::new(VerifyError::Structure { problem }));
    }
    for (argument, ty) in arguments.into_iter().zip(types) {
        if let Some(declared) = g.declared(argument) {
            let (written, found) = (g.types().get(declared), g.types().get(ty));
            if found.meet(written).is_none() {
                return Err(Box::new(declared_type(g, written, found)));
            }
        }
        g.set_type(argument, ty);
    }
    Ok(())
}

/// Checks that declared extents are not negative.
fn check_extents(g: &Graph, op: OpId) -> Result<(), Box<VerifyError>> {
    for value in g.results(op) {
        let shape = g.ty(value).shape;
        for (dimension, dim) in shape.iter().enumerate() {
            if let Dim::Fixed(value @ ..0) = *dim {
                let shape = shape_text(shape, g.symbols());
                return Err(Box::new(VerifyError::NegativeExtent {
                    shape,
                    dimension,
                    value,
                }));
            }
        }
    }
    Ok(())
}
