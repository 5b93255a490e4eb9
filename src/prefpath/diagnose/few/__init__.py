"""Tests of annotators with few votes in all, in NumPy: nothing is compiled, and nothing loaded.

What kernels do annotator by annotator is here done for all annotators at once, and for many draws
at once. Every function takes what its compiled twin takes and gives the same numbers to rounding,
from the same random streams; `Ballots.in_numpy_if_few` says which of the two is called.
"""
