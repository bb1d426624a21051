"""Files of tables on this machine: they are files of the lake under a second name, so that they stay when the lake drops them."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Collection

from . import _lake

#: How names of files that are not whole yet end.
PARTIAL = ".partial"


def table_name(key: str) -> str:
    """The name of a table, for folders and catalogues: that of the dataset, but for characters that an address gives a meaning.

    >>> table_name("events/Kernel-DiskIo"), table_name("events/My Shop#2")
    ('Kernel-DiskIo', 'My_Shop_2_eba7db72')
    """
    name = key.partition("/")[2]
    safe = re.sub(r"[^A-Za-z0-9._~-]", "_", name)
    return name if safe == name else f"{safe}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def place(source: str, folder: str, name: str) -> None:
    """Puts a file into a folder: a hard link where the system allows it, else a copy. It is there whole or not at all."""
    target = os.path.join(folder, name)
    if os.path.exists(target):
        return
    os.makedirs(folder, exist_ok=True)
    try:
        os.link(source, target)
        return
    except FileExistsError:
        return
    except FileNotFoundError as error:
        raise _lake.changed(source) from error
    except OSError:
        # Another file system, one without links, or too many of them.
        pass
    handle, partial = tempfile.mkstemp(dir=folder, suffix=PARTIAL)
    os.close(handle)
    try:
        shutil.copyfile(source, partial)
        os.replace(partial, target)
    except FileNotFoundError as error:
        raise _lake.changed(source) from error
    finally:
        if os.path.exists(partial):
            os.unlink(partial)


def sweep(folder: str, kept: Collection[str], before: float) -> None:
    """Removes files that no kept state of a table names, and that have been so since a time; what a killed run has left, too."""
    if not os.path.isdir(folder):
        return
    for entry in os.scandir(folder):
        status = entry.stat(follow_symlinks=False)
        if entry.name not in kept and entry.is_file(follow_symlinks=False) and max(status.st_mtime, status.st_ctime) < before:
            os.unlink(entry.path)
