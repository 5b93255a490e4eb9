"""The model: a loss of margins, a penalty of deviations, and the problem that holds both."""
