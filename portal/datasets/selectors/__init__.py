"""What the pages and the API of the dataset manager show: frozen dataclasses, all queries made."""
