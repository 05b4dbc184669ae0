"""Run `duilian` as `python -m duilian.cli`."""

import sys

from duilian.cli import main

sys.exit(main())
