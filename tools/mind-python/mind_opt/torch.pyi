"""`torch.compile(model, backend="mind")`."""

from collections.abc import Callable, Sequence
from typing import Any

def backend(graph: Any, inputs: Sequence[Any]) -> Callable[..., Any]: ...
