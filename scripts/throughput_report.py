"""What scripts/eval-throughput-smoke.sh says of its two runs. None is unknown."""

from run_results import median_ttft, print_table, same_texts, shown, texts


def side(summary, of):
    """What the report says of one run."""
    return {
        **{key: summary["backend"][key] for key in ("selector", "dialect", "model")},
        **{key: summary[key] for key in ("wall_s", "processor_s", "prompt_tokens", "cached_tokens", "fed_tokens")},
        **{key: summary[key] for key in ("completion_tokens", "mean_ttft_s", "score", "errors")},
        "median_ttft_s": median_ttft(of.values()),
    }


def may_change(sequential, concurrent):
    """Whether answers may differ between the two: only of the same engine in `parity` they must not."""
    identities = [run["backend"]["identity"] for run in (sequential, concurrent)]
    return identities[0] != identities[1] or identities[0].get("evaluation") != "parity"


def note_on(asked, one):
    """What a reader of the figures must know of the sequential run."""
    if asked.mock:
        return "a server that sleeps: it shows that requests overlap, and nothing of a model"
    if one["cached_tokens"] is None:
        return "the sequential run's backend does not tell whether it found a part of its prompts in a cache"
    if one["cached_tokens"] > 0:
        return "the sequential run found a part of its prompts in the server's cache, too"
    return "the sequential run computed each prompt from its beginning"


def report_of(asked, sequential, concurrent):
    (one, one_replies), (many, many_replies) = sequential, concurrent
    speedup = one["wall_s"] / many["wall_s"]
    equal = same_texts(texts(one_replies), texts(many_replies))
    changed = equal < one["items"] and (asked.mock or not may_change(one, many))
    return {
        "backend": "threaded-openai-mock" if asked.mock else many["backend"]["selector"],
        "requests": many["items"],
        "concurrency": many["concurrency"],
        "delay_ms": asked.delay_ms,
        "sequential_seconds": round(one["wall_s"], 4),
        "concurrent_seconds": round(many["wall_s"], 4),
        "speedup": round(speedup, 3),
        "passed": speedup >= asked.min_speedup and not changed,
        "min_speedup": asked.min_speedup,
        "note": note_on(asked, one),
        "outputs_equal": equal,
        "outputs_changed_where_none_may": changed,
        "prefix_cached_tokens": many["cached_tokens"],
        "prefix_predicted_tokens": many["prefix"]["predicted_cached_tokens"],
        "sequential": side(one, one_replies),
        "concurrent": side(many, many_replies),
    }


def print_report(report):
    heads = ["", "backend", "wall s", "processor s", "mean TTFT s", "tokens fed", "tokens cached", "tokens out", "score",
             "texts the same"]  # fmt: skip
    rows = [
        [name, of["selector"], shown(of["wall_s"], 1), shown(of["processor_s"], 1), shown(of["mean_ttft_s"], 2),
         shown(of["fed_tokens"]), shown(of["cached_tokens"]), shown(of["completion_tokens"]), shown(of["score"], 4), same]
        for name, same in (("sequential", ""), ("concurrent", f"{report['outputs_equal']}/{report['requests']}"))
        for of in [report[name]]
    ]  # fmt: skip
    print_table([heads, *rows])
    print(
        f"\nprefix cached: {shown(report['prefix_cached_tokens'])} tokens of {shown(report['prefix_predicted_tokens'])} predicted"
    )
    print(f"note: {report['note']}")
    if report["outputs_changed_where_none_may"]:
        print(f"{report['requests'] - report['outputs_equal']} answers changed, which must not happen here")
    verdict = "OK" if report["passed"] else "FAILED"
    print(f"SMOKE {verdict}: {report['backend']} is {report['speedup']:.2f} x as fast as one request at a time; the bar is "
          f"{report['min_speedup']:.2f}")  # fmt: skip
