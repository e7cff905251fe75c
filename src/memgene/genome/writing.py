"""Files of a bundle to a folder or an archive, by the path's ending."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from memgene.genome.stored import ARCHIVES, write_folder, zipped


def write_files(path: Path, files: Mapping[str, bytes]) -> Path:
    """Write the files; a bundle that is there is replaced. Raises InputError for a folder that
    holds anything else."""
    if path.suffix in ARCHIVES:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.tmp")  # a crash leaves the former bundle whole
        fresh.write_bytes(zipped(files))
        os.replace(fresh, path)
    else:
        write_folder(path, files)
    return path
