#!/usr/bin/env python3
"""Says which settled names were changed or taken out since the table of them was first committed.

    scripts/check_settled.py

Lines of schemas/settled may come, and a column may gain families and the columns of one; nothing else, but for the names of events
that were withdrawn once, with format 4 of the output: see `is_withdrawn`. `cargo test` holds the
table to the schemas beside it, which cannot see a line that was changed together with what it follows from; the history can.
Without a history (an unpacked archive, a shallow clone) there is nothing to hold it against, and it says so.
"""

import subprocess
import sys
from pathlib import Path

FOLDER = "schemas/settled"


def main():
    root = Path(__file__).resolve().parent.parent
    if git(root, "rev-parse", "--is-shallow-repository").strip() != "false":
        print("settled names: no history to hold them against")
        return 0
    commits = git(root, "log", "--format=%H", "--reverse", "--", FOLDER).split()
    states = [(commit[:9], facts(texts(root, commit))) for commit in commits]
    states.append(("as it is", facts(path.read_text("utf-8") for path in sorted((root / FOLDER).glob("*.txt")))))
    lost = [f"{name}: {fact}" for (_, old), (name, new) in zip(states, states[1:]) for fact in missing(old, new)]
    withdrawn = sum(len(set(filter(is_withdrawn, old - new))) for (_, old), (_, new) in zip(states, states[1:]))
    lost += [f"only counts: {' '.join(map(str, fact))}" for fact in sorted(filter(is_withdrawn, states[-1][1]))]
    for line in lost:
        print(line)
    print(
        f"settled names: {len(states[-1][1])} facts, {len(commits)} commits, {withdrawn} withdrawn once, "
        f"{len(lost)} changed or taken out"
    )
    return 1 if lost else 0


def is_withdrawn(fact):
    """Whether a fact is a name that no provider gave its event, and that was withdrawn with format 4.

    A tool that writes manifests of a running system anew has no symbols. It made them of the task's name, `task_0` for an event
    without a task, of the opcode's name, the id and the version. No such name comes back: one in the table is an error.
    """
    return fact[1] == "E" and fact[-1].startswith("task_0")


def git(root, *arguments):
    done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=False)
    return done.stdout


def texts(root, commit):
    names = git(root, "ls-tree", "--name-only", f"{commit}:{FOLDER}").split()
    return [git(root, "show", f"{commit}:{FOLDER}/{name}") for name in names if name.endswith(".txt")]


def facts(texts):
    """What the lines say, piece by piece: no piece may go, or say something else."""
    found = set()
    for text in texts:
        provider = None
        for line in text.splitlines():
            cells = line.split("\t")
            if cells[0] == "P":
                provider = cells[1]
            if cells[0] == "N":
                # The first family has the plain name; others, and their columns, may come.
                found.add((provider, "N", cells[1], cells[2].split("/")[0]))
                for form in cells[2:]:
                    family, *roles = form.split("/")
                    found.update((provider, "N", cells[1], family, role) for role in roles or ["value"])
            elif cells[0] in ("E", "V"):
                first, _, last = cells[2].partition("-")
                found.update((provider, cells[0], cells[1], version, cells[3]) for version in range(int(first), int(last or first) + 1))
            elif not line.startswith("#"):
                found.add((provider, *cells))
    return found


def missing(old, new):
    return sorted(" ".join(map(str, fact)) for fact in old - new if not is_withdrawn(fact))


if __name__ == "__main__":
    sys.exit(main())
