"""`python -m duilian.cli` is the command `duilian`."""

import sys

from duilian.cli import main

sys.exit(main())
