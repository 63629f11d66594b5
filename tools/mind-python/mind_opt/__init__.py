"""A compiler for tensor programs: reads, optimises, runs and translates modules.

>>> import mind_opt as mo
>>> module = mo.parse("mic@2\\nT0 f32 4\\na x T0\\nr 0\\nr 1\\nO 2")
>>> optimized = module.optimize()
>>> print(optimized.to_text("mic2"))
mic@2
T0 f32 4
a x T0
r 0
O 1
>>> f = optimized.compile(threads=1)
>>> import array
>>> f(array.array("f", [-1.0, 0.0, 1.0, 2.0])).tolist()
[0.0, 0.0, 1.0, 2.0]
"""

from ._builder import Builder
from ._errors import (
    ArrayError,
    CompileError,
    Diagnostic,
    FileError,
    FileNotFound,
    MindError,
    ModelError,
    OpError,
    PatchError,
    Place,
    RejectedError,
    RunError,
    VersionError,
)
from ._jax import from_jax
from ._native import (
    VERSION as __version__,
    Array,
    Body,
    BoundExecutable,
    Executable,
    Model,
    Module,
    Op,
    Port,
    Remark,
    Rules,
    RuleVerdict,
    check_rules,
    load,
    parse,
    rules,
)
from ._passes import Pass, Rewriter
from ._profile import Profile, StepTime
from ._report import Report

__all__ = [
    "Array",
    "ArrayError",
    "Body",
    "BoundExecutable",
    "Builder",
    "CompileError",
    "Diagnostic",
    "Executable",
    "FileError",
    "FileNotFound",
    "MindError",
    "Model",
    "ModelError",
    "Module",
    "Op",
    "OpError",
    "Pass",
    "PatchError",
    "Place",
    "Port",
    "Profile",
    "RejectedError",
    "Remark",
    "Report",
    "Rewriter",
    "RuleVerdict",
    "Rules",
    "RunError",
    "StepTime",
    "VersionError",
    "__version__",
    "check_rules",
    "from_jax",
    "load",
    "parse",
    "rules",
]
