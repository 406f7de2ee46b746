"""Page images: checking, storing and rendering images, and finding text on them.

May not import another feature. Call `renderer` to render a document. It runs `child` in a separate
process with limits on time and memory: `renderer` makes a PDF with Chromium, and `drawing` turns it
into images with text boxes. Only `services` uses the database.
"""
