# SPDX-License-Identifier: Apache-2.0
"""A study of any size, made of one run whose figures are varied: for how long reports take."""

from __future__ import annotations

import copy
import json
import random
import shutil
from pathlib import Path

from netmodel_lab.folder import Manifest
from netmodel_lab.plan import make_plan
from netmodel_lab.study import Order, Varied


def enlarge(small: Path, large: Path, rows: int, repeat: int = 10) -> None:
    """Copies the first run of a study into as many as there are rows."""
    manifest = Manifest.model_validate_json((small / "manifest.json").read_bytes())
    sizes = rows // repeat // 10
    study = manifest.study.model_copy(
        update={
            "dimensions": (
                Varied(names=("num_flows",), values=tuple((str(2**i),) for i in range(10))),
                Varied(names=("request_size",), values=tuple((str(64 * (i + 1)),) for i in range(sizes))),
            ),
            "repeat": repeat,
            "order": Order(kind="blocks", seed=1),
        }
    )
    plan = make_plan(study)
    assert len(plan) == rows
    (large / "runs").mkdir(parents=True)
    whole = manifest.model_copy(update={"study": study, "plan": plan})
    (large / "manifest.json").write_text(whole.model_dump_json(by_alias=True))
    first = small / "runs" / "000001-a1"
    result = json.loads((first / "result.json").read_text())
    command = json.loads((first / "command.json").read_text())
    draw = random.Random(1)
    for point in plan:
        folder = large / "runs" / f"{point.seq:06d}-a1"
        folder.mkdir()
        mine = copy.copy(result)
        factor = draw.lognormvariate(0, 0.05)
        mine["totals"] = {**result["totals"], "transactions_per_s": result["totals"]["transactions_per_s"] * factor}
        (folder / "result.json").write_text(json.dumps(mine))
        (folder / "command.json").write_text(json.dumps({**command, "point": point.point, "seq": point.seq}))
        if point.block == 1:
            shutil.copy(first / "hist.hlog", folder / "hist.hlog")
