"""The paper's experiments, one command each: `prefpath reproduce`."""
