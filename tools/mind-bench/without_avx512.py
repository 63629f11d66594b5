#!/usr/bin/env python3
"""Runs a command that sees neither AVX-512 nor AVX-VNNI nor AMX, to measure as on a machine with AVX2.

    python3 tools/mind-bench/without_avx512.py COMMAND ...

It needs Linux, a C compiler and a processor that lets `cpuid` fault, as those of Intel do (`cpuid_fault` among the flags
of /proc/cpuinfo). What the command starts sees as much; functions of the C library itself are chosen before.
"""

import os
import subprocess
import sys
import tempfile

SOURCE = os.path.splitext(os.path.abspath(__file__))[0] + ".c"


def main(*command):
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "without_avx512.so")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, SOURCE], check=True)
        return subprocess.run(command, env=os.environ | {"LD_PRELOAD": library}, check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
