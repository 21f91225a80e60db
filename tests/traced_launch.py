"""The launcher, counted by coverage: python -I tests/traced_launch.py FOLDER LAUNCH ARGUMENTS.

What an event runs ends with os._exit, in the process that the agent started and in the fork for the policy, and coverage would never
write what it has seen. FOLDER has the project's settings for it, and gets the data.
"""

import posix
import sys

import coverage

folder, *sys.argv = sys.argv[1:]
counted = coverage.Coverage(data_file=f"{folder}/.coverage", data_suffix=True, config_file=f"{folder}/pyproject.toml")
end = posix._exit


def saved_first(exit_code):
    posix._exit = end
    counted.stop()
    counted.save()
    end(exit_code)


posix._exit = saved_first
counted.start()
with open(sys.argv[0], encoding="utf-8") as file:
    code = compile(file.read(), sys.argv[0], "exec")
sys.modules["__main__"].__dict__.update(__file__=sys.argv[0])
exec(code, sys.modules["__main__"].__dict__)
