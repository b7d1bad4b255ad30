"""Real clients are run only when asked for (`make hosts`): they are large, and each run takes seconds."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("RECOLLECT_HOSTS") == "1" else ["test_*.py"]
