//! Arrays for the inputs of a module.

use mind_cli::npz;
use mind_diag::Diagnostics;
use mind_driver::engine::MORE_MEMORY;
use mind_driver::formats::{Format, FormatInfo};
use mind_driver::host::Host;
use mind_interp::{Arrays, BindError, Extents, Random, Unbound, Values, complete, inputs};
use mind_ir::Graph;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::DType;
use mind_mil::call::integers;

use super::args::Args;

/// Reads the archive of `--inputs`; returns no arrays without it.
///
/// # Errors
///
/// Returns the exit code after reporting the error.
pub(super) fn read(args: &Args, host: &mut dyn Host) -> Result<Arrays, u8> {
    match &args.inputs {
        Some(path) => npz::read_file(path, args.memory_limit, args.diagnostics, host),
        None => Ok(Arrays::new()),
    }
}

/// Returns the arrays for the inputs, filled with random elements under `--random`, and the known extents of symbolic
/// dimensions, from `dims` and the arrays. A note lists the extents chosen for random arrays.
///
/// # Errors
///
/// Errors if the module lacks an extent of `dims`, if arrays contradict it, if arrays do not match, or if they are too
/// large.
pub(super) fn gather(
    args: &Args,
    dims: &[(String, usize)],
    g: &Graph,
    format: &FormatInfo,
    mut arrays: Arrays,
    host: &mut dyn Host,
) -> Result<(Arrays, Extents), Diagnostics> {
    let pairs = dims.iter().map(|(name, extent)| (name.as_str(), *extent));
    let extents = Extents::given(g, pairs);
    let mut extents = extents.map_err(|error| diagnostics(args, g, &[error.into()]))?;
    adopt_bf16(g, &mut arrays);
    if matches!(format.text(), Some(Format::Mil | Format::MilPrimer)) {
        widen(g, &mut arrays);
    }
    if let Some(seed) = args.random {
        let memory_limit = args.memory_limit;
        let random = Random {
            seed,
            values: Values::Ordinary,
            memory_limit,
        };
        let completed = complete(g, &mut arrays, &mut extents, &random);
        let chosen = completed.map_err(|errors| diagnostics(args, g, &errors))?;
        note_chosen(&chosen, host);
    }
    Ok((arrays, extents))
}

/// Notes the extents that were chosen for open dimensions, if any.
fn note_chosen(chosen: &[(String, usize)], host: &mut dyn Host) {
    let Some((first, extent)) = chosen.first() else {
        return;
    };
    let pairs: Vec<String> = chosen
        .iter()
        .map(|(name, extent)| format!("{name}={extent}"))
        .collect();
    let example = mind_cli::shell_word(&format!("{first}={}", extent + 1));
    let text = format!(
        "`--random` chose {}; `--dim {example}` sets another extent",
        pairs.join(", ")
    );
    mind_cli::note(host, &text);
}

/// Reinterprets `uint16` arrays for `bf16` inputs.
fn adopt_bf16(g: &Graph, arrays: &mut Arrays) {
    for input in inputs(g)
        .iter()
        .filter(|input| input.ty.dtype == DType::BF16)
    {
        let Some(array) = arrays.get_mut(input.name) else {
            continue;
        };
        if array.dtype() == DType::U16 {
            let bits = array.buffer().to_bytes();
            *array = Tensor::new(
                array.shape().to_vec(),
                Buffer::from_bytes(DType::BF16, &bits),
            );
        }
    }
}

/// Widens arrays of narrow integers for `i32` inputs, because the importer of MIL widens such inputs.
fn widen(g: &Graph, arrays: &mut Arrays) {
    let narrow = |array: &Tensor| {
        matches!(
            array.dtype(),
            DType::U8 | DType::I8 | DType::U16 | DType::I16
        )
    };
    for input in inputs(g)
        .iter()
        .filter(|input| input.ty.dtype == DType::I32)
    {
        if let Some(array) = arrays.get_mut(input.name).filter(|array| narrow(array)) {
            let wide = integers(array).into_iter().map(|element| element as i32);
            *array = Tensor::of(array.shape().to_vec(), wide.collect());
        }
    }
}

/// Converts the errors to diagnostics that name helpful flags.
pub(super) fn diagnostics(args: &Args, g: &Graph, errors: &[Unbound]) -> Diagnostics {
    let mut found = Diagnostics::new();
    for unbound in errors {
        let diagnostic = unbound.diagnostic(g);
        found.push(match &unbound.error {
            BindError::Missing { .. } => {
                diagnostic.help("pass it with `--inputs IN.npz`, or fill it with `--random SEED`")
            }
            BindError::TooLarge { .. } => diagnostic.help("`--memory-limit` allows more"),
            BindError::NoMemory { .. } => diagnostic.help(MORE_MEMORY),
            BindError::Extra { .. } => match &args.inputs {
                Some(path) => diagnostic.note(format!("it is in {path}")),
                None => diagnostic,
            },
            _ => diagnostic,
        });
    }
    found
}
