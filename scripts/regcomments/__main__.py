"""`python -m regcomments`: the same as the console program."""

import sys

from regcomments.cli import main

if __name__ == "__main__":
    sys.exit(main())
