"use strict";
// The tables: what the runs are, their scores, how they differ, times, prefix cache and errors.

// rows: [label, a cell for each run]; a row in which no run has anything is left out.
function runTable(head, rows) {
  const body = rows.filter((row) => row.slice(1).some((cell) => cell !== null && cell !== undefined && cell !== ""));
  if (body.length === 0) return null;
  const names = report.runs.map((run, index) => el("th", letter(index) + "  " + run.folder));
  return el("div.wide-table", el("table",
    el("thead", el("tr", el("th", head), names)),
    el("tbody", body.map((row) => el("tr", el("th", row[0]), row.slice(1).map((cell) => el("td", cell)))))));
}

function perRun(label, cell) {
  return [label, ...report.runs.map(cell)];
}

function known(number, text) {
  return number === null || number === undefined ? null : text(number);
}

function costText(run) {
  if (run.spent_usd === null) return null;
  const most = run.spent_usd_at_most;
  if (most === run.spent_usd) return fixed(run.spent_usd, 6) + " USD";
  return fixed(run.spent_usd, 6) + " USD at least, " + (most === null ? "unbounded" : fixed(most, 6) + " at most");
}

function answersText(run) {
  const ills = [["cut_by_length", "cut by length"], ["empty_answers", "empty"], ["no_answers", "with nothing to compare"],
    ["unclosed_reasoning", "ended in their reasoning"], ["refused", "refused"], ["double_bos", "prompts with a BOS token too many"]];
  return ills.filter(([key]) => run.answers[key] > 0).map(([key, text]) => whole(run.answers[key]) + " " + text).join(", ");
}

function showRuns() {
  const first = report.runs[0];
  byId("title").textContent = visible(first.task);
  document.title = visible(first.task + " · evalcore report");
  byId("subtitle").textContent = visible(report.suite + ", " + whole(report.items) + " items, SHA-256 " +
    report.suite_hash.slice(0, 16) + "…");
  byId("about").textContent = "evalcore " + report.evalcore_version + ". This page loads nothing and sends nothing.";
  const setup = (key) => perRun(key.replace("_", " "), (run) => known(run.setup[key], String));
  byId("runs").append(runTable("", [
    perRun("model", (run) => run.model),
    perRun("backend", (run) => [run.backend.selector, run.backend.dialect].filter((one) => one).join(", ")),
    perRun("began", (run) => run.started),
    perRun("shard", (run) => run.shard),
    perRun("in flight at most", (run) => whole(run.setup.concurrency) + (run.setup.adaptive ? ", found while running" : "")),
    setup("order"), setup("tools"), setup("temperature"), setup("top_p"), setup("max_tokens"), setup("seed"), setup("scorer"),
    perRun("wall time", (run) => known(run.wall_s, seconds)),
    perRun("prompt tokens", (run) => whole(run.tokens.prompt_tokens)),
    perRun("completion tokens", (run) => whole(run.tokens.completion_tokens)),
    perRun("cost", costText),
    perRun("answers", answersText),
  ]));
  const keys = [...new Set(report.runs.flatMap((run) => Object.keys(run.identity)))].sort();
  byId("runs").append(el("details", el("summary", "What an answer may depend on"),
    runTable("", keys.map((key) => perRun(key, (run) => known(run.identity[key], String))))));
}

function missingText(run) {
  const parts = [["errored", run.errors], ["unscored", run.unscored], ["not run", run.not_run]].filter(([, count]) => count > 0);
  return parts.map(([name, count]) => whole(count) + " " + name).join(", ");
}

function showScores() {
  const rows = [];
  report.runs.forEach((run, index) => {
    const add = (category, metric, one, items) => rows.push(el("tr", el("td", letter(index)), el("td", category),
      el("td", metric), el("td.number", fixed(one.score, 4)), el("td.number", range(one.interval, 4)),
      el("td.number.spare", items)));
    for (const one of run.scores.metrics) add(one.category || "", one.metric, one, whole(one.items));
    for (const one of run.scores.macro) add("mean of " + one.categories + " categories", one.metric, one, "");
  });
  byId("scores").append(el("div.wide-table", el("table",
    el("thead", el("tr", el("th", "run"), el("th", "category"), el("th", "metric"), el("th.number", "score"),
      el("th.number", "95 % interval"), el("th.number.spare", "items"))), el("tbody", rows))));
  report.runs.forEach((run, index) => {
    const missing = missingText(run);
    const bounds = run.scores.score_bounds;
    byId("scores").append(el("p", letter(index) + ": " + fixed(run.scores.score, 4) + " over all " + whole(report.items) +
      " items" +
      (missing ? "; " + missing + " count as wrong, and if they were right it would be " + fixed(bounds[1], 4) : "")));
  });
}

function pairedCells(one) {
  const sign = one.difference >= 0 ? "+" : "";
  return [el("td.number", one.difference === null ? "" : sign + fixed(one.difference, 4)),
    el("td.number", range(one.interval, 4)), el("td.number", whole(one.pairs)),
    el("td.number", whole(one.better)), el("td.number", whole(one.worse)),
    el("td.number", one.mcnemar_p === null ? "" : fixed(one.mcnemar_p, 4))];
}

function showComparison() {
  if (report.comparisons.length === 0) return;
  byId("comparison").parentElement.hidden = false;
  const head = ["difference", "95 % interval", "items both scored", "better", "worse", "McNemar's p"].map((one) => el("th.number", one));
  for (const one of report.comparisons) {
    const of = letter(one.second) + " against " + letter(one.first);
    byId("comparison").append(el("div.wide-table", el("table", el("thead", el("tr", el("th", of), head)), el("tbody",
      el("tr", el("td", "all"), pairedCells(one.paired)),
      one.categories.map((each) => el("tr", el("td", each.category || "(no category)"), pairedCells(each.paired)))))));
    if (one.missing > 0) {
      byId("comparison").append(el("p", whole(one.missing) +
        " items are missing in one or both: over all items the difference is between " +
        range(one.difference_bounds, 4).replace(" to ", " and ") + "."));
    }
  }
  byId("comparison").append(el("p.note", "Among the items below, “changed” and “missing” are verdicts to choose."));
}

function showTimes() {
  const figure = (kind, key) => (run) => known(run.latency[kind], (of) => seconds(of[key]));
  const rows = [];
  for (const [kind, name] of [["first_token_s", "TTFT"], ["total_s", "latency"]]) {
    for (const key of ["p50", "p90", "p95", "p99", "max", "mean"]) rows.push(perRun(name + ", " + key, figure(kind, key)));
  }
  const table = runTable("from dispatch", rows);
  byId("times").append(table || el("p", "No time of a request is known."));
  const counts = report.runs.map((run, index) => letter(index) + " " + whole(run.latency.replies)).join(", ");
  if (table) byId("times").append(el("p.note", "Of the requests that gave a reply, " + counts +
    ". TTFT, the time to the first token, is known of those that were streamed."));
  const changes = report.runs.flatMap((run, index) => (run.over_time ? run.over_time.limits : []).flatMap((steps, endpoint) => {
    const whose = letter(index) + (run.over_time.limits.length > 1 ? ", endpoint " + (endpoint + 1) : "");
    return steps.map((step) => el("tr", el("td", whose), el("td.number", fixed(step.s, 1)), el("td.number", whole(step.limit)),
      el("td", step.why)));
  }));
  if (changes.length > 0) {
    byId("times").append(el("details#limits", el("summary", "Limit history (" + changes.length + ")"), el("table",
      el("thead", el("tr", el("th", "run"), el("th.number", "after s"), el("th.number", "limit"), el("th", "why"))),
      el("tbody", changes))));
  }
}

function showPrefix() {
  const share = (run) => known(run.tokens.cached_tokens, (cached) =>
    run.tokens.prompt_tokens ? (100 * cached / run.tokens.prompt_tokens).toFixed(1) + " %" : null);
  const table = runTable("tokens", [
    perRun("predicted", (run) => known(run.predicted_cached_tokens, whole)),
    perRun("reported", (run) => known(run.tokens.cached_tokens, whole)),
    perRun("of the prompts", share)]);
  byId("prefix").append(table || el("p", "Neither predicted nor reported."));
}

function showErrors() {
  const rows = report.runs.flatMap((run, index) => run.failures.map((one) => el("tr", el("td", letter(index)),
    el("td", one.class), el("td.number", whole(one.attempts)), el("td.number", whole(one.items)), el("td", cutNodes(one.example)))));
  byId("errors").append(rows.length === 0 ? el("p", "No attempt failed.") : el("div.wide-table", el("table",
    el("thead", el("tr", el("th", "run"), el("th", "class"), el("th.number", "attempts"), el("th.number", "items that ended so"),
      el("th", "the last one said"))), el("tbody", rows))));
}

for (const show of [showRuns, showScores, showComparison, showTimes, showPrefix, showErrors]) show();
