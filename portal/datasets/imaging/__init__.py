"""Page images: checking, storing and rendering images, and finding text on them.

May not import another feature. Call `renderer` to render a document. It runs `drawing` in a
separate process with limits on time and memory: Chromium makes a PDF, which becomes images with
text boxes. Only `services` uses the database.
"""
