"""Lists the keys of the configuration classes of `transformers`, from their sources alone.

`transformers_keys.py FAMILY...` prints a line for each family: its name, and the fields, the other names of these and the
keywords that its configuration class reads.
"""

import ast
import importlib.util
import pathlib
import re
import sys

# Families whose folder has another name.
FOLDERS = {"gemma3_text": "gemma3", "xlm-roberta": "xlm_roberta"}


def keys(family, root):
    folder = FOLDERS.get(family, family)
    text = (root / folder / f"configuration_{folder}.py").read_text()
    for own in ast.parse(text).body:
        if not isinstance(own, ast.ClassDef):
            continue
        found, name = set(), None
        for node in own.body:
            if isinstance(node, ast.AnnAssign):
                found.add(node.target.id)
            elif isinstance(node, ast.Assign) and node.targets[0].id == "model_type":
                name = node.value.value
            elif isinstance(node, ast.Assign) and node.targets[0].id == "attribute_map":
                found |= set(ast.literal_eval(node.value))
            elif isinstance(node, ast.FunctionDef):
                found |= set(re.findall(r'kwargs\.(?:pop|get)\("(\w+)"', ast.get_source_segment(text, node)))
        if name == family:
            return sorted(found)
    raise SystemExit(f"{family} has no configuration class")


def main(families):
    root = pathlib.Path(importlib.util.find_spec("transformers").origin).parent / "models"
    for family in families:
        print(f"{family}: {' '.join(keys(family, root))}")


if __name__ == "__main__":
    main(sys.argv[1:])
