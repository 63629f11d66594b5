"""Conversion of edits with Python values to JSON."""


def dumps(edits):
    """Returns the JSON text of edits: arrays are nested lists, and NaN and infinities are strings, as in docs/patching.md."""
    # Imported here, so that importing the package stays fast.
    import json

    return json.dumps(_plain(edits), allow_nan=False)


def type_of(data):
    """Returns the type of an array as text; None if the object has no dtype."""
    if not hasattr(data, "dtype") or not hasattr(data, "shape"):
        return None
    name = str(data.dtype).rpartition(".")[2]
    for long, short in _SHORT.items():
        if name.startswith(long):
            name = short + name[len(long) :]
            break
    return f"{name}[{', '.join(str(int(extent)) for extent in data.shape)}]"


_SHORT = {"bfloat": "bf", "float": "f", "uint": "u", "int": "i"}


def _plain(value):
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return _number(float(value))
    if isinstance(value, dict):
        return {str(name): _plain(own) for name, own in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(own) for own in value]
    if hasattr(value, "tolist"):
        # Numpy arrays and scalars, and tensors of other libraries.
        return _plain(value.tolist())
    if hasattr(value, "__float__"):
        # Scalars of ml_dtypes.
        return _number(float(value))
    raise TypeError(f"an attribute is a {type(value).__name__}, expected numbers, texts, lists or arrays: {value!r}")


def _number(value):
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return value
