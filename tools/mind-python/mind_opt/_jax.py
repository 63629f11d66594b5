"""Import of JAX functions."""

import re

from . import _native


def from_jax(fn, *args, dims=None):
    """Returns the module of a JAX function for arguments of these types. It needs the package `jax`.

    An argument is an array, a `jax.ShapeDtypeStruct`, a type as text, for example `"f32[batch, 4]"`, or a list or dict of
    these. Dimensions of the same name have the same extent, which `dims` may fix. Inputs have the names of JAX, and captured
    arrays become constants.
    """
    import jax
    from jax import export

    scope = export.SymbolicScope()

    def shape(own):
        if isinstance(own, jax.ShapeDtypeStruct):
            return own
        if not isinstance(own, str):
            return jax.ShapeDtypeStruct(jax.numpy.shape(own), jax.dtypes.result_type(own))
        found = re.fullmatch(r"\s*(bool|(?:bf|f|i|u)\d+)\s*\[([^\]]*)\]\s*", own)
        if not found:
            raise ValueError(f"`{own}` is not a type: expected one like `f32[batch, 4]`")
        dtype = re.sub(r"^[a-z]+(?=\d)", lambda kind: _KINDS[kind[0]], found[1])
        return jax.ShapeDtypeStruct(export.symbolic_shape(found[2], scope=scope), dtype)

    given = jax.tree.map(shape, args, is_leaf=lambda own: isinstance(own, jax.ShapeDtypeStruct))
    text = export.export(jax.jit(fn))(*given).mlir_module()
    return _native.load(text.encode(), dims=dims)


_KINDS = {"f": "float", "i": "int", "u": "uint", "bf": "bfloat"}
