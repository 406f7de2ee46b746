"""Page images from canonical HTML, and where on them the text lies. Knows no database.

`renderer` is what others call. It works through `child`, a process of its own that may use up its
time and memory and is then ended: in it `chromium` makes a PDF, `paper` reads and draws its pages,
and `alignment` and `runs` find the canonical text on them.
"""
