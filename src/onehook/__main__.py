"""python -m onehook: `run` goes straight to the runner, every other verb to the CLI."""

import sys

if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        from onehook.runner import main

        main(sys.argv[2:])
    from onehook.cli import main as cli

    sys.exit(cli())
