# SPDX-License-Identifier: Apache-2.0
"""Side-by-side measurement of netmodel and the network benchmarks found on this machine."""
