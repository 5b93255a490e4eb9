"""The version, and nothing else: files that are written name it."""

__version__ = "0.2.0.dev0"
