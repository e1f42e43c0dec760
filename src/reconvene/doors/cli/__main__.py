"""`python -m reconvene.doors.cli` is the `reconvene` command."""

import sys

from reconvene.doors.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
