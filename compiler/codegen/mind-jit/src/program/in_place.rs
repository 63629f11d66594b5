//! Ops without a kernel that run directly on the memory of a program, because their evaluation would copy it first.

use std::sync::{Mutex, PoisonError};

use bytemuck::{
    AnyBitPattern, NoUninit, cast_slice, cast_slice_mut, try_cast_slice, try_cast_slice_mut,
};
use mind_core::ops::sample::{GridSample, GridSampling, Images};
use mind_core::ops::scatter::{ScatterElements, ScatterNd, ScatterTargets, Update};
use mind_core::ops::sort::{Key, Selection};
use mind_ir::graph::Graph;
use mind_ir::types::DType;
use mind_ir::{OpId, with_num};
use mind_vir::program::IndexType;
use smallvec::SmallVec;

use super::partition::useful_threads;
use crate::pool::Pool;

/// Estimated nanoseconds per element that is compared, and per element that is selected.
const PER_ELEMENT: usize = 1;
const PER_SELECTED: usize = 20;

/// The computation of an op.
#[derive(Clone, Debug)]
pub(super) enum InPlace {
    /// Scatter: updates are combined with an array.
    Scatter {
        places: ScatterTargets,
        update: Update,
        dtype: DType,
        index: IndexType,
    },
    /// Grid sampling of images.
    Sample {
        sampling: GridSampling,
        images: Images,
        dtype: Float,
        grid: Float,
    },
    /// Top-k: the first elements of each row in sorted order, and their indices.
    Select { selection: Selection, dtype: DType },
}

/// Dtype of images and grids that are sampled without a conversion.
#[derive(Clone, Copy, Debug)]
pub(super) enum Float {
    F32,
    F64,
}

impl Float {
    fn of(dtype: DType) -> Option<Float> {
        match dtype {
            DType::F32 => Some(Float::F32),
            DType::F64 => Some(Float::F64),
            DType::F16
            | DType::BF16
            | DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::U8
            | DType::U16
            | DType::U32
            | DType::U64
            | DType::Bool => None,
        }
    }
}

impl InPlace {
    /// Returns the computation of the verified op `op` for operands of these dtypes and shapes; `None` if it must be
    /// evaluated.
    pub(super) fn of(g: &Graph, op: OpId, operands: &[(DType, &[usize])]) -> Option<InPlace> {
        let update = g.view::<ScatterElements>(op).map(|op| op.kind(g));
        let update = update.or_else(|| g.view::<ScatterNd>(op).map(|op| op.kind(g)));
        if let Some(update) = update {
            let &[(dtype, data), (index, list), _] = operands else {
                return None;
            };
            return Some(InPlace::Scatter {
                places: ScatterTargets::of(g, op, data, list)?,
                update,
                dtype,
                index: IndexType::of(index)?,
            });
        }
        if let &[(dtype, shape)] = operands
            && let Some(selection) = Selection::of(g, op, shape)
        {
            // The order of `false` and `true` is that of their bytes.
            let dtype = if dtype == DType::Bool {
                DType::U8
            } else {
                dtype
            };
            return Some(InPlace::Select { selection, dtype });
        }
        let op = g.view::<GridSample>(op)?;
        let &[(dtype, images), (grid, points)] = operands else {
            return None;
        };
        Some(InPlace::Sample {
            sampling: op.sampling(g),
            images: Images::of(op.layout(g), images, points),
            dtype: Float::of(dtype)?,
            grid: Float::of(grid)?,
        })
    }

    /// Computes the results. Returns `false`, with undefined results, if the op must be evaluated instead: the operands
    /// are not aligned, or only the evaluation reports their error.
    pub(super) fn run(&self, pool: &Pool, operands: &[&[u8]], results: &mut [&mut [u8]]) -> bool {
        match (self, operands, results) {
            (
                InPlace::Scatter {
                    places,
                    update,
                    dtype,
                    index,
                },
                &[data, list, updates],
                [result],
            ) => {
                result.copy_from_slice(data);
                match index {
                    IndexType::I32 => {
                        let index = |at: usize| number(list, at, i32::from_ne_bytes).into();
                        scatter(places, (*update, *dtype), index, updates, result)
                    }
                    IndexType::I64 => {
                        let index = |at: usize| number(list, at, i64::from_ne_bytes);
                        scatter(places, (*update, *dtype), index, updates, result)
                    }
                }
            }
            (
                InPlace::Sample {
                    sampling,
                    images,
                    dtype,
                    grid,
                },
                &[elements, points],
                [result],
            ) => {
                let coordinates = match grid {
                    Float::F64 => coordinates(points, f64::from_ne_bytes),
                    Float::F32 => coordinates(points, |bytes| f32::from_ne_bytes(bytes).into()),
                };
                let whole = match dtype {
                    Float::F64 => views::<f64>(elements, result)
                        .map(|(from, to)| sampling.sample_into(images, from, &coordinates, to)),
                    Float::F32 => views::<f32>(elements, result)
                        .map(|(from, to)| sampling.sample_into(images, from, &coordinates, to)),
                };
                whole.is_some()
            }
            (InPlace::Select { selection, dtype }, &[input], [values, places]) => {
                let Ok(places) = try_cast_slice_mut(places) else {
                    return false;
                };
                with_num!(*dtype, T => {
                    let views = views::<T>(input, values);
                    views.map(|(input, values)| select(selection, pool, input, (values, places))).is_some()
                }, else false)
            }
            _ => false,
        }
    }
}

/// Returns number `at` of an unaligned list.
#[inline]
fn number<T, const N: usize>(list: &[u8], at: usize, read: impl Fn([u8; N]) -> T) -> T {
    let (numbers, _) = list.as_chunks::<N>();
    read(numbers[at])
}

/// Returns all numbers of an unaligned list.
fn coordinates<const N: usize>(list: &[u8], read: impl Fn([u8; N]) -> f64) -> Vec<f64> {
    let (numbers, _) = list.as_chunks::<N>();
    numbers.iter().map(|&bytes| read(bytes)).collect()
}

/// Returns both arrays as elements; `None` if one is not aligned.
fn views<'a, T: AnyBitPattern + NoUninit>(
    from: &'a [u8],
    to: &'a mut [u8],
) -> Option<(&'a [T], &'a mut [T])> {
    Some((try_cast_slice(from).ok()?, try_cast_slice_mut(to).ok()?))
}

fn scatter(
    places: &ScatterTargets,
    (update, dtype): (Update, DType),
    index: impl Fn(usize) -> i64,
    updates: &[u8],
    result: &mut [u8],
) -> bool {
    if update == Update::Replace {
        return match dtype.size() {
            1 => replace::<1>(places, index, updates, result),
            2 => replace::<2>(places, index, updates, result),
            4 => replace::<4>(places, index, updates, result),
            8 => replace::<8>(places, index, updates, result),
            _ => false,
        };
    }
    with_num!(dtype, T => {
        let Some((updates, result)) = views::<T>(updates, result) else {
            return false;
        };
        let joined = places.join(result, index, updates, |old, new| Ok(update.apply(old, new)));
        joined.is_ok()
    }, else false)
}

/// Runs a scatter that replaces elements of `N` bytes.
fn replace<const N: usize>(
    places: &ScatterTargets,
    index: impl Fn(usize) -> i64,
    updates: &[u8],
    result: &mut [u8],
) -> bool
where
    [u8; N]: bytemuck::Pod,
{
    let (updates, result) = (cast_slice::<u8, [u8; N]>(updates), cast_slice_mut(result));
    places
        .join(result, index, updates, |_, new| Ok(new))
        .is_ok()
}

/// Selects in parallel from the blocks of an array.
fn select<T: Key>(
    selection: &Selection,
    pool: &Pool,
    input: &[T],
    (values, places): (&mut [T], &mut [i64]),
) {
    let (blocks, [before, after]) = selection.blocks();
    let cost = input.len() * PER_ELEMENT + values.len() * PER_SELECTED;
    let parts = useful_threads(cost as u64, pool.threads()).min(blocks);
    if parts <= 1 || values.is_empty() {
        return selection.select(input, values, places);
    }
    let each = blocks.div_ceil(parts);
    let results = values
        .chunks_mut(each * after)
        .zip(places.chunks_mut(each * after));
    let parts = input.chunks(each * before).zip(results).map(Mutex::new);
    let parts: SmallVec<[_; 8]> = parts.collect();
    pool.run(parts.len(), &|part| {
        let mut part = parts[part].lock().unwrap_or_else(PoisonError::into_inner);
        let (input, (values, places)) = &mut *part;
        let selection = selection.of_blocks(input.len() / before);
        selection.select(input, values, places);
    });
}
