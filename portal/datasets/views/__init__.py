"""Pages of the dataset manager, one module per noun."""
