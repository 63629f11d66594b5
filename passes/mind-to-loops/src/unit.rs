//! From the ops of a unit to kernels: a unit is a group, or an op that stands alone.
//!
//! Ops that only say where elements stand become places and no kernel.

use mind_core::ops::input::Input;
use mind_ir::attr::OPEN_END;
use mind_ir::opdef::{Op, Trait};
use mind_ir::{BlockId, Graph, OpId, ValueId};
use mind_loops::extents::known;
use mind_tensor::ops::broadcast::Broadcast;
use mind_tensor::ops::contract::Contract;
use mind_tensor::ops::convert::Convert;
use mind_tensor::ops::group::Group;
use mind_tensor::ops::index::{Gather, Index, Slice};
use mind_tensor::ops::join::Concat;
use mind_tensor::ops::map::Map;
use mind_tensor::ops::reduce::Reduce;
use mind_tensor::ops::reshape::Reshape;
use mind_tensor::ops::transpose::Transpose;
use mind_tensor::ops::window::Window;
use rustc_hash::FxHashMap;

use crate::kernel::{Kernel, Kind, Matrix, Node, Operand, Output};
use crate::place::{Place, Source};

/// Where the elements of the values of a block stand.
pub(crate) type Places = FxHashMap<ValueId, Place>;

/// Why an op has no kernel.
#[derive(Debug)]
pub(crate) struct Unlowered {
    /// The op.
    pub(crate) op: OpId,
    /// What is wrong.
    pub(crate) problem: Problem,
}

/// What keeps an op from being lowered.
#[derive(Debug)]
pub(crate) enum Problem {
    /// It belongs to a dialect that this lowering does not read.
    Foreign,
    /// An index that lies outside, known now: the extent of the axis, and the index.
    Outside {
        axis: usize,
        index: i64,
        extent: usize,
    },
}

/// The kernels of a unit, in order.
#[derive(Default)]
pub(crate) struct Unit {
    pub(crate) kernels: Vec<Kernel>,
    pub(crate) places: Places,
}

impl Unit {
    /// Where the elements of `value` stand.
    pub(crate) fn place(&self, value: ValueId) -> Place {
        self.places[&value].clone()
    }

    /// Lowers the ops of a block; where the values that it yields stand.
    ///
    /// # Errors
    ///
    /// The first op without a lowering.
    pub(crate) fn lower_block(
        &mut self,
        g: &Graph,
        block: BlockId,
    ) -> Result<Vec<Place>, Unlowered> {
        for op in g.ops(block) {
            if g.def(op).has(Trait::Terminator) {
                return Ok(g
                    .operands(op)
                    .iter()
                    .map(|&value| self.place(value))
                    .collect());
            }
            self.lower(g, op)?;
        }
        Ok(Vec::new())
    }

    /// Lowers an op.
    ///
    /// # Errors
    ///
    /// It has no lowering.
    pub(crate) fn lower(&mut self, g: &Graph, op: OpId) -> Result<(), Unlowered> {
        let fail = |problem| Err(Unlowered { op, problem });
        if let Some(map) = g.view::<Map>(op) {
            self.lower_map(g, map);
            return Ok(());
        }
        if let Some(group) = g.view::<Group>(op) {
            let body = group.body(g);
            for (argument, &operand) in g.arguments(body).into_iter().zip(group.inputs(g)) {
                self.places.insert(argument, self.place(operand));
            }
            let yielded = self.lower_block(g, body)?;
            self.places.extend(g.results(op).into_iter().zip(yielded));
            return Ok(());
        }
        let place = if let Some(reduce) = g.view::<Reduce>(op) {
            self.lower_reduce(g, reduce)
        } else if let Some(contract) = g.view::<Contract>(op) {
            self.lower_contract(g, contract)
        } else if let Some(window) = g.view::<Window>(op) {
            self.lower_window(g, window)
        } else if let Some(convert) = g.view::<Convert>(op) {
            self.lower_convert(g, convert)
        } else if let Some(view) = g.view::<Transpose>(op) {
            let order = view.permutation(g).iter().map(|&axis| axis as usize);
            self.place(view.input(g))
                .permuted(&order.collect::<Vec<_>>())
        } else if let Some(view) = g.view::<Reshape>(op) {
            let input = self.place(view.input(g));
            let extents = known(g, view.result(g));
            match input.reshaped(&extents) {
                Some(place) => place,
                None => self
                    .copied(g, op, view.input(g), input)
                    .reshaped(&extents)
                    .expect("a dense buffer has any shape"),
            }
        } else if let Some(view) = g.view::<Broadcast>(op) {
            let dims: Vec<usize> = view.dims(g).iter().map(|&axis| axis as usize).collect();
            let extents = known(g, view.result(g));
            self.place(view.inputs(g)[0]).broadcast(&dims, &extents)
        } else if let Some(slice) = g.view::<Slice>(op) {
            let extents = known(g, slice.result(g));
            debug_assert!(slice.ends(g).iter().all(|&end| end >= 0 || end == OPEN_END));
            self.place(slice.input(g))
                .sliced(slice.starts(g), slice.steps(g), &extents)
        } else if let Some(index) = g.view::<Index>(op) {
            let input = self.place(index.input(g));
            let at = index.indices(g);
            let outside = at.iter().zip(&input.extents);
            let outside = outside
                .enumerate()
                .find(|(_, (i, extent))| !(0..**extent as i64).contains(i));
            if let Some((axis, (&index, &extent))) = outside {
                return fail(Problem::Outside {
                    axis,
                    index,
                    extent,
                });
            }
            let steps = vec![1; at.len()];
            let mut place = input.sliced(at, &steps, &vec![1; at.len()]);
            place.extents.clear();
            place.strides.clear();
            place
        } else if let Some(gather) = g.view::<Gather>(op) {
            let operands = [gather.data(g), gather.indices(g)];
            let operands = operands.map(|value| self.dense(g, op, value));
            self.moved(
                g,
                op,
                Kind::Gather {
                    axis: gather.axis(g),
                },
                operands.to_vec(),
            )
        } else if let Some(join) = g.view::<Concat>(op) {
            let operands = join
                .inputs(g)
                .iter()
                .map(|&value| self.place(value))
                .collect();
            self.moved(g, op, Kind::Join { axis: join.axis(g) }, operands)
        } else if g.def(op).has(Trait::Constant) || g.is::<Input>(op) {
            let result = g.result(op);
            Place::whole(Source::Value(result), known(g, result))
        } else {
            return fail(Problem::Foreign);
        };
        self.places.insert(g.result(op), place);
        Ok(())
    }

    /// Adds a kernel; where its results stand.
    pub(crate) fn push(&mut self, kernel: Kernel) -> Vec<Place> {
        let number = self.kernels.len();
        let outputs = 0..kernel.outputs.len();
        let places = outputs.map(|result| {
            let source = Source::Kernel {
                kernel: number,
                result,
            };
            Place::whole(source, kernel.extents(result))
        });
        let places = places.collect();
        self.kernels.push(kernel);
        places
    }

    /// A copy of the elements at `place`, dense; `value` has their dtype.
    pub(crate) fn copied(
        &mut self,
        g: &Graph,
        origin: OpId,
        value: ValueId,
        place: Place,
    ) -> Place {
        let extents = place.extents.clone();
        let squeezed = place.squeezed();
        let kernel = Kernel {
            kind: Kind::Nest { along: None },
            dims: squeezed.extents.clone(),
            operands: vec![Operand {
                place: squeezed,
                is_row: false,
            }],
            body: vec![Node::Operand(0)],
            outputs: vec![Output {
                node: 0,
                dtype: g.ty(value).dtype,
            }],
            origin,
        };
        let place = self.push(kernel).remove(0);
        place
            .reshaped(&extents)
            .expect("a dense buffer has any shape")
    }

    /// The elements of `value` row-major from the start of a buffer, copied where they do not stand so.
    fn dense(&mut self, g: &Graph, origin: OpId, value: ValueId) -> Place {
        let place = self.place(value);
        if place.is_dense() {
            place
        } else {
            self.copied(g, origin, value, place)
        }
    }

    fn moved(&mut self, g: &Graph, op: OpId, kind: Kind, operands: Vec<Place>) -> Place {
        let result = g.result(op);
        let kernel = Kernel {
            kind,
            dims: known(g, result),
            operands: operands
                .into_iter()
                .map(|place| Operand {
                    place,
                    is_row: false,
                })
                .collect(),
            body: vec![Node::Operand(0)],
            outputs: vec![Output {
                node: 0,
                dtype: g.ty(result).dtype,
            }],
            origin: op,
        };
        self.push(kernel).remove(0)
    }

    fn lower_map(&mut self, g: &Graph, map: Map) {
        let shape = known(g, g.results(map.id()).get(0));
        let (mut operands, mut body) = (Vec::new(), Vec::new());
        let mut nodes: FxHashMap<ValueId, usize> = FxHashMap::default();
        let block = map.body(g);
        for (argument, &input) in g.arguments(block).into_iter().zip(map.inputs(g)) {
            let place = self.place(input).squeezed();
            let operand = Operand {
                place,
                is_row: false,
            };
            let known = operands.iter().position(|own| *own == operand);
            let index = known.unwrap_or_else(|| {
                operands.push(operand);
                body.push(Node::Operand(operands.len() - 1));
                operands.len() - 1
            });
            nodes.insert(argument, index);
        }
        let mut yielded = Vec::new();
        for op in g.ops(block) {
            let args = g.operands(op).iter().map(|value| nodes[value]);
            if g.def(op).has(Trait::Terminator) {
                yielded = args.collect();
                break;
            }
            let node = match g.view::<Convert>(op) {
                Some(convert) => Node::Convert {
                    to: convert.to(g),
                    arg: nodes[&convert.input(g)],
                },
                None => Node::Op {
                    source: op,
                    args: args.collect(),
                },
            };
            nodes.insert(g.result(op), body.len());
            body.push(node);
        }
        let outputs = yielded.into_iter().zip(g.results(map.id()));
        let outputs = outputs.map(|(node, value)| Output {
            node,
            dtype: g.ty(value).dtype,
        });
        let kernel = Kernel {
            kind: Kind::Nest { along: None },
            dims: shape
                .iter()
                .copied()
                .filter(|&extent| extent != 1)
                .collect(),
            operands,
            body,
            outputs: outputs.collect(),
            origin: map.id(),
        };
        let places = self.push(kernel);
        for (value, place) in g.results(map.id()).into_iter().zip(places) {
            let place = place
                .reshaped(&shape)
                .expect("a dense buffer has any shape");
            self.places.insert(value, place);
        }
    }

    fn lower_convert(&mut self, g: &Graph, convert: Convert) -> Place {
        let place = self.place(convert.input(g));
        let shape = place.extents.clone();
        let place = place.squeezed();
        let kernel = Kernel {
            kind: Kind::Nest { along: None },
            dims: place.extents.clone(),
            operands: vec![Operand {
                place,
                is_row: false,
            }],
            body: vec![
                Node::Operand(0),
                Node::Convert {
                    to: convert.to(g),
                    arg: 0,
                },
            ],
            outputs: vec![Output {
                node: 1,
                dtype: g.ty(convert.result(g)).dtype,
            }],
            origin: convert.id(),
        };
        let place = self.push(kernel).remove(0);
        place
            .reshaped(&shape)
            .expect("a dense buffer has any shape")
    }

    /// The reduced dimensions become one, the last of the nest; or the last but one where the elements of
    /// neighbouring results are neighbours.
    fn lower_reduce(&mut self, g: &Graph, reduce: Reduce) -> Place {
        let (input, result) = (reduce.input(g), reduce.result(g));
        let place = self.place(input);
        let is_reduced = |axis: &usize| reduce.axes(g).contains(&(*axis as i64));
        let rank = place.extents.len();
        let kept: Vec<usize> = (0..rank)
            .filter(|axis| !is_reduced(axis) && place.extents[*axis] != 1)
            .collect();
        let reduced: Vec<usize> = (0..rank).filter(is_reduced).collect();
        let order: Vec<usize> = kept.iter().chain(&reduced).copied().collect();
        let place = place.permuted(&order);
        let collapsed = match reduced.len() {
            0 => Some(place.with_unit(kept.len())),
            _ => place.collapsed(kept.len()..order.len()),
        };
        let place = collapsed.unwrap_or_else(|| {
            let dense = self.copied(g, reduce.id(), input, place);
            dense
                .collapsed(kept.len()..order.len())
                .expect("a dense buffer collapses")
        });
        let mut along = kept.len();
        let mut operand = place;
        let strides = &operand.strides;
        if along > 0
            && strides[along - 1] == 1
            && strides[along] != 1
            && operand.extents[along] != 1
        {
            let mut order: Vec<usize> = (0..=along).collect();
            order.swap(along - 1, along);
            operand = operand.permuted(&order);
            along -= 1;
        }
        let reduction = reduce.reduction(g);
        let reduction = reduction.expect("a verified kind is one of the words");
        let kernel = Kernel {
            kind: Kind::Nest { along: Some(along) },
            dims: operand.extents.clone(),
            operands: vec![Operand {
                place: operand,
                is_row: false,
            }],
            body: vec![Node::Operand(0), Node::Along { reduction, arg: 0 }],
            outputs: vec![Output {
                node: 1,
                dtype: g.ty(result).dtype,
            }],
            origin: reduce.id(),
        };
        let place = self.push(kernel).remove(0);
        place
            .reshaped(&known(g, result))
            .expect("a dense buffer has any shape")
    }

    fn lower_contract(&mut self, g: &Graph, contract: Contract) -> Place {
        let usizes =
            |axes: &[i64]| -> Vec<usize> { axes.iter().map(|&axis| axis as usize).collect() };
        let sides = [
            (
                contract.lhs(g),
                usizes(contract.lhs_batch(g)),
                usizes(contract.lhs_contract(g)),
            ),
            (
                contract.rhs(g),
                usizes(contract.rhs_batch(g)),
                usizes(contract.rhs_contract(g)),
            ),
        ];
        let mut free = [0, 0];
        let mut operands = Vec::new();
        for (side, (value, batch, contracted)) in sides.iter().enumerate() {
            let place = self.place(*value);
            let named = |axis: &usize| batch.contains(axis) || contracted.contains(axis);
            let own: Vec<usize> = (0..place.extents.len())
                .filter(|axis| !named(axis))
                .collect();
            free[side] = own.len();
            let order = match side {
                0 => [&batch[..], &own, contracted].concat(),
                _ => [&batch[..], contracted, &own].concat(),
            };
            let first = if side == 0 {
                batch.len() + own.len()
            } else {
                batch.len()
            };
            let range = first..first + contracted.len();
            let place = place.permuted(&order);
            let collapse = |place: &Place| match contracted.len() {
                0 => Some(place.with_unit(first)),
                _ => place.collapsed(range.clone()),
            };
            let place = collapse(&place).unwrap_or_else(|| {
                let dense = self.copied(g, contract.id(), *value, place);
                collapse(&dense).expect("a dense buffer collapses")
            });
            operands.push(Operand {
                place,
                is_row: false,
            });
        }
        let result = contract.result(g);
        let kernel = Kernel {
            kind: Kind::Contract(Matrix {
                batch: sides[0].1.len(),
                rows: free[0],
                columns: free[1],
            }),
            dims: known(g, result),
            operands,
            body: vec![Node::Product],
            outputs: vec![Output {
                node: 0,
                dtype: g.ty(result).dtype,
            }],
            origin: contract.id(),
        };
        self.push(kernel).remove(0)
    }

    fn lower_window(&mut self, g: &Graph, window: Window) -> Place {
        let operands = [window.input(g), window.filter(g)];
        let operands = operands.map(|value| Operand {
            place: self.dense(g, window.id(), value),
            is_row: false,
        });
        let result = window.result(g);
        let kernel = Kernel {
            kind: Kind::Window(window.id()),
            dims: known(g, result),
            operands: operands.to_vec(),
            body: vec![Node::Product],
            outputs: vec![Output {
                node: 0,
                dtype: g.ty(result).dtype,
            }],
            origin: window.id(),
        };
        self.push(kernel).remove(0)
    }
}
