"""Numbers of blocks, by the package gguf: see gguf_judge.rs.

For each line `TYPE BYTES` of FOLDER/types, FOLDER/TYPE.blocks holds blocks of so many bytes. Their numbers are written to
FOLDER/TYPE.numbers, and the blocks as tensors of a model in several files, FOLDER/model-0000N-of-0000M.gguf.
"""

import sys
from pathlib import Path

import numpy
from gguf import GGMLQuantizationType, GGUFWriter
from gguf.quants import dequantize

# Blocks of a row.
ROW = 4

folder = Path(sys.argv[1])
writer = GGUFWriter(folder / "model.gguf", "llama", split_max_tensors=3)
for line in (folder / "types").read_text().splitlines():
    name, size = line.split()
    kind = GGMLQuantizationType[name.upper()]
    blocks = numpy.fromfile(folder / f"{name}.blocks", dtype=numpy.uint8)
    rows = blocks.reshape(-1, ROW * int(size))
    with numpy.errstate(all="ignore"):
        numbers = dequantize(rows, kind)
    numbers.astype("<f4").tofile(folder / f"{name}.numbers")
    writer.add_tensor(name, rows, raw_dtype=kind)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
