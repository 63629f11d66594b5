//! Parts of a model: a compiled module, and a module bound to weights.

use std::sync::Arc;

use mind_diag::Diagnostics;
use mind_driver::cache::CachedPanels;
use mind_driver::engine::{Engine, quantize_activations};
use mind_interp::{Arrays, Extents, RunConfig};
use mind_ir::Graph;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::DType;
use mind_irv2::graph::weight_dtype;
use mind_jit::program::{BoundProgram, Program};

use crate::error::ModelError;
use crate::model::Products;
use crate::weights::Stored;

/// A module with static shapes, compiled or interpreted.
pub(crate) struct Module {
    code: Code,
    /// Names and shapes of the weights, in binding order.
    params: Vec<(String, Vec<usize>)>,
}

enum Code {
    Compiled(Arc<Program>),
    Interpreted(Arc<Graph>),
}

impl Module {
    /// # Errors
    ///
    /// The module cannot be compiled.
    pub(crate) fn new(
        mut graph: Graph,
        engine: Option<&Engine>,
        products: Products,
    ) -> Result<Module, Diagnostics> {
        let inputs = mind_interp::inputs(&graph).into_iter();
        let params = inputs.filter(|input| input.param);
        let params = params.map(|input| {
            let dims = input.ty.shape.iter();
            let shape = dims.map(|dim| dim.fixed().unwrap_or(0) as usize).collect();
            (input.name.to_owned(), shape)
        });
        let params = params.collect();
        if products == Products::Integers {
            quantize_activations(&mut graph)
                .map_err(|(op, why)| Diagnostics::from(why.at(graph.span(op))))?;
        }
        let code = match engine {
            None => Code::Interpreted(Arc::new(graph)),
            Some(engine) => Code::Compiled(engine.compile(graph)?.0),
        };
        Ok(Module { code, params })
    }

    /// Returns the names and shapes of the weights, in binding order.
    pub(crate) fn params(&self) -> Vec<(&str, Vec<usize>)> {
        let params = self.params.iter();
        params
            .map(|(name, shape)| (name.as_str(), shape.clone()))
            .collect()
    }

    /// Returns the bytes that its program keeps between runs; 0 if it is interpreted.
    pub(crate) fn kept_bytes(&self) -> u64 {
        match &self.code {
            Code::Compiled(program) => program.idle_bytes(),
            Code::Interpreted(_) => 0,
        }
    }
}

/// A part bound to its weights.
pub(crate) enum Part {
    Code(BoundProgram),
    Interpreted(Arc<Graph>, Arrays),
}

impl Part {
    /// Binds weights, in the order of [`Module::params`]. The panels of a part in `packed`, which is bound to the same
    /// weights, are shared if both programs pack them alike; else they are taken from `kept` if it has them under the
    /// given name.
    ///
    /// # Errors
    ///
    /// Out of memory; a weight has another size.
    pub(crate) fn new<'w, 'p>(
        module: &Module,
        packed: impl IntoIterator<Item = &'p Part>,
        kept: Option<(&CachedPanels, &str)>,
        weights: impl FnOnce() -> Result<Vec<Stored<'w>>, ModelError>,
    ) -> Result<Part, ModelError> {
        let program = match &module.code {
            Code::Compiled(program) => program,
            Code::Interpreted(graph) => {
                let inputs = mind_interp::inputs(graph).into_iter();
                let params = inputs.filter(|input| input.param);
                let arrays = params.zip(weights()?).map(|(input, stored)| {
                    let is_bytes = input.ty.dtype == DType::U8;
                    let (dtype, bytes) = if is_bytes {
                        (DType::U8, stored.bytes)
                    } else {
                        (weight_dtype(stored.weight_type), stored.plain()?)
                    };
                    let dims = input.ty.shape.iter();
                    let shape = dims.map(|dim| dim.fixed().unwrap_or(0) as usize).collect();
                    let tensor = Tensor::new(shape, Buffer::from_bytes(dtype, &bytes));
                    Ok((input.name.to_owned(), tensor))
                });
                let arrays = arrays.collect::<Result<Arrays, ModelError>>()?;
                return Ok(Part::Interpreted(graph.clone(), arrays));
            }
        };
        for part in packed {
            if let Part::Code(packed) = part
                && let Some(bound) = BoundProgram::sharing(program.clone(), packed)
            {
                return Ok(Part::Code(bound));
            }
        }
        if let Some((kept, name)) = kept
            && let Some(bound) = kept.restored(name, program)
        {
            return Ok(Part::Code(bound));
        }
        let ports = program.params().iter().zip(weights()?);
        let weights = ports.map(|(port, stored)| match (port.format, port.dtype) {
            // The bytes of quantised blocks are bound as they are.
            (Some(_), _) | (None, DType::U8) => Ok(stored.bytes),
            (None, _) => Ok(stored.plain()?),
        });
        let weights = weights.collect::<Result<Vec<_>, ModelError>>()?;
        let bytes: Vec<&[u8]> = weights.iter().map(|bytes| &**bytes).collect();
        Ok(Part::Code(BoundProgram::new(program.clone(), &bytes)?))
    }

    /// Returns the program with its weights; `None` if it is interpreted.
    pub(crate) fn bound(&self) -> Option<&BoundProgram> {
        match self {
            Part::Code(bound) => Some(bound),
            Part::Interpreted(..) => None,
        }
    }

    /// Returns the bytes that its program keeps between runs; 0 if it is interpreted.
    pub(crate) fn kept_bytes(&self) -> u64 {
        match self {
            Part::Code(bound) => bound.program().idle_bytes(),
            Part::Interpreted(..) => 0,
        }
    }

    /// Releases the memory that its program keeps between runs.
    pub(crate) fn release(&self) {
        if let Part::Code(bound) = self {
            bound.program().release_idle();
        }
    }

    /// Runs the part on `inputs` and writes `outputs`.
    ///
    /// # Errors
    ///
    /// Out of memory for intermediate values.
    pub(crate) fn run(
        &self,
        inputs: &[&[f32]],
        outputs: &mut [&mut [f32]],
    ) -> Result<(), ModelError> {
        let (graph, weights) = match self {
            Part::Code(bound) => {
                let inputs: Vec<&[u8]> = inputs.iter().map(|x| bytemuck::cast_slice(x)).collect();
                let outputs = outputs.iter_mut();
                let mut outputs: Vec<&mut [u8]> =
                    outputs.map(|y| bytemuck::cast_slice_mut(y)).collect();
                return Ok(bound.run(&inputs, &mut outputs)?);
            }
            Part::Interpreted(graph, weights) => (graph, weights),
        };
        let mut arrays = weights.clone();
        let specs = mind_interp::inputs(graph).into_iter();
        let specs = specs.filter(|input| !input.param);
        for (spec, elements) in specs.zip(inputs) {
            let dims = spec.ty.shape.iter();
            let shape = dims.map(|dim| dim.fixed().unwrap_or(0) as usize).collect();
            let tensor = Tensor::of(shape, elements.to_vec());
            arrays.insert(spec.name.to_owned(), tensor);
        }
        let stopped = |why: String| ModelError::Interpreted(why);
        let bound = mind_interp::bind(graph, &arrays, Extents::default());
        let bound = bound.map_err(|_| stopped("arrays do not fit a part".to_owned()))?;
        let results = mind_interp::run(graph, &bound, &RunConfig::default());
        let results = results.map_err(|why| stopped(why.error.to_string()))?;
        for (output, result) in outputs.iter_mut().zip(&results) {
            output.copy_from_slice(result.elements());
        }
        Ok(())
    }
}
