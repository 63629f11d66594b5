//! Errors of the verifier.

use mind_diag::{Code, Diagnostic, Span};
use thiserror::Error;

use crate::entity::OpId;
use crate::graph::Graph;
use crate::types::{BroadcastClash, DType, Dim, shape_text};

/// A rule that an op breaks. The source location is kept elsewhere; ids and shapes are spelled as the user wrote them.
#[derive(Clone, PartialEq, Debug, Error)]
#[expect(
    missing_docs,
    reason = "the message of each variant says what its fields are"
)]
pub enum VerifyError {
    #[error("declared type {declared} differs from the inferred type {inferred}")]
    DeclaredType { declared: String, inferred: String },
    #[error("the type of {value} must be declared")]
    MissingType { value: String },
    #[error("operands of `{op}` have different dtypes: {lhs} and {rhs}")]
    DTypeClash {
        op: &'static str,
        lhs: DType,
        rhs: DType,
    },
    #[error("`{op}` is not defined for {found}")]
    DType {
        op: &'static str,
        operand: &'static str,
        found: DType,
        supported: &'static str,
    },
    #[error("`{op}` takes {expected}, found {found}")]
    Arity {
        op: &'static str,
        expected: String,
        found: usize,
    },
    #[error("broadcasting failed at dimension {dimension}: extent {lhs} against {rhs}")]
    Broadcast {
        dimension: usize,
        lhs: String,
        rhs: String,
        lhs_shape: String,
        rhs_shape: String,
    },
    #[error("`{op}` expects {operand} of rank {expected}, found rank {found}")]
    Rank {
        op: &'static str,
        operand: &'static str,
        expected: String,
        found: usize,
    },
    #[error("{dimension} of `{op}` must agree: expected {expected}, found {found}")]
    Extent {
        op: &'static str,
        dimension: String,
        expected: String,
        found: String,
        help: &'static str,
    },
    #[error("slice bounds {start}:{end} do not fit dimension {dimension} of extent {extent}")]
    SliceBounds {
        dimension: usize,
        start: i64,
        end: i64,
        extent: String,
    },
    #[error("axis {axis} is outside rank {rank}")]
    AxisRange {
        op: &'static str,
        axis: i64,
        rank: usize,
    },
    #[error("axis {axis} is listed twice in {axes:?}")]
    AxisTwice {
        op: &'static str,
        axes: Vec<i64>,
        axis: i64,
    },
    #[error("extent {value} at dimension {dimension} of {shape} is not positive")]
    NotPositive {
        shape: String,
        dimension: usize,
        value: i64,
    },
    #[error("extent {value} at dimension {dimension} of {shape} is negative")]
    NegativeExtent {
        shape: String,
        dimension: usize,
        value: i64,
    },
    #[error("the extent at dimension {dimension} of the result of `{op}` exceeds 2^63 - 1")]
    ExtentOverflow { op: &'static str, dimension: usize },
    #[error("the open extent of {shape} is not determined: the others hold no element")]
    OpenExtent { shape: String },
    #[error("shape {shape} leaves more than one extent open")]
    SeveralOpen { shape: String, dimension: usize },
    #[error("reshape changes the element count: {from} has {from_count}, {to} has {to_count}")]
    ElementCount {
        from: String,
        to: String,
        from_count: String,
        to_count: String,
    },
    #[error("{permutation:?} is not a permutation of rank {rank}: {violation}")]
    Permutation {
        permutation: Vec<i64>,
        rank: usize,
        violation: String,
    },
    #[error("axis {axis} of {shape} cannot be squeezed: its extent is {extent}, not 1")]
    Squeeze {
        axis: i64,
        shape: String,
        extent: String,
    },
    #[error("{operand} is used before its definition")]
    UseBeforeDef { operand: String },
    #[error("the module has no output")]
    NoOutput,
    #[error("constant data does not fit {ty}: {problem}")]
    Constant { ty: String, problem: String },
    #[error("`{op}` needs one index per axis: rank {rank}, found {found}")]
    IndexCount {
        op: &'static str,
        rank: usize,
        found: usize,
    },
    #[error(
        "slice lists need one entry per axis: rank {rank}, found {starts} starts, {ends} ends, {steps} steps"
    )]
    SliceLists {
        rank: usize,
        starts: usize,
        ends: usize,
        steps: usize,
    },
    #[error("slice step {step} at dimension {dimension} is not positive")]
    SliceStep { dimension: usize, step: i64 },
    #[error("input has {input} channels, filter has {filter}")]
    Channels { input: String, filter: String },
    #[error("{what} of a window must be {expected}, found {found}")]
    Window {
        what: &'static str,
        expected: &'static str,
        found: String,
    },
    #[error("gather indices have dtype {found}")]
    GatherIndices { found: DType },
    #[error("{what} is outside profile {profile}")]
    Profile {
        what: String,
        profile: &'static str,
        allowed: &'static str,
    },
    #[error("input {name}: {problem}")]
    Input { name: String, problem: String },
    #[error("the extent at dimension {dimension} of {shape} has no source")]
    NoSource { shape: String, dimension: usize },
    #[error("`{found}` cannot be in the body of `{op}`")]
    Body {
        op: &'static str,
        found: &'static str,
        allowed: &'static str,
    },
    #[error("attribute `{attr}` of `{op}` is `{found}`")]
    Word {
        op: &'static str,
        attr: &'static str,
        found: String,
        words: String,
    },
    #[error("{ty} has more than 2^63 - 1 bytes")]
    TooLarge { ty: String },
    #[error("{problem}")]
    Structure { problem: String },
    #[error("{problem}")]
    Dialect {
        code: Code,
        problem: String,
        help: Option<String>,
    },
}

impl VerifyError {
    /// Returns the error for two shapes that do not broadcast.
    pub fn broadcast(g: &Graph, lhs: &[Dim], rhs: &[Dim], clash: BroadcastClash) -> VerifyError {
        let symbols = g.symbols();
        VerifyError::Broadcast {
            dimension: clash.dimension,
            lhs: clash.lhs.display(symbols).to_string(),
            rhs: clash.rhs.display(symbols).to_string(),
            lhs_shape: shape_text(lhs, symbols),
            rhs_shape: shape_text(rhs, symbols),
        }
    }

    /// Returns the diagnostic code; `None` for invariants of the graph itself.
    pub fn code(&self) -> Option<Code> {
        use VerifyError::*;
        Some(Code(match self {
            DeclaredType { .. } => 2001,
            DTypeClash { .. } => 2004,
            DType { .. } => 2005,
            Arity { .. } => 2007,
            Broadcast { .. } => 3001,
            Rank { .. } => 3002,
            Extent { .. } | SliceBounds { .. } => 3003,
            AxisRange { .. } => 3004,
            AxisTwice { .. } => 3005,
            NotPositive { .. }
            | NegativeExtent { .. }
            | ExtentOverflow { .. }
            | SeveralOpen { .. } => 3006,
            ElementCount { .. } | OpenExtent { .. } => 3007,
            Permutation { .. } => 3008,
            Squeeze { .. } => 3009,
            NoSource { .. } => 3011,
            UseBeforeDef { .. } => 4001,
            NoOutput => 4003,
            Input { .. } | MissingType { .. } => 4004,
            Constant { .. } => 4005,
            IndexCount { .. } => 4006,
            SliceLists { .. } => 4007,
            SliceStep { .. } => 4008,
            Channels { .. } => 4009,
            Window { .. } => 4010,
            GatherIndices { .. } => 4011,
            Profile { .. } => 4012,
            Body { .. } => 4021,
            Word { .. } => 4022,
            TooLarge { .. } => 6004,
            Dialect { code, .. } => return Some(*code),
            Structure { .. } => return None,
        }))
    }

    /// Returns the label of the marked source range.
    fn label(&self) -> Option<String> {
        use VerifyError::*;
        Some(match self {
            Broadcast {
                lhs_shape,
                rhs_shape,
                ..
            } => format!("shapes {lhs_shape} and {rhs_shape}"),
            DeclaredType { inferred, .. } => format!("this is {inferred}"),
            DType { operand, found, .. } => format!("`{operand}` is {found}"),
            _ => return None,
        })
    }

    /// Returns a suggestion for a fix.
    fn help(&self) -> Option<String> {
        use VerifyError::*;
        Some(match self {
            DeclaredType { inferred, .. } => format!("declare {inferred}, or leave the type out"),
            DTypeClash { .. } => "operands share one dtype; there is no implicit conversion".into(),
            DType { supported, .. } => format!("it takes {supported}"),
            Arity { .. } => "operands are values that lines above define".into(),
            Rank { operand, .. } => format!("reshape `{operand}`, with extents of 1 where it lacks dimensions"),
            Extent { help, .. } => (*help).into(),
            Broadcast { dimension, .. } => {
                format!("make both extents equal at dimension {dimension}, or one of them 1")
            }
            AxisRange { rank: 0, .. } => "a scalar has no axes".into(),
            AxisTwice { .. } => "list each axis once; a negative one counts from the end".into(),
            AxisRange { rank, .. } => format!("axes run from 0 to {}", rank - 1),
            NotPositive { value: -1, .. } | NegativeExtent { value: -1, .. } => {
                "-1 is valid only in the target of a reshape".into()
            }
            OpenExtent { .. } => "write the extent, or declare the type of the result".into(),
            ExtentOverflow { .. } => "make an extent smaller".into(),
            SeveralOpen { .. } => "write all extents of the target but one".into(),
            ElementCount { from_count, .. } => format!(
                "choose extents whose product is {from_count}, or write -1 for one of them"
            ),
            Permutation { rank: 0, .. } => "a scalar has no axes: leave the permutation empty".into(),
            Permutation { rank: 1, .. } => "list the one axis, as in [0]".into(),
            Permutation { rank, .. } => {
                const SHOWN: usize = 8;
                let example: Vec<usize> = (0..(*rank).min(SHOWN)).rev().collect();
                let example = if *rank > SHOWN { String::new() } else { format!(", as in {example:?}") };
                format!("list each axis from 0 to {} once{example}", rank - 1)
            }
            Squeeze { .. } => "only axes of extent 1 can be squeezed; use a reshape".into(),
            SliceBounds { start, end, .. } if *start < 0 || *end < 0 => {
                "a negative bound could mean an offset from the end or a clamp to 0; write the index"
                    .into()
            }
            SliceBounds { extent, .. } => format!("ends are at most {extent}; leave the end open to read up to it"),
            SliceLists { rank, .. } => format!("write {rank} starts, {rank} ends and {rank} steps"),
            IndexCount { rank, .. } => format!("write {rank} indices, one for each axis"),
            Channels { .. } => {
                "an input is [batch, height, width, channels], a filter [height, width, channels, filters]"
                    .into()
            }
            Window { what, expected, .. } => format!("write {expected} as the {what}"),
            UseBeforeDef { .. } => "move the line that defines it above this one".into(),
            Constant { .. } => {
                "write as many elements as the shape holds, each in the range of the dtype".into()
            }
            Input { .. } => "give it a type that the profile allows, or use profile `extended`".into(),
            TooLarge { .. } => "make an extent smaller".into(),
            SliceStep { .. } => "steps are 1 or more; reverse slices are not supported".into(),
            NoOutput => {
                "end it with an output: `outputs: %0` in Core text, `O N0` in mic@1".into()
            }
            Profile { allowed, .. } => format!("profile {allowed} allows it"),
            GatherIndices { .. } => "indices are i32 or i64".into(),
            NoSource { .. } => {
                "map a dimension of an operand to it, or write the extent".into()
            }
            Body { allowed, .. } => format!("it holds {allowed}"),
            Word { words, .. } => format!("it is one of {words}"),
            MissingType { .. } => {
                "write it at the end of the line: `: tensor<f32[4]>` in Core text, `T0` in mic@1".into()
            }
            Dialect {
                help: Some(help), ..
            } => help.clone(),
            // The message already gives the range of valid extents; a graph that breaks its own invariants has no text
            // to correct.
            NotPositive { .. }
            | NegativeExtent { .. }
            | Structure { .. }
            | Dialect { help: None, .. } => return None,
        })
    }

    /// Returns the fields that docs/diagnostics.md requires for the code.
    fn context(&self) -> Vec<(&'static str, String)> {
        use VerifyError::*;
        /// Pairs the names of fields with their values.
        macro_rules! fields {
            ($($field:ident),+) => { vec![$((stringify!($field), $field.to_string())),+] };
        }
        match self {
            DeclaredType {
                declared: found,
                inferred: expected,
            } => fields![expected, found],
            DTypeClash { op, lhs, rhs } => fields![op, lhs, rhs],
            DType {
                op,
                found,
                supported,
                ..
            } => fields![op, found, supported],
            Arity {
                op,
                expected,
                found,
            } => fields![op, expected, found],
            Broadcast {
                dimension,
                lhs: lhs_extent,
                rhs: rhs_extent,
                lhs_shape: lhs,
                rhs_shape: rhs,
            } => fields![dimension, lhs_extent, rhs_extent, lhs, rhs],
            Rank {
                op,
                expected,
                found,
                ..
            } => fields![op, expected, found],
            Extent {
                op,
                dimension,
                expected,
                found,
                ..
            } => fields![op, dimension, expected, found],
            AxisRange { op, axis, rank } => fields![op, axis, rank],
            AxisTwice { op, axes, axis } => {
                let axes = format!("{axes:?}");
                fields![op, axes, axis]
            }
            NotPositive {
                shape,
                dimension,
                value,
            }
            | NegativeExtent {
                shape,
                dimension,
                value,
            } => fields![shape, dimension, value],
            ElementCount {
                from,
                to,
                from_count,
                to_count,
            } => fields![from, to, from_count, to_count],
            Permutation {
                permutation,
                rank,
                violation,
            } => {
                let permutation = format!("{permutation:?}");
                fields![permutation, rank, violation]
            }
            SliceLists {
                rank,
                starts,
                ends,
                steps,
            } => fields![rank, starts, ends, steps],
            SliceStep { dimension, step } => fields![dimension, step],
            IndexCount { op, rank, found } => fields![op, rank, found],
            Profile {
                what,
                profile,
                allowed,
            } => fields![what, profile, allowed],
            _ => Vec::new(),
        }
    }

    /// Whether the types of the operands help to explain the error.
    fn concerns_operands(&self) -> bool {
        use VerifyError::*;
        matches!(
            self,
            Extent { .. }
                | Rank { .. }
                | SliceBounds { .. }
                | SliceLists { .. }
                | SliceStep { .. }
                | IndexCount { .. }
                | AxisRange { .. }
                | Permutation { .. }
                | Channels { .. }
        )
    }

    /// Returns the diagnostic for this error of `op`, with a note on the types of its operands if they help.
    pub fn at_op(&self, g: &Graph, op: OpId) -> Diagnostic {
        let diagnostic = self.at(g.span(op));
        if self.concerns_operands() {
            operand_types(g, op)
                .into_iter()
                .fold(diagnostic, Diagnostic::note)
        } else {
            diagnostic
        }
    }

    /// Returns the diagnostic for this error at `span`.
    pub fn at(&self, span: Span) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(span, self.to_string());
        diagnostic.code = self.code();
        diagnostic.label = self.label();
        diagnostic.help = self.help();
        diagnostic.context = self.context();
        diagnostic
    }
}

/// Describes the types of the operands of an op, for a note; `None` if it has none, or one is untyped.
fn operand_types(g: &Graph, op: OpId) -> Option<String> {
    const SHOWN: usize = 6;
    let operands = g.operands(op);
    let mut parts = Vec::new();
    for (index, &value) in operands.iter().enumerate().take(SHOWN) {
        let ty = g.types().get(g.type_id(value)?).text(g.symbols());
        let def = g.def(op);
        let name = def.operand(index)?.name;
        parts.push(match index.checked_sub(def.operands.len()) {
            None => format!("`{name}` is {ty}"),
            Some(0) => format!("`{name}` are {ty}"),
            Some(_) => ty,
        });
    }
    if parts.is_empty() {
        return None;
    }
    if operands.len() > SHOWN {
        parts.push(format!("{} more", operands.len() - SHOWN));
    }
    Some(parts.join(", "))
}
