# SPDX-License-Identifier: Apache-2.0
"""python3 -m netmodel_lab"""

import sys

from netmodel_lab.cli import main

sys.exit(main())
