"""Batched evaluation of a module on the workers of Dask."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, SupportsIndex

from . import Arr, Module

def map_rows(
    client: Any,
    module: Module,
    arrays: Mapping[str, Any],
    size: SupportsIndex = 64,
    *,
    retries: int = 3,
    isa: Literal["avx512", "avx2", "portable"] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Arr]: ...
