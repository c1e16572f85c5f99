# SPDX-License-Identifier: Apache-2.0
"""The page of a run: what was found, verdicts, results, and heat maps from node to node. One file, without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from netmodel_lab.k8s import matrix, outputs
from netmodel_lab.k8s.figures import Cell, Row
from netmodel_lab.k8s.rules import Finding
from netmodel_lab.k8s.settings import Settings

_CSS = Path(__file__).parents[1] / "page" / "page.css"  # that of studies
_STRONGEST = 70  # per cent of the colour that the largest value has


def page(
    cells: Sequence[Cell], rows: Sequence[Row], findings: Sequence[Finding], settings: Settings, stamp: str
) -> str:
    css = _CSS.read_text(encoding="utf-8")
    squares = matrix.squares(cells)
    body = [
        _head(rows, settings, stamp),
        _list("Verdicts", [f"{one.word}: {one.title}: {one.text}" for one in findings]),
        _list(
            "Failed samples", [f"{row['cell']} sample {row['block']}: {row['why']}" for row in rows if not row["ok"]]
        ),
        *(f"<h2>{escape(one.title)}: {escape(one.figure)}, {one.unit}</h2>{_heat(one)}" for one in squares),
        *(f"<h2>{escape(title)}</h2>{_table(lines)}" for title, lines in outputs.results(cells, settings)),
    ]
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>netmodel-lab k8s: run {settings.run}</title>",
            f"<style>{css}</style></head><body><main>",
            *filter(None, body),
            "</main></body></html>\n",
        ]
    )


def _head(rows: Sequence[Row], settings: Settings, stamp: str) -> str:
    good = sum(bool(row["ok"]) for row in rows)
    pattern = settings.where.pattern
    return (
        f"<header><h1>Run {settings.run}</h1><p>{stamp}, {good} of {len(rows)} samples; pattern {pattern}; "
        f"image {escape(settings.pods.image)}; {escape(settings.uuid)}</p></header>"
    )


def _list(title: str, lines: Sequence[str]) -> str:
    return f"<h2>{title}</h2><ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>" if lines else ""


def _table(lines: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in lines[0])
    body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in line)}</tr>" for line in lines[1:])
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _heat(square: matrix.Square) -> str:
    """The stronger the colour, the larger the value: blue where large is good, orange where it is not."""
    colour = "--c0" if square.is_high_good else "--c1"
    head = "".join(f"<th>{escape(name)}</th>" for name in square.nodes)
    body = ""
    for client in square.nodes:
        body += f"<tr><th>{escape(client)}</th>"
        for server in square.nodes:
            value = square.values.get((client, server))
            if value is None:
                body += "<td>-</td>"
                continue
            share = round(square.share(value) * _STRONGEST)
            body += f'<td style="background: color-mix(in srgb, var({colour}) {share}%, var(--card))">{value:.1f}</td>'
        body += "</tr>"
    return (
        f'<div class="scroll"><table><thead><tr><th>client \\ server</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
