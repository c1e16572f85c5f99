# SPDX-License-Identifier: Apache-2.0
"""The report: one HTML file that needs nothing else."""

from netmodel_lab.page.html import page

__all__ = ["page"]
