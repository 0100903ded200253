#!/usr/bin/env python3
"""Compiles every public header alone, as a user may include it first."""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def check(header: str, webgpu: str) -> str:
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Iinclude", "-isystem",
               webgpu, "-x", "c++", "-"]
    # Twice: the second must change nothing.
    source = f'#include "{header}"\n#include "{header}"\nint main() {{}}\n'
    result = subprocess.run(command, input=source, text=True, capture_output=True, cwd=ROOT, check=False)
    return "" if result.returncode == 0 else f"{header} does not compile alone:\n{result.stderr}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--webgpu", required=True, help="folder that holds webgpu/webgpu.h")
    webgpu = parser.parse_args().webgpu
    headers = sorted(file.relative_to(ROOT / "include").as_posix() for file in (ROOT / "include").rglob("*.hpp"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [text for text in pool.map(lambda header: check(header, webgpu), headers) if text]
    print("\n".join(wrong) or f"headers: {len(headers)} compile alone")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
