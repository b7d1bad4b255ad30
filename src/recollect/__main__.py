"""`python -m recollect`."""

import sys

from recollect.interfaces.cli import main

sys.exit(main())
