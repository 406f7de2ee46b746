"""Where the data beside the checkout lies, and the marks of tests that need it.

Real filings, OCR output and reference figures are not part of the repository. They are looked for
in the folder named by FACTBOARD_SHARED, by default `shared` beside the checkout.
"""

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("FACTBOARD_SHARED", Path(__file__).resolve().parents[2] / "shared"))
REALDATA = SHARED / "realdata" / "dev"
FILINGS = SHARED / "realdata" / "filings"
ORACLE = SHARED / "oracle"

# Skipped only where the whole folder is absent: an incomplete one fails.
_is_absent = not SHARED.is_dir()
needs_realdata = pytest.mark.skipif(_is_absent, reason=f"no real data at {REALDATA}")
needs_filings = pytest.mark.skipif(_is_absent, reason=f"no filings at {FILINGS}")
needs_oracle = pytest.mark.skipif(_is_absent, reason=f"no reference figures at {ORACLE}")
