"""python -m tonari"""

from tonari.cli import main

raise SystemExit(main())
