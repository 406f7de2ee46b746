"""How pages are looked at: wide in light colours, narrow in dark ones.

The colours do not depend on the width, nor the layout on the colours: two looks see what four see.
"""

import pytest

in_both_looks = pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
