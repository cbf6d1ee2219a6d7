"""Episodes on a real server: a simulated customer and a shop's tools, played by examples/retail.cpp."""

import json
import random
import re
import subprocess
import time

import pytest

from conftest import MODEL, REPOSITORY, free_port, serving
from store_copy import copied_store
from recording_proxy import RecordingProxy

TASKS = 40
IN_FLIGHT = 16


@pytest.fixture(scope="module")
def slots_port(llama_server, tmp_path_factory):
    """A server with a slot for each episode in flight."""
    port = free_port()
    command = [llama_server, "--model", MODEL, "--host", "127.0.0.1", "--port", port, "--parallel", IN_FLIGHT,
               "--ctx-size", IN_FLIGHT * 1024, "--threads", 1]
    with serving(port, command, tmp_path_factory.mktemp("server") / "log"):
        yield port


def command(retail, url, folder, in_flight=IN_FLIGHT, tasks=TASKS):
    folder.mkdir(exist_ok=True)
    return list(map(str, [retail, url, folder / "run.db", folder / "traces.jsonl", tasks, in_flight]))


def play(*arguments, **options):
    done = subprocess.run(command(*arguments, **options), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def lines(folder):
    return [json.loads(line) for line in (folder / "traces.jsonl").read_text().splitlines()]


def traces(folder):
    """The traces without what may differ between two runs: times, and what was in a cache."""
    return [{key: value for key, value in line.items() if key not in ("timing", "usage")} for line in lines(folder)]


@pytest.fixture(scope="module")
def steady_server(slots_port):
    """Makes proxies to the server that answer the same conversation alike. By itself it does not quite: which of
    two tokens wins where they are nearly tied depends on what its cache held, in one or two of 40 conversations."""
    memory = {}
    made = []

    def make(delay_s=0.0):
        made.append(RecordingProxy(slots_port, delay_s, memory))
        return made[-1]

    yield make
    for proxy in made:
        proxy.close()


@pytest.fixture(scope="module")
def sixteen_in_flight(retail, steady_server, tmp_path_factory):
    """Played first, so that these are answers of a server that is busy."""
    folder = tmp_path_factory.mktemp("sixteen")
    figures = play(retail, steady_server().url, folder)
    return folder, figures


def test_sixteen_in_flight_have_the_traces_of_one_at_a_time(retail, steady_server, sixteen_in_flight, tmp_path):
    folder, figures = sixteen_in_flight
    turns = [line for line in lines(folder) if "turn" in line]
    assert figures == {"sent": len(turns), "reused": 0, "finished_before": 0, "paid_twice": 0}
    ends = [line for line in lines(folder) if "end" in line]
    assert len(ends) == TASKS
    assert {end["end"] for end in ends} == {"done", "turns"}
    assert len({end["turns"] for end in ends}) > 1, "all conversations went the same way"
    proxy = steady_server()
    assert play(retail, proxy.url, tmp_path, in_flight=1) == figures
    assert traces(tmp_path) == traces(folder)
    # One at a time, and each to its end before the next.
    customers = [re.search(r"W\d+", chat["messages"][1]["content"]).group() for chat in proxy.chats]
    assert list(dict.fromkeys(customers)) == [f"W{number}" for number in range(TASKS)]
    assert sorted(customers, key=customers.index) == customers


def test_the_prefix_that_is_reused_grows_turn_by_turn(retail, slots_port, tmp_path):
    play(retail, f"http://127.0.0.1:{slots_port}", tmp_path)
    before = {}
    followers = 0
    for line in lines(tmp_path):
        if "turn" not in line:
            continue
        usage = line["usage"]
        if line["turn"] > 1:
            previous = before[line["episode"]]
            # All of the prompt before, and more of the turn's own with the reply that the slot decoded.
            assert usage["cached_tokens"] >= previous["prompt_tokens"]
            assert usage["cached_tokens"] > previous["cached_tokens"]
            followers += 1
        before[line["episode"]] = usage
    assert followers > 2 * TASKS


def conversation(messages):
    return tuple((message["role"], message["content"]) for message in messages)


def committed_conversations(store, scratch):
    """What was asked in each turn whose reply is in the store, read from a copy so that the store is not touched."""
    asked = set()
    with copied_store(store, scratch) as database:
        tables = {row[0] for row in database.execute("SELECT name FROM sqlite_schema")}
        if "turns" not in tables:
            return asked
        history = []
        for turn, added, body in database.execute(
                "SELECT turn, added, body FROM turns LEFT JOIN replies USING (item_key, cache_key)"
                " ORDER BY episode_key, turn"):
            request = json.loads(added)
            history = ([] if turn == 1 else history)[:request["kept"]] + request["messages"]
            if body is not None:
                asked.add(conversation(history))
                history = history + [{"role": "assistant", "content": json.loads(body)["text"]}]
    return asked


def test_a_killed_host_goes_on_at_the_last_committed_turn_and_sends_nothing_twice(retail, steady_server,
                                                                                  sixteen_in_flight, tmp_path):
    randomly = random.Random(7)
    out = tmp_path / "killed"
    kills_with_progress = 0
    for attempt in range(40):
        done = committed_conversations(out / "run.db", tmp_path / f"copy{attempt}") if out.exists() else set()
        kills_with_progress += bool(done)
        proxy = steady_server(delay_s=0.05)
        process = subprocess.Popen(command(retail, proxy.url, out), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until_kill = randomly.randint(3, 40)
        deadline = time.monotonic() + 60
        while len(proxy.chats) < until_kill and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(randomly.uniform(0, 0.1))
        process.kill()
        printed, said = process.communicate(timeout=30)
        asked = {conversation(body["messages"]) for body in proxy.chats}
        assert not asked & done, "a turn that was committed at the kill was sent again"
        if process.returncode == 0:
            break
        assert process.returncode == -9, said
    assert process.returncode == 0
    assert kills_with_progress >= 3, "the kills came too late or too early to prove anything"
    figures = json.loads(printed)
    assert figures["finished_before"] + figures["reused"] > 0
    assert traces(out) == traces(sixteen_in_flight[0])


def members(value, path=""):
    """The paths of an object's members; lists and `settings`, which are a request's, are not looked into."""
    if not isinstance(value, dict) or path == "request.settings":
        return {path}
    return set().union(*(members(inner, f"{path}.{key}" if path else key) for key, inner in value.items()))


def test_every_member_of_a_trace_is_in_the_guide_and_the_other_way_round(sixteen_in_flight):
    guide = (REPOSITORY / "docs/episodes.md").read_text().split("## Traces")[1]
    table = [row for row in guide.splitlines() if row.startswith("| `")]
    documented = {name for row in table for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    turns = [line for line in lines(sixteen_in_flight[0]) if "turn" in line]
    assert set().union(*map(members, turns)) == documented - {"error.code", "error.message"}
    ends = [line for line in lines(sixteen_in_flight[0]) if "end" in line]
    assert {key for line in ends for key in line} == {"episode", "epoch", "turns", "end", "outcome"}


def test_the_code_in_the_guide_is_that_of_the_example():
    guide = (REPOSITORY / "docs/episodes.md").read_text()
    example = (REPOSITORY / "examples/retail.cpp").read_text()
    pieces = re.findall(r"```cpp\n(.*?)```", guide, re.DOTALL)
    assert pieces
    for piece in pieces:
        assert piece in example
