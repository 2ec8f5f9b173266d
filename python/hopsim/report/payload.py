"""Numbers as text for a page: typed arrays, compressed, in base 64."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping

import numpy as np

TYPES = {
    "i1": "Int8Array",
    "u1": "Uint8Array",
    "u2": "Uint16Array",
    "u4": "Uint32Array",
    "f4": "Float32Array",
    "f8": "Float64Array",
}
"""numpy's name of a type -> the array of the browser that holds it."""
ALIGNED = 8
"""Every array begins at a multiple of so many bytes, as the browser wants it."""


def compressed(content: bytes) -> str:
    """Bytes as the base 64 of their gzip; the same text for the same bytes."""
    return base64.b64encode(gzip.compress(content, 6, mtime=0)).decode()


def pack(arrays: Mapping[str, np.ndarray]) -> dict[str, object]:
    """Arrays in one compressed text, and for each its type, where it begins [bytes] and its length."""
    parts: list[bytes] = []
    fields: dict[str, list[object]] = {}
    offset = 0
    for name, array in arrays.items():
        content = array.astype(array.dtype.newbyteorder("<")).tobytes()
        content += bytes(-len(content) % ALIGNED)
        fields[name] = [TYPES[array.dtype.str[1:]], offset, array.size]
        parts.append(content)
        offset += len(content)
    return {"fields": fields, "data": compressed(b"".join(parts))}
