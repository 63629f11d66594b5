//! The arrays that a module is run on.

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

/// The arrays of the archive that the command line names; none without one.
///
/// # Errors
///
/// The exit code, after the reason has been reported.
pub(super) fn read(args: &Args, host: &mut dyn Host) -> Result<Arrays, u8> {
    match &args.inputs {
        Some(path) => npz::read_file(path, args.memory_limit, args.diagnostics, host),
        None => Ok(Arrays::new()),
    }
}

/// The arrays for a module's inputs, made up where the command line asks for that, and the extents
/// of its symbolic dimensions so far as they are known: those of `dims`, and those of the arrays. A note on standard
/// error says which extents were chosen for arrays that are made up.
///
/// # Errors
///
/// Extents that the module does not have or that the arrays contradict, arrays that do not
/// fit, arrays too large.
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

/// Says which extents were chosen for open dimensions, if any were.
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
        "`--random` chose {}; `--dim {example}` gives another extent",
        pairs.join(", ")
    );
    mind_cli::note(host, &text);
}

/// Takes `uint16` arrays as the bits of the `bf16` inputs they are for.
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

/// Takes narrow integers for the `i32` inputs that an imported program has in the place of narrower ones.
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

/// The errors as diagnostics, with the flags that help.
pub(super) fn diagnostics(args: &Args, g: &Graph, errors: &[Unbound]) -> Diagnostics {
    let mut found = Diagnostics::new();
    for unbound in errors {
        let diagnostic = unbound.diagnostic(g);
        found.push(match &unbound.error {
            BindError::Missing { .. } => {
                diagnostic.help("give it with `--inputs IN.npz`, or let `--random SEED` make it up")
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
