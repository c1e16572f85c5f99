# SPDX-License-Identifier: Apache-2.0
"""Certificates for tests of TLS."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from nmtest import PATIENCE_S


@dataclass(frozen=True)
class Files:
    """An authority, a certificate of localhost and 127.0.0.1 by it, with its key, encrypted and plain, and an authority of no importance."""

    folder: Path

    def __getattr__(self, name: str) -> Path:
        return self.folder / f"{name}.pem"

    @property
    def served(self) -> str:
        return f"cert={self.cert} key={self.key} password=sesame"


CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")


def openssl(*args: str | Path) -> None:
    subprocess.run(["openssl", *map(str, args)], check=True, capture_output=True, timeout=PATIENCE_S)


def self_signed(subject: str, cert: Path, key: Path) -> None:
    openssl("req", "-x509", *CURVE, "-nodes", "-keyout", key, "-out", cert, "-subj", subject)


def make(folder: Path) -> Files:
    made = Files(folder)
    for name in ("ca", "other"):
        self_signed(f"/CN={name}", getattr(made, name), made.folder / f"{name}-key.pem")
    request = made.folder / "request"
    openssl("req", *CURVE, "-passout", "pass:sesame", "-keyout", made.key, "-out", request, "-subj", "/CN=test")
    openssl("pkey", "-in", made.key, "-passin", "pass:sesame", "-out", made.plain)
    names = made.folder / "names"
    names.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    signed_by = ("-CA", made.ca, "-CAkey", made.folder / "ca-key.pem", "-CAcreateserial", "-extfile", names)
    openssl("x509", "-req", "-in", request, "-out", made.cert, *signed_by)
    made.junk.write_text("no certificate\n")
    return made
