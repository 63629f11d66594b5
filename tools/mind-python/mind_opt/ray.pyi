"""Batched evaluation of a module on Ray Data."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from . import Arr, Module

class Rows:
    """The function of an actor, which adds a column for each output of `module` to a batch."""

    def __init__(
        self,
        module: Module,
        columns: Mapping[str, str] | None = None,
        *,
        keep: Iterable[str] = (),
        isa: Literal["avx512", "avx2", "portable"] | None = None,
    ) -> None: ...
    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Arr]: ...

def map_rows(
    dataset: Any,
    module: Module,
    columns: Mapping[str, str] | None = None,
    size: int = 64,
    *,
    keep: Iterable[str] = (),
    isa: Literal["avx512", "avx2", "portable"] | None = None,
    concurrency: int = 1,
    **options: Any,
) -> Any: ...
