"""`python -m prefpath` is the command line."""

from prefpath.cli import main

if __name__ == "__main__":
    main()
