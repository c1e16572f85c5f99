# SPDX-License-Identifier: Apache-2.0
"""Sweeps of netmodel: a study is planned, run, resumed, summed up and shown."""

__version__ = "0.1.0"
