import sys

from factboard.cli import main

sys.exit(main())
