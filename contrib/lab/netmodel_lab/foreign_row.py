# SPDX-License-Identifier: Apache-2.0
"""What the readers of other tools' results share."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]

MBPS_BITS = 8e6  # bits in a MB


def number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
