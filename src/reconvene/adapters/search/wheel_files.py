"""Files of a model that an installed package holds: where they lie, and what is in them. Nothing of it is imported."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from reconvene.search_ports import Unembedded

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from reconvene.adapters.search.vectors import Matrix

_NEEDED = ("numpy", "safetensors", "tokenizers")


def folder_of(package: str, names: Sequence[str], inside: str = "") -> str:
    """Of these files, in the package or in a folder of it; "" where one is not there, or what is needed to use them."""
    spec = find_spec(package)
    found = next(iter(spec.submodule_search_locations or ()), "") if spec else ""
    found = os.path.join(found, inside) if found and inside else found
    there = found and all(os.path.isfile(os.path.join(found, name)) for name in names)
    return found if there and all(map(find_spec, _NEEDED)) else ""


def tokenizer(file: str, model: str) -> Tokenizer:
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(file)
    except Exception as error:  # the library raises nothing narrower
        raise Unembedded(f"the tokenizer of {model} cannot be read ({error})") from error


def weights(file: str, model: str) -> dict[str, Matrix]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return load_file(file)
    except (SafetensorError, OSError) as error:
        raise Unembedded(f"the weights of {model} cannot be read ({error})") from error
