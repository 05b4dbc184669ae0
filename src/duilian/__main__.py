"""`python -m duilian`: the same as `duilian`."""

import sys

from duilian.cli import main

sys.exit(main())
