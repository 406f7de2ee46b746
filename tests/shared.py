"""Paths of data outside the checkout, and marks for the tests that need it.

Real filings, OCR output and reference figures are not part of the repository. FACTBOARD_SHARED
names their folder. The default is `shared`, next to the checkout.
"""

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("FACTBOARD_SHARED", Path(__file__).resolve().parents[2] / "shared"))
REALDATA = SHARED / "realdata" / "dev"
FILINGS = SHARED / "realdata" / "filings"
ORACLE = SHARED / "oracle"

# Tests skip only if the whole folder is missing, and not with REQUIRE_SHARED. They fail if it is
# incomplete.
_is_absent = not SHARED.is_dir() and os.environ.get("REQUIRE_SHARED", "") in {"", "0"}
needs_realdata = pytest.mark.skipif(_is_absent, reason=f"no real data at {REALDATA}")
needs_filings = pytest.mark.skipif(_is_absent, reason=f"no filings at {FILINGS}")
needs_oracle = pytest.mark.skipif(_is_absent, reason=f"no reference figures at {ORACLE}")
