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

needs_realdata = pytest.mark.skipif(not REALDATA.is_dir(), reason=f"no real data at {REALDATA}")
needs_filings = pytest.mark.skipif(not FILINGS.is_dir(), reason=f"no filings at {FILINGS}")
needs_oracle = pytest.mark.skipif(not ORACLE.is_dir(), reason=f"no reference figures at {ORACLE}")
