"""What users write, for `mypy --strict`: each function and class of the package, and each kind of argument."""

import array
import os
from collections.abc import Callable

import mind_opt as mo
import mind_opt.dask
import mind_opt.ray
import mind_opt.torch


def modules(path: os.PathLike[str], numbers: "array.array[float]", view: memoryview) -> mo.Module:
    module: mo.Module = mo.load(path, dims={"B": 1}, bind={"w": numbers}, format="onnx")
    module = mo.load(b"bytes", keep_dequantized=True)
    module = mo.parse("text", dims={"B": 1}, format="core", name="file")
    ports: list[mo.Port] = [*module.inputs, *module.params, *module.outputs]
    shapes: list[tuple[int | str | None, ...]] = [port.shape for port in ports]
    names: list[str] = [port.name + port.type + port.dtype for port in ports]
    module.interpret({"x": view, "y": numbers})
    module.save("file.onnx")
    text: str = module.to_text() + module.to_text("mic2") + module.explain("out:0") + module.diff(module)
    size: int = len(module.to_bytes()) + len(module.to_bytes("object"))
    same: bool = module.equal_bits(module, 3) and module.bit_difference(module) is None
    findings: list[mo.Diagnostic] = module.missing("mil")
    places: list[int] = [one.place.line or 0 for one in findings if one.place]
    module = module.patch('[{"delete": 1}]').patch([{"delete": 1}])
    module.report("canonicalize").save("report.html")
    print(shapes, names, text, size, same, places, module.passes, module.output_ids, module.constant(1))
    return module


def passes(module: mo.Module) -> mo.Module:
    @mo.Pass
    def gone(rewriter: mo.Rewriter) -> None:
        for op in rewriter.ops:
            inner: mo.Op | None = rewriter.defining(op.operands[0])
            new: int = rewriter.insert("Relu", [op, 3], before=op, type="f32[2]", axes=[1])
            rewriter.replace(op, "Relu", op.operands)
            rewriter.erase(op, instead=new)
            rewriter.set(op, axis=1)
            rewriter.set_outputs([new, op])
            print(inner, rewriter.users(op), op.attributes, [body.ops for body in op.bodies])

    def named(rewriter: mo.Rewriter) -> None: ...

    step: Callable[[mo.Rewriter], None] = named
    rules: mo.Rules = mo.rules("rule", name="file")
    verdicts: list[mo.RuleVerdict] = mo.check_rules("rule")
    print([verdict.reason or verdict.holds for verdict in verdicts])
    module = module.optimize(2, rules=rules, fast_math=["approx"], disable=["rule"], missed=True)
    module = module.run_passes([gone, step, "canonicalize"], rules=[rules], fast_math=True)
    remarks: list[mo.Remark] = module.remarks()
    print([remark.text for remark in remarks])
    return gone(module)


def runs(module: mo.Module, x: memoryview) -> None:
    f: mo.Executable = module.compile(2, "avx2", cache="folder", tune=100)
    f(x)
    f(x=x)
    f({"x": x})
    outputs = f.run(x)
    print(outputs["y"], f.cache_stats, f.tuned)
    g: mo.BoundExecutable = f.bind({"w": x})
    g = f.bind(w=x)
    profile: mo.Profile = g.profile(x)
    steps: list[mo.StepTime] = profile.steps
    profile.save("trace.json")
    print(g(x), g.run(x=x), steps[0].us)


def builds() -> mo.Module:
    b = mo.Builder()
    x: int = b.input("x", "f32[B, 784]")
    w: int = b.param("w", "f32[784, 10]")
    b.output(b.op("Softmax", b.op("MatMul", x, w), axis=1))
    return b.build()


def models(path: str) -> None:
    model = mo.Model(path, threads=1, isa="portable")
    model.generate("a", 3, temperature=0.5, top_k=4, seed=1, stop=[" b", 3], ignore_eos=True)
    model.generate([1, 2])
    tokens: list[int] = model.encode("a")
    text: str = model.decode(tokens) + model.transcribe(b"", language="en", count=4)
    print(text, model.embed([text]), model.kind)


def clusters(module: mo.Module, rows: memoryview) -> None:
    mind_opt.dask.map_rows(None, module, {"x": rows}, 64, progress=lambda done, of: print(done, of))
    mind_opt.ray.map_rows(None, module, {"x": "column"}, concurrency=2, num_cpus=1)
    mind_opt.ray.Rows(module, {"x": "column"}, keep=["id"])({"column": rows})
    mind_opt.torch.backend(None, [])


def errors() -> None:
    try:
        mo.from_jax(lambda x: x, "f32[2]", dims={"B": 1})
    except mo.FileNotFound as error:
        print(error.code, error.help, error.diagnostics, error.place and error.place.line, mo.__version__)
    except (mo.RejectedError, mo.ArrayError, mo.OpError, mo.PatchError, ValueError) as error:
        print(error)
