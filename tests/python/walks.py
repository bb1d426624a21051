"""The patches of CONTRIBUTING.md that show how something is added."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def patches():
    """The patches by what they add, in the order of the page."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("## Three walks")[1]
    found = {}
    for before, patch in re.findall(r"(.*?)```diff\n(.*?)```", page, re.DOTALL):
        found[re.findall(r"\*\*(A [^*]+)\*\*", before)[-1]] = patch
    return found


def files(patch):
    """The files that a patch touches."""
    return re.findall(r"^\+\+\+ b/(.*)$", patch, re.MULTILINE)


def apply(patch, tree, *options):
    """Applies a patch to a tree."""
    command = ["git", "apply", "--unidiff-zero", *options, "-"]
    subprocess.run(command, input=patch.encode(), cwd=tree, check=True)
