//! Grouped convolutions and transposed convolutions, in NHWC and NCHW layout.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::tensor::{Tensor, row_major};
use mind_ir::types::{Dim, Shape, TensorType, TypeView};
use mind_ir::verify::{InferResult, VerifyError};

use crate::eval::sliding::{SlideAxis, Sliding, multiply_windows};
use crate::extent::check_extents;
use crate::sums::SumType;
use crate::windows::{WindowAxis, per_dimension};

mind_ir::words! {
    /// The position of the channel dimension in images and filters.
    pub enum Layout {
        /// Images `[N, s.., C]`, filters `[k.., c, F]`.
        Nhwc = "nhwc",
        /// Images `[N, C, s..]`, filters `[F, c, k..]`.
        Nchw = "nchw",
    }
}

impl Layout {
    /// Returns the first spatial dimension and the channel dimension of images with `spatial` spatial dimensions.
    pub fn image(self, spatial: usize) -> (usize, usize) {
        match self {
            Layout::Nhwc => (1, 1 + spatial),
            Layout::Nchw => (2, 1),
        }
    }

    /// Returns the first spatial dimension of filters and their two channel dimensions: that of one group, then that of
    /// all groups.
    fn filter(self, spatial: usize) -> (usize, [usize; 2]) {
        match self {
            Layout::Nhwc => (0, [spatial, spatial + 1]),
            Layout::Nchw => (2, [1, 0]),
        }
    }
}

/// Convolution or transposed convolution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Each element of the result is a sum over the taps of the filter.
    Forward,
    /// Transposed: each element of the input is multiplied by every tap and added to the result.
    Backward,
}

/// The attributes of a convolution, normalised to one entry for each spatial dimension.
#[derive(Clone, Debug)]
pub struct Convolve {
    /// The name of the op.
    pub op: &'static str,
    /// Convolution or transposed convolution.
    pub direction: Direction,
    /// The position of the channel dimension.
    pub layout: Layout,
    /// Strides over the input if forward, over the result if backward.
    pub strides: Vec<i64>,
    /// Distances between adjacent taps.
    pub dilations: Vec<i64>,
    /// Zeros before the input if forward, elements cropped from the start of the result if backward.
    pub low: Vec<i64>,
    /// The same at the end.
    pub high: Vec<i64>,
    /// Output padding: elements appended to the result; all 0 if forward.
    pub more: Vec<i64>,
    /// The number of groups of channels.
    pub groups: i64,
    /// The dtype of the accumulator.
    pub dtype: SumType,
}

/// The list attributes of a convolution as written.
pub(crate) struct Lists<'g> {
    pub strides: &'g [i64],
    pub dilations: &'g [i64],
    pub pads: &'g [i64],
    pub more: &'g [i64],
}

impl Convolve {
    /// Validates the attributes for operands of `rank` dimensions.
    ///
    /// # Errors
    ///
    /// E3002 rank not 3 to 5, E4006 lists of another length, E4010 an entry too small.
    pub(crate) fn new(
        (op, direction): (&'static str, Direction),
        rank: usize,
        (layout, groups, dtype): (Layout, i64, SumType),
        lists: &Lists<'_>,
    ) -> Result<Convolve, VerifyError> {
        if !(3..=5).contains(&rank) {
            return Err(VerifyError::Rank {
                op,
                operand: "input",
                expected: "3 to 5".to_owned(),
                found: rank,
            });
        }
        let spatial = rank - 2;
        let mut low = per_dimension(op, 2 * spatial, "pads", lists.pads, 0, 0)?;
        if groups < 1 {
            return Err(VerifyError::Window {
                what: "groups",
                expected: "a positive integer",
                found: groups.to_string(),
            });
        }
        Ok(Convolve {
            op,
            direction,
            layout,
            strides: per_dimension(op, spatial, "strides", lists.strides, 1, 1)?,
            dilations: per_dimension(op, spatial, "dilations", lists.dilations, 1, 1)?,
            high: low.split_off(spatial),
            low,
            more: per_dimension(op, spatial, "output padding", lists.more, 0, 0)?,
            groups,
            dtype,
        })
    }

    fn spatial(&self) -> usize {
        self.strides.len()
    }

    /// Returns three dimensions of the filter: the first spatial one, the input channels and the output channels.
    fn filter_axes(&self) -> (usize, usize, usize) {
        let (taps, [group, all]) = self.layout.filter(self.spatial());
        match self.direction {
            Direction::Forward => (taps, group, all),
            Direction::Backward => (taps, all, group),
        }
    }

    /// Infers the dtype and shape of the result.
    pub(crate) fn infer(
        &self,
        g: &Graph,
        input: TypeView<'_>,
        filter: TypeView<'_>,
    ) -> InferResult {
        let (op, rank) = (self.op, input.rank());
        if filter.rank() != rank {
            return Err(Box::new(VerifyError::Rank {
                op,
                operand: "filter",
                expected: rank.to_string(),
                found: filter.rank(),
            }));
        }
        let dtype = self
            .dtype
            .resolve(op, [("input", input.dtype), ("filter", filter.dtype)])?;
        let filters = self.filters(g, input, filter)?;
        let (first, channels) = self.layout.image(self.spatial());
        let (taps, ..) = self.filter_axes();
        let mut shape: Shape = input.shape.iter().copied().collect();
        shape[channels] = filters;
        for at in 0..self.spatial() {
            let (extent, window) = (input.shape[first + at], filter.shape[taps + at]);
            let dimension = first + at;
            let positions = self.positions(at, extent, window);
            shape[dimension] = positions.ok_or(VerifyError::ExtentOverflow { op, dimension })?;
        }
        check_extents(g, &shape)?;
        Ok(TensorType::new(dtype, shape).into())
    }

    /// Returns the number of output channels.
    ///
    /// # Errors
    ///
    /// E4009 channels that differ, E4010 channels that groups do not divide.
    fn filters(
        &self,
        g: &Graph,
        input: TypeView<'_>,
        filter: TypeView<'_>,
    ) -> Result<Dim, VerifyError> {
        let (_, channels) = self.layout.image(self.spatial());
        let (_, taken, filters) = self.filter_axes();
        let (own, taken) = (input.shape[channels], filter.shape[taken]);
        let filters = filter.shape[filters];
        let times = |dim: Dim| match dim {
            Dim::Fixed(extent) => extent.checked_mul(self.groups).map(Dim::Fixed),
            Dim::Symbol(_) if self.groups == 1 => Some(dim),
            Dim::Symbol(_) | Dim::Dynamic => Some(Dim::Dynamic),
        };
        let overflow = VerifyError::ExtentOverflow {
            op: self.op,
            dimension: channels,
        };
        let (expected, filters) = match self.direction {
            Direction::Forward => (times(taken), Some(filters)),
            Direction::Backward => (Some(taken), times(filters)),
        };
        let (Some(expected), Some(filters)) = (expected, filters) else {
            return Err(overflow);
        };
        if own.meet(expected).is_none() {
            let text = |dim: Dim| dim.display(g.symbols()).to_string();
            return Err(VerifyError::Channels {
                input: text(own),
                filter: text(expected),
            });
        }
        let divided = match self.direction {
            Direction::Forward => filters,
            Direction::Backward => own,
        };
        match divided {
            Dim::Fixed(count) if count % self.groups != 0 => Err(self.undivided(count)),
            Dim::Fixed(_) | Dim::Symbol(_) | Dim::Dynamic => Ok(filters),
        }
    }

    fn undivided(&self, count: i64) -> VerifyError {
        VerifyError::Window {
            what: "groups",
            expected: "a number that divides the channels",
            found: format!("{} for {count}", self.groups),
        }
    }

    /// Returns the extent of the result along spatial dimension `at`; `None` if it is too large for an extent.
    fn positions(&self, at: usize, extent: Dim, window: Dim) -> Option<Dim> {
        match self.direction {
            Direction::Forward => self.axis(at).positions(extent, window),
            Direction::Backward => match (extent, window) {
                (Dim::Fixed(extent), Dim::Fixed(window)) => {
                    let count = self.spread(at, extent, window);
                    i64::try_from(count).ok().map(Dim::Fixed)
                }
                _ => Some(Dim::Dynamic),
            },
        }
    }

    /// Returns the window along spatial dimension `at` of a forward convolution.
    fn axis(&self, at: usize) -> WindowAxis {
        WindowAxis {
            stride: self.strides[at],
            dilation: self.dilations[at],
            low: self.low[at],
            high: self.high[at],
        }
    }

    /// Returns the extent of the result of a backward convolution along spatial dimension `at`.
    fn spread(&self, at: usize, extent: i64, window: i64) -> i128 {
        let wide = |number: i64| i128::from(number);
        let steps = (wide(extent) - 1) * wide(self.strides[at]);
        let reach = (wide(window) - 1) * wide(self.dilations[at]) + 1;
        steps + reach + wide(self.more[at]) - wide(self.low[at]) - wide(self.high[at])
    }

    /// Returns the sliding window along each spatial dimension.
    ///
    /// A backward convolution is expressed as a forward one with stride 1, negative dilation and an input dilated by
    /// `strides`.
    ///
    /// # Errors
    ///
    /// The extent of the result is negative or too large.
    pub fn slides(&self, input: &[usize], filter: &[usize]) -> Result<Vec<SlideAxis>, EvalError> {
        let (first, _) = self.layout.image(self.spatial());
        let (taps, ..) = self.filter_axes();
        let slide = |at: usize| {
            let (extent, window) = (input[first + at], filter[taps + at]);
            if self.direction == Direction::Forward {
                return self.axis(at).slide(extent, window);
            }
            let positions = self.spread(at, extent as i64, window as i64);
            let Ok(positions @ 0..) = i64::try_from(positions) else {
                return Err(EvalError::Shape(format!(
                    "a filter of {window} over an extent of {extent} gives a result extent of {positions}"
                )));
            };
            Ok(SlideAxis {
                extent,
                positions: positions as usize,
                window,
                stride: 1,
                dilation: -self.dilations[at],
                low: -self.low[at],
                base: self.strides[at],
            })
        };
        (0..self.spatial()).map(slide).collect()
    }

    /// Returns the input and output channels of one group.
    ///
    /// # Errors
    ///
    /// The channels of input and filter differ, or the groups do not divide them.
    pub fn group(&self, input: &[usize], filter: &[usize]) -> Result<[usize; 2], EvalError> {
        let (_, channels) = self.layout.image(self.spatial());
        let (_, taken, filters) = self.filter_axes();
        let (own, taken, filters) = (input[channels], filter[taken], filter[filters]);
        let groups = usize::try_from(self.groups).unwrap_or(usize::MAX);
        let divided = match self.direction {
            Direction::Forward => filters,
            Direction::Backward => own,
        };
        let expected = match self.direction {
            Direction::Forward => taken.checked_mul(groups),
            Direction::Backward => Some(taken),
        };
        if expected != Some(own) {
            return Err(EvalError::Shape(format!(
                "input has {own} channels, filter has {taken} for each of {groups} groups"
            )));
        }
        if !divided.is_multiple_of(groups) {
            return Err(EvalError::Shape(format!(
                "{groups} groups do not divide {divided} channels"
            )));
        }
        Ok(match self.direction {
            Direction::Forward => [taken, filters / groups],
            Direction::Backward => [own / groups, filters],
        })
    }

    /// Returns the windows over contiguous operands. Groups, the input channels of a group and its output channels are
    /// separate dimensions in addition to those of the images; the order is that of the result.
    fn sliding(&self, input: &[usize], filter: &[usize]) -> Result<Sliding, EvalError> {
        let strides = |shape: &[usize]| {
            if shape.contains(&0) {
                vec![0; shape.len()]
            } else {
                row_major(shape).to_vec()
            }
        };
        let (own, other) = (strides(input), strides(filter));
        let (first, channels) = self.layout.image(self.spatial());
        let (taps, taken, filters) = self.filter_axes();
        let [each, out] = self.group(input, filter)?;
        let place = match self.direction {
            Direction::Forward => out * other[filters],
            Direction::Backward => each * other[taken],
        };
        let images = (SlideAxis::fixed(input[0]), [own[0], 0, 0]);
        let groups = SlideAxis::fixed(self.groups as usize);
        let groups = (groups, [each * own[channels], 0, place]);
        let inner = (SlideAxis::whole(each), [own[channels], other[taken], 0]);
        let outer = (SlideAxis::fixed(out), [0, 0, other[filters]]);
        let spatial = self.slides(input, filter)?.into_iter().enumerate();
        let spatial = spatial.map(|(at, axis)| (axis, [own[first + at], other[taps + at], 0]));
        let all: Vec<(SlideAxis, [usize; 3])> = match self.layout {
            Layout::Nhwc => [images]
                .into_iter()
                .chain(spatial)
                .chain([groups, inner, outer])
                .collect(),
            Layout::Nchw => [images, groups, outer]
                .into_iter()
                .chain(spatial)
                .chain([inner])
                .collect(),
        };
        let (axes, strides) = all.into_iter().unzip();
        Ok(Sliding {
            axes,
            strides,
            padded: self.direction == Direction::Forward,
        })
    }

    /// Evaluates the convolution.
    ///
    /// # Errors
    ///
    /// Extents that do not match, E6004 too large, E6005 integer overflow where `cx` rejects it.
    pub(crate) fn eval(&self, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
        let (input, filter) = (operands[0].shape(), operands[1].shape());
        let windows = self.sliding(input, filter)?;
        let mut shape = input.to_vec();
        let (first, channels) = self.layout.image(self.spatial());
        for (at, axis) in self.slides(input, filter)?.iter().enumerate() {
            shape[first + at] = axis.positions;
        }
        shape[channels] = self.group(input, filter)?[1].saturating_mul(self.groups as usize);
        let [input, filter] = self.dtype.widened(cx, [operands[0], operands[1]])?;
        let result = multiply_windows(cx, &windows, &input, &filter)?;
        Ok(result.with_shape(shape))
    }
}
