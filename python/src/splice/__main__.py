# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""``python -m splice`` is the command ``splice``."""

import sys

from splice.cli.main import main

sys.exit(main())
