"""What install puts before a command if there is no native client: PYTHON -I -S .../client.py COMMAND. asking.py does the work."""

import sys

if __name__ == "__main__":
    sys.path.append(__file__.rpartition("/")[0])  # a module is compiled only once, but this file for every event
    from asking import main  # type: ignore[import-not-found,unused-ignore]

    main(sys.argv[1:])
