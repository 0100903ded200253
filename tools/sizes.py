#!/usr/bin/env python3
"""Prints the lines of the hand-written files by folder, and fails with --check when one is longer than a reader likes."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUFFIXES = {".cpp", ".hpp", ".py", ".sh", ".cmake", ".mjs", ".ts"}
LINES_MAX = 600


def sources() -> list[pathlib.Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0:
        files = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    else:
        files = [file for file in ROOT.rglob("*") if "build" not in file.relative_to(ROOT).parts[0]]
    return [file for file in files if file.is_file() and (file.suffix in SUFFIXES or file.name in ("hearth", "CMakeLists.txt"))]


def main() -> int:
    folders: dict[str, list[tuple[int, str]]] = {}
    for file in sources():
        name = file.relative_to(ROOT)
        lines = len(file.read_text().splitlines())
        folders.setdefault("/".join(name.parts[:-1][:2]) or ".", []).append((lines, str(name)))
    for folder, rows in sorted(folders.items()):
        longest = max(rows)
        print(f"{sum(lines for lines, _ in rows):7} lines {len(rows):4} files  {folder:24} longest {longest[0]} {longest[1]}")
    wrong = [(lines, name) for rows in folders.values() for lines, name in rows if lines > LINES_MAX]
    for lines, name in wrong:
        print(f"{name}: {lines} lines, at most {LINES_MAX}")
    return bool(wrong) and "--check" in sys.argv


if __name__ == "__main__":
    sys.exit(main())
