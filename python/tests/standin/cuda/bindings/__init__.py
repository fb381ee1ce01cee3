# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""A stand-in for NVIDIA's cuda.bindings: as much as ashlar.cuda touches.

ASHLAR_STANDIN says which release it is like: 12 or 13. There is no `cuda`
package around it, as there is none around the real one.
"""

import os

__version__ = {"12": "12.9.4", "13": "13.3.0"}[
    os.environ.get("ASHLAR_STANDIN", "13")
]
