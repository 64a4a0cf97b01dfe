"""``python -m eosctl``."""

import sys

from eosctl.cli import main

sys.exit(main())
