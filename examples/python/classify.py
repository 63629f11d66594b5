"""An ONNX model: optimised, compared with itself, run, and turned into a Core ML package."""

import tempfile
from pathlib import Path

import numpy as np

import mind_opt as mo

module = mo.load(Path(__file__).parent.parent / "classifier.onnx")
print(module)

# Optimising changes no bit. The remarks say what was done.
fast = module.optimize(level=3)
assert module.equal_bits(fast)
print(f"{len(module.ops)} ops became {len(fast.ops)}")
for remark in fast.remarks()[:3]:
    print(remark)

# The batch size is open: each one is compiled for when it first comes.
classify = fast.compile()
for batch in (1, 4):
    images = np.random.default_rng(batch).standard_normal((batch, 1, 8, 8)).astype("float32")
    print(f"batch of {batch}: classes {classify(images).argmax(axis=1)}")

# A program of Core ML has a fixed batch size here.
one = mo.load(Path(__file__).parent.parent / "classifier.onnx", dims={"batch": 1})
assert one.missing("mlpackage") == []
with tempfile.TemporaryDirectory() as folder:
    package = Path(folder) / "classifier.mlpackage"
    one.save(package)
    print(sorted(path.name for path in package.iterdir()))
