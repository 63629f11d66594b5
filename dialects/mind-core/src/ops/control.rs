//! Control flow. Regions are closed: they refer to outer values only through operands and block arguments.

use mind_diag::Code;
use mind_ir::attr::Attr;
use mind_ir::graph::Graph;
use mind_ir::opdef::Inferred;
use mind_ir::types::{DType, Dim, Shape, TensorType, TypeView};
use mind_ir::verify::{ArgumentsResult, InferManyResult, VerifyError};
use mind_ir::{BlockId, OpId, ValueId, ops};
use smallvec::SmallVec;

use crate::axes::resolve;
use crate::eval::control::{eval_if, eval_scan, eval_while};
use crate::extent::agree;

ops! {
    /// Runs the first region if the predicate is true, else the second; the results are the values it yields.
    ///
    /// The operands are the predicate, then the arguments of both regions. Only one region runs, so that errors of the
    /// other have no effect. In any control flow op, an argument may declare extents as `?` that its operand knows.
    ///
    /// Shapes: the predicate is `bool` `[]`. Both regions yield the same number of values, of equal dtypes and ranks;
    /// an extent that differs between them is `?`.
    /// Errors: E2001 values of other dtypes or ranks, or a predicate that is not `bool` `[]`, E4023 other numbers of
    /// values.
    /// Source: this compiler; ONNX `If`, MIL `cond`, StableHLO `if`.
    If = "core.if" {
        variadic: (operands: Any),
        results: Many,
        regions: 2,
        arguments: |op, g, region| Ok(if_arguments(op, g, region)),
        traits: [Pure, Extended],
        names: { core: "If", mic1: "if" },
        infer_many: infer_if,
        eval_many: eval_if,
    }

    /// Runs the second region while the first one yields true; the results are the last carried values.
    ///
    /// The operands are the carried values, then loop-invariant ones; both regions have all of them as arguments. The
    /// first region yields before each step whether to continue. The second one yields the carried values of the next
    /// step.
    ///
    /// Shapes: a carried value keeps its type; extents that change are `?`, declared at the argument of the second
    /// region unless they are also `?` in the operand.
    /// Errors: E2001 a value of another type, E4023 fewer operands than carried values, or a region that yields another
    /// number of values; E6007 when run, more steps than allowed.
    /// Source: this compiler; ONNX `Loop`, MIL `while_loop`, StableHLO `while`.
    While = "core.while" {
        variadic: (operands: Any),
        attrs: { carried "c": Int },
        results: Many,
        regions: 2,
        arguments: |op, g, region| while_arguments(op, g, region),
        traits: [Pure, Extended],
        names: { core: "While", mic1: "while" },
        infer_many: infer_while,
        eval_many: eval_while,
    }

    /// Runs its region once for each slice of the scanned operands.
    ///
    /// The operands are the carried values, the scanned ones, then loop-invariant ones. Each step receives the carried
    /// values, its slices and the loop-invariant values; it yields the carried values of the next step, then its
    /// outputs. The results are the last carried values, then the outputs of all steps, each stacked along a new
    /// dimension. The type of a carried value is as in `While`.
    ///
    /// `in_axes` and `out_axes` list the axes that are sliced and stacked; an empty list means 0 for all. An entry 1 of
    /// `in_reverse` or `out_reverse` slices or stacks from the last to the first.
    ///
    /// Shapes: all scanned operands have the same extent along their axes, which is the number of steps. Without steps
    /// the results are the initial carried values, and outputs of extent 0; their other extents are inferred from the
    /// operands, else 0.
    /// Order: one step after the other.
    /// Errors: E2001 a value of another type, E3003 extents that differ, E3004 axis out of range, E4023 fewer operands
    /// than `carried` and `scanned`, nothing scanned, a list of another length, or a direction that is not 0 or 1.
    /// Source: this compiler; ONNX `Scan`, JAX `lax.scan`.
    Scan = "core.scan" {
        variadic: (operands: Any),
        attrs: {
            carried "c": Int, scanned "n": Int, in_axes "ia": Ints = &[], out_axes "oa": Ints = &[],
            in_reverse "ir": Ints = &[], out_reverse "or": Ints = &[],
        },
        results: Many,
        regions: 1,
        arguments: |op, g, _| scan_arguments(op, g),
        traits: [Pure, Extended],
        names: { core: "Scan", mic1: "scan" },
        infer_many: infer_scan,
        eval_many: eval_scan,
    }
}

impl If {
    /// Returns the condition.
    pub fn predicate(self, g: &Graph) -> ValueId {
        self.operands(g)[0]
    }

    /// Returns the operands that both regions have as arguments.
    pub fn inputs(self, g: &Graph) -> &[ValueId] {
        &self.operands(g)[1..]
    }
}

impl While {
    /// Returns the initial carried values.
    pub fn initial(self, g: &Graph) -> &[ValueId] {
        &self.operands(g)[..self.carried(g) as usize]
    }
}

impl Scan {
    /// Returns the initial carried values.
    pub fn initial(self, g: &Graph) -> &[ValueId] {
        &self.operands(g)[..self.carried(g) as usize]
    }

    /// Returns the scanned operands.
    pub fn inputs(self, g: &Graph) -> &[ValueId] {
        let from = self.carried(g) as usize;
        &self.operands(g)[from..from + self.scanned(g) as usize]
    }

    /// Returns the loop-invariant operands, which every step receives whole.
    pub fn fixed(self, g: &Graph) -> &[ValueId] {
        &self.operands(g)[(self.carried(g) + self.scanned(g)) as usize..]
    }

    /// Returns the axis of each scanned operand, counted from the front.
    pub fn input_axes(self, g: &Graph) -> Vec<usize> {
        let ranks = self.inputs(g).iter().map(|&value| g.ty(value).rank());
        let axes = ranks.enumerate().map(|(at, rank)| {
            let axis = self.in_axes(g).get(at).copied().unwrap_or(0);
            resolve("scan", axis, rank).expect("a verified axis")
        });
        axes.collect()
    }

    /// Returns the axis of each stacked output, counted from the front.
    pub fn output_axes(self, g: &Graph) -> Vec<usize> {
        let outputs = yields(g, self.0, 0).get(self.carried(g) as usize..);
        let ranks = outputs.into_iter().flatten();
        let axes = ranks.enumerate().map(|(at, &value)| {
            let axis = self.out_axes(g).get(at).copied().unwrap_or(0);
            resolve("scan", axis, g.ty(value).rank() + 1).expect("a verified axis")
        });
        axes.collect()
    }

    /// Returns whether scanned operand `at` is sliced from the last to the first.
    pub fn is_input_reversed(self, g: &Graph, at: usize) -> bool {
        self.in_reverse(g).get(at) == Some(&1)
    }

    /// Returns whether output `at` is stacked from the last to the first.
    pub fn is_output_reversed(self, g: &Graph, at: usize) -> bool {
        self.out_reverse(g).get(at) == Some(&1)
    }
}

/// Returns the block of a region.
pub fn block(g: &Graph, op: OpId, region: usize) -> BlockId {
    g.block(g.regions(op)[region])
}

/// Returns the values that a region yields.
pub fn yields(g: &Graph, op: OpId, region: usize) -> &[ValueId] {
    let end = g.terminator(block(g, op, region));
    end.map_or(&[], |end| g.operands(end))
}

fn misfit(problem: String) -> Box<VerifyError> {
    Box::new(VerifyError::Dialect {
        code: Code(4023),
        problem,
        help: None,
    })
}

/// Checks the number of values that a region yields.
fn check_count(
    g: &Graph,
    op: OpId,
    region: usize,
    expected: usize,
) -> Result<(), Box<VerifyError>> {
    let found = yields(g, op, region).len();
    if found == expected {
        return Ok(());
    }
    let name = g.def(op).short_name();
    let problem = format!("region {region} of `{name}` yields {found} values, not {expected}");
    Err(misfit(problem))
}

/// Returns the error for a value whose type differs from the expected one; `what` names the value.
fn differ(g: &Graph, what: &str, found: TypeView<'_>, expected: TypeView<'_>) -> Box<VerifyError> {
    let [found, expected] = [found, expected].map(|ty| ty.text(g.symbols()));
    Box::new(VerifyError::Dialect {
        code: Code(2001),
        problem: format!("{what} is {expected}, found {found}"),
        help: None,
    })
}

/// Checks that a value is `bool` `[]`.
fn check_predicate(g: &Graph, value: ValueId) -> Result<(), Box<VerifyError>> {
    let predicate = TensorType::fixed(DType::Bool, &[]);
    match g.ty(value).meet(predicate.view()) {
        Some(_) => Ok(()),
        None => Err(differ(g, "a predicate", g.ty(value), predicate.view())),
    }
}

fn infer_if(op: If, g: &Graph) -> InferManyResult {
    check_predicate(g, op.predicate(g))?;
    let (first, second) = (yields(g, op.0, 0), yields(g, op.0, 1));
    check_count(g, op.0, 1, first.len())?;
    let joined = first.iter().zip(second).map(|(&first, &second)| {
        let (a, b) = (g.ty(first), g.ty(second));
        match join(a, b) {
            Some(ty) => Ok(ty.into()),
            None => Err(differ(g, "the value that the first region yields", b, a)),
        }
    });
    joined.collect()
}

/// Checks that an op has at least the operands that its attributes count.
fn check_counted(
    g: &Graph,
    op: OpId,
    what: &'static str,
    count: i64,
    fewest: i64,
) -> Result<(), Box<VerifyError>> {
    let (name, found) = (g.def(op).short_name(), g.operands(op).len());
    if (fewest..=found as i64).contains(&count) {
        return Ok(());
    }
    Err(misfit(format!(
        "`{name}` has {found} operands, and {count} {what}"
    )))
}

/// Returns the type that argument `at` of a region declares.
fn declared(g: &Graph, op: OpId, region: usize, at: usize) -> Option<TypeView<'_>> {
    let arguments = g.arguments(block(g, op, region));
    let declared = (at < arguments.len()).then(|| g.declared(arguments.get(at)));
    Some(g.types().get(declared.flatten()?))
}

/// Returns the type of argument `at` of a region that receives a value of type `own`. It is the declared type if that
/// has more open extents, because a region that does not run may contradict the extents of the value.
fn given_type(g: &Graph, (op, region, at): (OpId, usize, usize), own: TensorType) -> TensorType {
    match declared(g, op, region, at) {
        Some(declared) if keeps(own.view(), declared) => declared.to_owned(),
        Some(_) | None => own,
    }
}

fn if_arguments(op: If, g: &Graph, region: usize) -> SmallVec<[TensorType; 4]> {
    let types = op.inputs(g).iter().map(|&value| g.ty(value).to_owned());
    let types = types.enumerate();
    types
        .map(|(at, own)| given_type(g, (op.0, region, at), own))
        .collect()
}

/// Returns the type of a carried value: the declared type of its argument in the region that computes the next one,
/// else that of the operand.
fn carried_type(g: &Graph, op: OpId, step: usize, at: usize) -> TensorType {
    let declared = declared(g, op, step, at);
    declared.unwrap_or(g.ty(g.operands(op)[at])).to_owned()
}

fn while_arguments(op: While, g: &Graph, region: usize) -> ArgumentsResult {
    let carried = op.carried(g);
    check_counted(g, op.0, "carried values", carried, 1)?;
    let types = (0..op.operands(g).len()).map(|at| match at < carried as usize {
        true => carried_type(g, op.0, 1, at),
        false => given_type(g, (op.0, region, at), g.ty(op.operands(g)[at]).to_owned()),
    });
    Ok(types.collect())
}

/// Returns the types of the carried values, and checks the initial and the yielded values against them.
fn carried_types(
    g: &Graph,
    op: OpId,
    step: usize,
    initial: &[ValueId],
) -> Result<Vec<TensorType>, Box<VerifyError>> {
    let next = yields(g, op, step);
    let types = initial
        .iter()
        .zip(next)
        .enumerate()
        .map(|(at, (&initial, &next))| {
            let ty = carried_type(g, op, step, at);
            for value in [initial, next] {
                if !keeps(g.ty(value), ty.view()) {
                    return Err(breaks(g, (op, step, at), g.ty(value), ty.view()));
                }
            }
            Ok(ty)
        });
    types.collect()
}

/// Returns whether a value of type `found` has every extent that `promised` names. A data-dependent extent of `found`
/// does not satisfy a named one.
fn keeps(found: TypeView<'_>, promised: TypeView<'_>) -> bool {
    let is_kept = |(found, promised): (&Dim, &Dim)| *promised == Dim::Dynamic || found == promised;
    found.dtype == promised.dtype
        && found.rank() == promised.rank()
        && found.shape.iter().zip(promised.shape).all(is_kept)
}

/// Returns the most specific type that includes both: an extent is `?` if it differs or is data-dependent. `None` if
/// dtypes or ranks differ.
pub fn join(a: TypeView<'_>, b: TypeView<'_>) -> Option<TensorType> {
    let joined = |(&a, &b): (&Dim, &Dim)| if a == b { a } else { Dim::Dynamic };
    let shape = a.shape.iter().zip(b.shape).map(joined);
    let is_same = a.dtype == b.dtype && a.rank() == b.rank();
    is_same.then(|| TensorType::new(a.dtype, shape))
}

/// Returns the error for carried value `at`, whose argument in region `step` has type `promised`.
fn breaks(
    g: &Graph,
    (op, step, at): (OpId, usize, usize),
    found: TypeView<'_>,
    promised: TypeView<'_>,
) -> Box<VerifyError> {
    let [found_text, promised_text] = [found, promised].map(|ty| ty.text(g.symbols()));
    let arguments = g.arguments(block(g, op, step));
    let argument = (at < arguments.len()).then(|| arguments.get(at));
    let help = join(found, promised).zip(argument).map(|(open, argument)| {
        let (label, open) = (g.label(argument), open.view().text(g.symbols()));
        format!(
            "declare the argument that changes its extents: `args: … %{label} : tensor<{open}>`"
        )
    });
    Box::new(VerifyError::Dialect {
        code: Code(2001),
        problem: format!("a carried value is {promised_text}, found {found_text}"),
        help,
    })
}

/// Returns the arguments of a loop's steps whose types have extents that the yielded values do not have, although
/// dtypes and ranks agree. Such loops may be valid with `?` declared instead.
pub fn broken_promises(g: &Graph, op: OpId) -> Vec<ValueId> {
    let Some((step, carried)) = carried(g, op) else {
        return Vec::new();
    };
    let next = yields(g, op, step).iter().copied();
    let arguments = g.arguments(block(g, op, step)).into_iter();
    let typed = arguments.zip(next).take(carried).filter_map(|(own, next)| {
        let types = g.type_id(own).zip(g.type_id(next))?;
        Some((own, g.types().get(types.0), g.types().get(types.1)))
    });
    let broken = typed.filter(|(_, own, next)| !keeps(*next, *own) && join(*own, *next).is_some());
    broken.map(|(own, _, _)| own).collect()
}

/// Returns the region that computes the next carried values of a loop, and their number; `None` for other ops.
pub fn carried(g: &Graph, op: OpId) -> Option<(usize, usize)> {
    let of_while = g.view::<While>(op).map(|own| (1, own.carried(g)));
    let of_scan = g.view::<Scan>(op).map(|own| (0, own.carried(g)));
    let (step, count) = of_while.or(of_scan)?;
    Some((step, usize::try_from(count).ok()?))
}

/// Copies the declared types of old region arguments to new ones, because the extents of a carried value that change
/// are recorded only there.
pub fn keep_declared(g: &mut Graph, arguments: impl IntoIterator<Item = (ValueId, ValueId)>) {
    for (old, new) in arguments {
        if let Some(ty) = g.declared(old) {
            g.declare(new, ty);
            g.set_type(new, ty);
        }
    }
}

fn infer_while(op: While, g: &Graph) -> InferManyResult {
    check_count(g, op.0, 0, 1)?;
    check_predicate(g, yields(g, op.0, 0)[0])?;
    check_count(g, op.0, 1, op.initial(g).len())?;
    let types = carried_types(g, op.0, 1, op.initial(g))?;
    Ok(types.into_iter().map(Inferred::New).collect())
}

fn scan_arguments(op: Scan, g: &Graph) -> ArgumentsResult {
    let (carried, scanned) = (op.carried(g), op.scanned(g));
    let before = carried as usize;
    check_counted(g, op.0, "carried values", carried, 0)?;
    check_counted(
        g,
        op.0,
        "carried and scanned values",
        carried.saturating_add(scanned),
        carried + 1,
    )?;
    check_list(g, op.0, "in_axes", op.in_axes(g).len(), scanned as usize)?;
    let carried = (0..carried as usize).map(|at| Ok(carried_type(g, op.0, 0, at)));
    let slices = op.inputs(g).iter().enumerate().map(|(at, &value)| {
        let (ty, axis) = (g.ty(value), op.in_axes(g).get(at).copied().unwrap_or(0));
        let mut shape: Shape = ty.shape.iter().copied().collect();
        shape.remove(resolve("scan", axis, ty.rank())?);
        let slice = TensorType::new(ty.dtype, shape);
        Ok(given_type(g, (op.0, 0, before + at), slice))
    });
    let first = op.operands(g).len() - op.fixed(g).len();
    let fixed = op.fixed(g).iter().enumerate().map(|(at, &value)| {
        let own = g.ty(value).to_owned();
        Ok(given_type(g, (op.0, 0, first + at), own))
    });
    carried.chain(slices).chain(fixed).collect()
}

/// Checks that a list is empty or has one entry for each of the values.
fn check_list(
    g: &Graph,
    op: OpId,
    list: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), Box<VerifyError>> {
    if found == 0 || found == expected {
        return Ok(());
    }
    let name = g.def(op).short_name();
    Err(misfit(format!(
        "`{list}` of `{name}` has {found} items, not {expected}"
    )))
}

fn check_directions(
    g: &Graph,
    op: OpId,
    attr: &'static str,
    expected: usize,
) -> Result<(), Box<VerifyError>> {
    let index = g.def(op).attr_index(attr).expect("an attribute of `scan`");
    let Attr::Ints(list) = g.attr(op, index) else {
        return Ok(());
    };
    check_list(g, op, attr, list.len(), expected)?;
    match list.iter().find(|flag| !matches!(flag, 0 | 1)) {
        None => Ok(()),
        Some(flag) => Err(misfit(format!(
            "a direction in `{attr}` is 0 or 1, not {flag}"
        ))),
    }
}

/// Returns the number of steps of a scan.
///
/// # Errors
///
/// E3003 scanned operands of different extents.
pub fn steps(op: Scan, g: &Graph) -> Result<Dim, Box<VerifyError>> {
    let mut steps = Dim::Dynamic;
    for (&value, axis) in op.inputs(g).iter().zip(op.input_axes(g)) {
        let (at, help) = (
            format!("{axis} of a scanned operand"),
            "all scanned operands have as many slices",
        );
        steps = agree(g, "scan", at, steps, g.ty(value).shape[axis], help)?;
    }
    Ok(steps)
}

fn infer_scan(op: Scan, g: &Graph) -> InferManyResult {
    let initial = op.initial(g);
    let outputs = yields(g, op.0, 0).get(initial.len()..);
    let Some(outputs) = outputs else {
        return check_count(g, op.0, 0, initial.len()).map(|()| Default::default());
    };
    check_list(g, op.0, "out_axes", op.out_axes(g).len(), outputs.len())?;
    check_directions(g, op.0, "in_reverse", op.inputs(g).len())?;
    check_directions(g, op.0, "out_reverse", outputs.len())?;
    let (steps, carried) = (steps(op, g)?, carried_types(g, op.0, 0, initial)?);
    let stacked = outputs.iter().enumerate().map(|(at, &value)| {
        let (ty, axis) = (g.ty(value), op.out_axes(g).get(at).copied().unwrap_or(0));
        let axis = resolve("scan", axis, ty.rank() + 1)?;
        let mut shape: Shape = ty.shape.iter().copied().collect();
        shape.insert(axis, steps);
        Ok(TensorType::new(ty.dtype, shape).into())
    });
    let carried = carried.into_iter().map(|ty| Ok(Inferred::New(ty)));
    carried.chain(stacked).collect()
}
