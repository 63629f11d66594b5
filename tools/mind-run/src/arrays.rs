//! Arrays for the inputs of a module.

use mind_cli::npz::ArchiveFile;
use mind_diag::Diagnostics;
use mind_driver::engine::MORE_MEMORY;
use mind_driver::formats::{Format, FormatInfo};
use mind_driver::host::Host;
use mind_driver::load::Loaded;
use mind_interp::{
    ArrayTypes, Arrays, BindError, Extents, Random, Unbound, Values, check_types, complete, inputs,
};
use mind_ir::Graph;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::DType;
use mind_mil::call::integers;

use super::args::Args;

/// Opens the archive of `--inputs` and reads its headers; returns `None` without one.
///
/// # Errors
///
/// Returns the exit code after reporting the error.
pub(super) fn open<'a>(args: &'a Args, host: &mut dyn Host) -> Result<Option<ArchiveFile<'a>>, u8> {
    let path = args.inputs.as_deref();
    path.map(|path| ArchiveFile::open(path, args.memory_limit, args.diagnostics, host))
        .transpose()
}

/// The arrays of an archive for the inputs of a module; none without an archive.
///
/// An archive with arrays that are not inputs of the module, or of other types, is refused before anything is unpacked.
///
/// # Errors
///
/// The exit code, after the reason has been reported.
pub(super) fn unpack(
    args: &Args,
    loaded: &Loaded,
    archive: Option<ArchiveFile<'_>>,
    host: &mut dyn Host,
) -> Result<Arrays, u8> {
    let Some(mut archive) = archive else {
        return Ok(Arrays::new());
    };
    let g = &loaded.graph;
    let errors = mistyped(args, g, loaded.format, archive.types());
    if !errors.is_empty() {
        let found = diagnostics(args, g, &errors);
        return Err(super::reject(args, host, &found, &loaded.file));
    }
    archive.arrays(|_| true, host)
}

/// Returns the arrays whose names or types the module does not have. For a program of MIL only the names are checked, because
/// [`gather`] checks the types after the import.
fn mistyped(args: &Args, g: &Graph, format: &FormatInfo, types: &ArrayTypes) -> Vec<Unbound> {
    let mut types = types.clone();
    let declared = inputs(g);
    for input in &declared {
        if let Some(array) = types.get_mut(input.name)
            && (input.ty.dtype, array.dtype) == (DType::BF16, DType::U16)
        {
            array.dtype = DType::BF16;
        }
    }
    let mut errors = check_types(g, &types, &mut Extents::default());
    if is_mil(format) {
        errors.retain(|own| matches!(own.error, BindError::Extra { .. }));
    }
    if errors.is_empty() || args.random.is_some() {
        return errors;
    }
    let missing = declared.iter().filter(|own| !types.contains_key(own.name));
    errors.extend(missing.map(|input| {
        let (name, ty) = (input.name.to_owned(), input.ty.text(g.symbols()));
        Unbound {
            op: Some(input.op),
            error: BindError::Missing { name, ty },
        }
    }));
    errors
}

fn is_mil(format: &FormatInfo) -> bool {
    matches!(format.text(), Some(Format::Mil | Format::MilPrimer))
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
    if is_mil(format) {
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
