"""Page images: checking and storing pictures, rendering pages, and where the text is on them.

May import no other feature. `renderer` is what others call to render. It works through `child`,
a process of its own that may use up its time and memory and is then ended: `renderer` finds
Chromium and makes a PDF, `drawing` reads the PDF and places the text. Only `services` knows the
database.
"""
