"""Writes THIRD_PARTY_NOTICES.txt: the crates that the wheel contains, with their licenses.

    python notices.py            # writes the file
    python notices.py --check    # exits with 1 if the file is not what would be written

The crates are those that `cargo metadata` resolves for the package on any platform, without those that only build or test it.
Texts are the license files that the crates ship, each once; the output depends on Cargo.lock alone.
"""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
NOTICES = HERE / "THIRD_PARTY_NOTICES.txt"
NAMES = ("license", "licence", "copying", "notice", "copyright", "unlicense")


def crates():
    """The packages of the registry that the extension is linked with, by name and version."""
    command = ["cargo", "metadata", "--format-version=1", "--locked", f"--manifest-path={HERE / 'Cargo.toml'}"]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    reached, waiting = set(), [metadata["resolve"]["root"]]
    while waiting:
        own = waiting.pop()
        if own in reached:
            continue
        reached.add(own)
        for dependency in nodes[own]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    found = [packages[own] for own in reached if packages[own]["source"] is not None]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def texts(package):
    """The license files of a package."""
    folder = Path(package["manifest_path"]).parent
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name.lower().startswith(NAMES):
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            yield "\n".join(line.rstrip() for line in lines).strip("\n")


def notices():
    """The content of the file."""
    packages, numbers = crates(), {}
    lines = [
        "mind-opt is licensed under Apache-2.0 OR MIT. The extension of the wheel contains the crates below.",
        "Numbers refer to the texts after the list.",
        "",
    ]
    for package in packages:
        own = set()
        for text in texts(package):
            # Many are one text with other line breaks.
            words = " ".join(text.split())
            number, _ = numbers.setdefault(words, (len(numbers) + 1, text))
            own.add(number)
        license = package["license"] or "see the text"
        refers = f" [{', '.join(map(str, sorted(own)))}]" if own else ""
        authors = f" by {', '.join(package['authors'])}" if package["authors"] and not own else ""
        lines.append(f"{package['name']} {package['version']}: {license}{authors}{refers}")
    for number, text in numbers.values():
        lines += ["", "-" * 80, f"[{number}]", "", text]
    return "\n".join(lines) + "\n"


def main():
    text = notices()
    if sys.argv[1:] == ["--check"]:
        is_same = NOTICES.exists() and NOTICES.read_text(encoding="utf-8") == text
        print("up to date" if is_same else "out of date: run python notices.py")
        return 0 if is_same else 1
    NOTICES.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
