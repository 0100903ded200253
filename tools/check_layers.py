#!/usr/bin/env python3
"""Checks what a file may include: a folder of src/ includes lower ones and itself, never higher.

The order, and the few exceptions with their reasons, stand at the top; docs/design.md tells why.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = {"base": 0, "ir": 1, "runtime": 2, "kernels": 3, "graph": 4, "tensor": 5, "io": 6, "registry": 6}
# Each backend is seen by itself and by the table of backends only.
BACKENDS = re.compile(r"^runtime/(webgpu|cpu|null)/")
BACKEND_TABLES = ("runtime/backends.cpp",)
WEBGPU_HEADERS = re.compile(r"^(webgpu/)?(webgpu|wgpu|webgpu_cpp)\.h$")
# The public headers are read by every user's compiler: these are slow to compile.
SLOW_HEADERS = {"iostream", "regex", "chrono", "ranges", "future"}
PUBLIC_FOREIGN = {"hearth/webgpu.hpp": {"webgpu/webgpu.h"}}
EMSCRIPTEN_FILES_MAX = 3

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def layer_of(path: str) -> int | None:
    return LAYERS.get(path.split("/", 1)[0])


def check_source(path: str, text: str) -> list[str]:
    own = layer_of(path)
    if own is None:
        return [f"src/{path}: the folder has no place in the order of layers"]
    wrong = []
    includes = INCLUDE.findall(text)
    for _, target in includes:
        other = layer_of(target)
        if other is not None and "/" in target and other > own:
            wrong.append(f"src/{path}: includes {target}, which is a higher layer")
        backend = BACKENDS.match(target)
        if backend and not path.startswith(backend.group(0)) and path not in BACKEND_TABLES:
            wrong.append(f"src/{path}: includes {target}; a backend is included by {BACKEND_TABLES[0]} only")
        if (WEBGPU_HEADERS.match(target) or target == "hearth/webgpu.hpp") and not path.startswith("runtime/webgpu/"):
            # The interop stands on tensors; it asks the runtime through its own header.
            if not (target == "hearth/webgpu.hpp" and path.startswith("tensor/")):
                wrong.append(f"src/{path}: includes {target}; WebGPU is seen in runtime/webgpu only")
    # A file's own header comes first, so that it proves to be complete.
    own_header = path.removesuffix(".cpp") + ".hpp"
    names = (own_header, own_header.rsplit("/", 1)[-1])
    if path.endswith(".cpp") and (ROOT / "src" / own_header).exists() and includes and includes[0][1] not in names:
        wrong.append(f"src/{path}: the first include is not its own header {own_header}")
    return wrong


def check_public(path: str, text: str) -> list[str]:
    wrong = []
    if "#pragma once" not in text:
        wrong.append(f"include/{path}: no #pragma once")
    for bracket, target in INCLUDE.findall(text):
        if target.startswith("hearth/"):
            continue
        if bracket == '"':
            wrong.append(f"include/{path}: includes {target}; a public header sees std and hearth/ only")
        elif target in SLOW_HEADERS:
            wrong.append(f"include/{path}: includes <{target}>, which costs every user compile time")
        elif ("/" in target or target.endswith(".h")) and target not in PUBLIC_FOREIGN.get(path, set()):
            wrong.append(f"include/{path}: includes <{target}>; a public header sees std and hearth/ only")
    return wrong


def main() -> int:
    wrong = []
    emscripten = []
    for folder, check in (("src", check_source), ("include", check_public)):
        for file in sorted((ROOT / folder).rglob("*.[ch]pp")):
            text = file.read_text()
            if "__EMSCRIPTEN__" in text:
                emscripten.append(str(file.relative_to(ROOT)))
            wrong += check(file.relative_to(ROOT / folder).as_posix(), text)
    if len(emscripten) > EMSCRIPTEN_FILES_MAX:
        wrong.append(f"__EMSCRIPTEN__ stands in {len(emscripten)} files, at most {EMSCRIPTEN_FILES_MAX}: {', '.join(emscripten)}")
    print("\n".join(wrong) or "layers: in order")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
