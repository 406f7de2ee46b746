"""The sample benchmark: fictional pages with known gold, sample annotators and real OCR
submissions."""
