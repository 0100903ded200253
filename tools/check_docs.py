#!/usr/bin/env python3
"""Checks the documents: code that names its file equals it, links between files lead somewhere.

In a document, a line "<!-- file: examples/NAME.cpp -->" before a code block says that the block is that file (without the
file's leading comment). Examples are compiled and run by the tests, so the documents' code is too. --fix writes the blocks.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- file: (\S+) -->\n```\w*\n)(.*?)(```)", re.S)
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def code_of(name: str) -> str:
    lines = (ROOT / name).read_text().splitlines(keepends=True)
    while lines and lines[0].startswith("//"):
        lines.pop(0)
    return "".join(lines)


def main() -> int:
    wrong = []
    blocks = 0
    for document in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]):
        text = document.read_text()
        name = document.relative_to(ROOT)

        def block(match: re.Match, name=name) -> str:
            nonlocal blocks
            blocks += 1
            want = code_of(match[2])
            if match[3] != want and "--fix" not in sys.argv:
                wrong.append(f"{name}: the block differs from {match[2]}; tools/check_docs.py --fix writes it")
            return match[1] + want + match[4]

        fixed = BLOCK.sub(block, text)
        if "--fix" in sys.argv and fixed != text:
            document.write_text(fixed)
        for link in LINK.findall(text):
            if not (document.parent / link).exists():
                wrong.append(f"{name}: the link to {link} leads nowhere")
    print("\n".join(wrong) or f"docs: {blocks} code blocks equal their files")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
