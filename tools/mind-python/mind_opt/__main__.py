"""`python -m mind_opt TOOL ARGUMENTS` runs a tool."""

import sys

from ._tools import TOOLS, run

if len(sys.argv) < 2 or sys.argv[1] not in TOOLS:
    sys.exit(f"usage: python -m mind_opt TOOL [ARGUMENTS]; the tools are {', '.join(TOOLS)}")
sys.exit(run(sys.argv[1], sys.argv[2:]))
