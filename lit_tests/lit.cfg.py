# LLVM's lit on the same files:  lit lit_tests --param bin=target/debug[:/usr/lib/llvm-19/bin]
# `bin` is searched before PATH for mind-opt and its siblings, FileCheck and not.
import os, subprocess, tempfile

import lit.formats

config.name = "mind-opt"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mic", ".mic2", ".core", ".mil", ".test"]
config.excludes = ["inputs", "self", "src", "tests"]
config.test_exec_root = os.path.join(tempfile.gettempdir(), "mind-opt-lit")

bins = [os.path.abspath(bin) for bin in lit_config.params.get("bin", "").split(os.pathsep) if bin]
config.environment["PATH"] = os.pathsep.join(bins + [os.environ["PATH"]])
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"
config.substitutions.append(("%T", config.test_exec_root))
once, twice = "mind-opt %s -o %t.once && FileCheck %s < %t.once", "mind-opt %t.once -o %t.twice && diff %t.once %t.twice"
config.substitutions.append(("%{round-trip}", f"{once} && {twice}"))

features = subprocess.run(["mind-opt", "--lit-features"], env=config.environment, capture_output=True, text=True, check=True)
config.available_features.update(features.stdout.split())
