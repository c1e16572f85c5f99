# SPDX-License-Identifier: Apache-2.0
"""image.py OUT.tar NAME ENTRY FILE [FILE=PATH...] [NAME=VALUE...]: an image of one file, of others at their paths, which
begin with /, and of variables of the environment, whose values do not, as an OCI archive."""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tarfile
from pathlib import Path

KIND = "application/vnd.oci.image."
Blob = dict[str, object]


def tar(files: dict[str, tuple[bytes, int]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, (data, mode) in files.items():
            info = tarfile.TarInfo(name)
            info.mode, info.size = mode, len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def main() -> None:
    out, name, entry, path, *more = sys.argv[1:]
    parts = [one.rpartition("=") for one in more]
    every = {entry: path} | {at: given for given, _, at in parts if at.startswith("/")}
    variables = [f"{variable}={value}" for variable, _, value in parts if not value.startswith("/")]
    layer = tar({at.lstrip("/"): (Path(given).read_bytes(), 0o755) for at, given in every.items()})
    files: dict[str, tuple[bytes, int]] = {"oci-layout": (b'{"imageLayoutVersion":"1.0.0"}', 0o644)}

    def blob(data: bytes, kind: str) -> Blob:
        digest = hashlib.sha256(data).hexdigest()
        files[f"blobs/sha256/{digest}"] = (data, 0o644)
        return {"mediaType": KIND + kind, "digest": f"sha256:{digest}", "size": len(data)}

    layers = [blob(layer, "layer.v1.tar")]
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Entrypoint": [entry], "Env": variables},
        "rootfs": {"type": "layers", "diff_ids": [one["digest"] for one in layers]},
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": KIND + "manifest.v1+json",
        "config": blob(json.dumps(config).encode(), "config.v1+json"),
        "layers": layers,
    }
    described = blob(json.dumps(manifest).encode(), "manifest.v1+json")
    described["annotations"] = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name}
    files["index.json"] = (json.dumps({"schemaVersion": 2, "manifests": [described]}).encode(), 0o644)
    Path(out).write_bytes(tar(files))


main()
