"""onehook model: the scripted model on its own, for people who develop hooks or agents."""

from __future__ import annotations

import click

from onehook.cli.choices import Verb

HELP = """Serve a scripted model on loopback: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and Gemini generateContent.

\b
A script is a JSON list of steps. Each request that offers tools takes the next step:
  [{"call": "Bash", "input": {"command": "touch x"}}, {"say": "done"}]
{"aside": "text"} answers a request without tools instead, such as one of a hook that a model judges.
A step with "usage": 1000000 reports that many tokens, as if the context were full, so that the agent compacts its session.
Point the agent at the printed address, for example:
  onehook model script.json --port 8123 &
  ANTHROPIC_BASE_URL=http://127.0.0.1:8123 ANTHROPIC_API_KEY=any claude -p "do it" --allowedTools Bash
Each request is logged as one line on stderr. Press Ctrl-C to stop.
"""


@click.command("model", cls=Verb, help=HELP)
@click.argument("script", type=click.Path(exists=True, dir_okay=False))
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="The port to listen on; 0 chooses a free one.")
def command(script: str, port: int) -> None:
    from pathlib import Path

    from onehook.prove.model import load_script
    from onehook.prove.model.server import serve

    try:
        steps = load_script(Path(script))
    except (ValueError, OSError) as error:
        raise click.ClickException(f"{script}: {error}") from None
    serve(steps, port)
