"""Where to stop on the path: folds and cross-validation."""
