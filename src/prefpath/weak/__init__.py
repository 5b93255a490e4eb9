"""Small dense effects for everybody below the sparse ones, for prediction."""
