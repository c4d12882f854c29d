"""Selection manifests: what was selected and how, as a JSON file that other programs can apply.

::

    fitted selector -> make_manifest -> write_manifest(path)
                                             |
    apply(read_manifest(path), table) -> the selected columns of another table

A manifest holds names, numbers and words, and no code: reading one runs nothing.
"""

from tamis.manifest._application import apply
from tamis.manifest._files import read_manifest, write_manifest
from tamis.manifest._fingerprint import fingerprint
from tamis.manifest._record import Manifest, make_manifest

__all__ = ["Manifest", "apply", "fingerprint", "make_manifest", "read_manifest", "write_manifest"]
