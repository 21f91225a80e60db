"""The pytest plugin: the fixture `fire` and the markers `hosts`, `policy` and `processes`. See docs/testing.md.

It is loaded in every pytest run where onehook is installed, so it imports nothing until a test uses `fire`.
"""

from __future__ import annotations

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from onehook.testing.fire import Fire

_MARKERS = (
    'hosts(*names, without=()): the agents that `fire` covers, e.g. hosts("claude", "codex") or hosts(without="contract")',
    "policy(path): the policy that `fire` runs, relative to the test's file",
    "processes: `fire` runs the policy through the real launcher, one process per event",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("onehook", "onehook: test a hook policy")
    group.addoption("--onehook-policy", metavar="PATH", help="The policy that `fire` runs. Default: policy.py next to the test.")
    group.addoption("--onehook-hosts", metavar="A,B", help="The agents that `fire` covers, comma-separated. Default: all.")
    group.addoption("--onehook-processes", action="store_true", help="Run the policy through the real launcher, one process per event.")
    parser.addini("onehook_policy", "The policy that `fire` runs, relative to this file.")
    parser.addini("onehook_hosts", "The agents that `fire` covers.", type="args")


def pytest_configure(config: pytest.Config) -> None:
    for line in _MARKERS:
        config.addinivalue_line("markers", line)


@pytest.fixture
def fire(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Fire:
    """Fire events at the policy under test, as every agent would: fire("Bash", command="rm -rf /").assert_denied("rm -rf")"""
    from onehook.core import UsageError
    from onehook.testing.fire import Fire

    try:
        return Fire(
            _policy(request),
            hosts=_hosts(request),
            processes=bool(request.config.getoption("--onehook-processes") or request.node.get_closest_marker("processes")),
            cwd=request.config.rootpath,
            state=tmp_path_factory.mktemp("onehook-state"),
        )
    except UsageError as error:
        pytest.fail(str(error), pytrace=False)


def _policy(request: pytest.FixtureRequest) -> Path:
    from pathlib import Path

    beside, root = request.path.parent, request.config.rootpath
    marker = request.node.get_closest_marker("policy")
    option, setting = request.config.getoption("--onehook-policy"), request.config.getini("onehook_policy")
    if marker is not None:
        if len(marker.args) != 1:
            pytest.fail('the policy marker takes one path: @pytest.mark.policy("policy.py")', pytrace=False)
        return _there([beside / marker.args[0]], f"policy({str(marker.args[0])!r})")
    if option:
        return _there([Path(request.config.invocation_params.dir, option)], "--onehook-policy")
    if setting:
        return _there([Path(request.config.inipath.parent if request.config.inipath else root, setting)], "onehook_policy")
    return _there([beside / "policy.py", root / ".hooks" / "policy.py"], "")


def _there(places: list[Path], named_by: str) -> Path:
    for place in places:
        if place.is_file():
            return place
    looked = ", ".join(map(str, places))
    if named_by:
        pytest.fail(f"{named_by}: {looked} does not exist", pytrace=False)
    pytest.fail(
        f"no policy to test; looked for {looked}. Name it with --onehook-policy, with onehook_policy in pytest's "
        'configuration, or with @pytest.mark.policy("path")',
        pytrace=False,
    )


def _hosts(request: pytest.FixtureRequest) -> list[str]:
    from onehook.testing.shots import chosen

    marker = request.node.get_closest_marker("hosts")
    option = request.config.getoption("--onehook-hosts")
    named = option.split(",") if option else list(request.config.getini("onehook_hosts"))
    without: list[str] = []
    if marker is not None:
        named = list(marker.args)
        given = marker.kwargs.get("without", ())
        without = [given] if isinstance(given, str) else list(given)
    excluded = chosen(without) if without else []
    return [host for host in chosen(named) if host not in excluded]
