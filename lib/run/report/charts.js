"use strict";
// The plots, drawn by Chart.js where the page has it; the tables say the same without.

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function runColour(run) {
  return colour("--run-" + (run % 5));
}

// Of more the tables alone tell.
const mostBars = 40;

// Lines from one end of an interval to the other, across their bars.
const whiskers = {
  id: "whiskers",
  afterDatasetsDraw(chart) {
    const pen = chart.ctx;
    pen.save();
    pen.strokeStyle = colour("--ink");
    pen.lineWidth = 1.5;
    chart.data.datasets.forEach((set, place) => chart.getDatasetMeta(place).data.forEach((bar, index) => {
      const interval = (set.intervals || [])[index];
      if (!interval) return;
      const [low, high] = interval.map((end) => chart.scales.x.getPixelForValue(end));
      pen.beginPath();
      pen.moveTo(low, bar.y);
      pen.lineTo(high, bar.y);
      for (const end of [low, high]) {
        pen.moveTo(end, bar.y - 4);
        pen.lineTo(end, bar.y + 4);
      }
      pen.stroke();
    }));
    pen.restore();
  },
};

function axis(title, more) {
  return { title: { display: title !== "", text: title, color: colour("--faint") }, ticks: { color: colour("--faint") },
    grid: { color: colour("--line") }, ...more };
}

function options(x, y, legend) {
  return { animation: false, responsive: true, maintainAspectRatio: false, scales: { x, y },
    plugins: { legend: { display: legend, labels: { color: colour("--ink"), boxWidth: 12 } } } };
}

// sets: datasets with `intervals`, [low, high] or null for each of `names`.
function barConfig(names, sets, x) {
  return { type: "bar", plugins: [whiskers], data: { labels: names, datasets: sets },
    options: { ...options(x, axis("", { ticks: { color: colour("--ink"), autoSkip: false } }), sets.length > 1), indexAxis: "y" } };
}

function scoreBars() {
  const nameOf = (one) => [one.category, one.metric].filter((part) => part).join(" ");
  const names = [...new Set(report.runs.flatMap((run) => run.scores.metrics.map(nameOf)))];
  if (names.length > mostBars) return null;
  const sets = report.runs.map((run, index) => {
    const by = new Map(run.scores.metrics.map((one) => [nameOf(one), one]));
    return { run: index, label: letter(index), data: names.map((name) => by.has(name) ? by.get(name).score : null),
      intervals: names.map((name) => by.has(name) ? by.get(name).interval : null) };
  });
  return { rows: names.length * sets.length,
    config: () => barConfig(names.map(visible), recoloured(sets), axis("score", { min: 0, max: 1 })) };
}

function recoloured(sets) {
  return sets.map((set) => ({ ...set, backgroundColor: runColour(set.run) }));
}

function differenceBars() {
  const compared = report.comparisons.filter((one) => one.categories.length > 1);
  if (compared.length === 0 || compared[0].categories.length > mostBars) return null;
  const names = compared[0].categories.map((one) => visible(one.category || "(no category)"));
  const sets = compared.map((one) => ({ run: one.second, label: letter(one.second) + " − " + letter(one.first),
    data: one.categories.map((each) => each.paired.difference),
    intervals: one.categories.map((each) => each.paired.interval) }));
  const ends = sets.flatMap((set) => set.intervals.flatMap((one) => one || []));
  return { rows: names.length * sets.length,
    config: () => barConfig(names, recoloured(sets),
      axis("difference of the score", { suggestedMin: Math.min(0, ...ends), suggestedMax: Math.max(0, ...ends) })) };
}

// lines: [{run, label, points, dashed, stepped}]
function lineConfig(lines, x, y) {
  const sets = lines.map((one) => ({ label: one.label, data: one.points, borderColor: runColour(one.run),
    backgroundColor: runColour(one.run), borderWidth: 1.5, pointRadius: one.sparse ? 1.5 : 0,
    borderDash: one.dashed ? [5, 4] : [], stepped: one.stepped || false, spanGaps: one.sparse || false }));
  return { type: "line", data: { datasets: sets },
    options: options(axis(x, { type: "linear", min: 0 }), axis(y, { beginAtZero: true }), true) };
}

function linePlot(lines, x, y) {
  const drawn = lines.filter((one) => one.points.some((point) => point.y !== null));
  return drawn.length === 0 ? null : { config: () => lineConfig(drawn, x, y) };
}

function latencyLines() {
  const kinds = [["total_s", "latency", false], ["first_token_s", "TTFT", true]];
  return report.runs.flatMap((run, index) => kinds.filter(([kind]) => run.latency[kind])
    .map(([kind, name, dashed]) => ({ run: index, label: letter(index) + " " + name, dashed,
      points: run.latency[kind].curve.map((value, percent) => ({ x: percent, y: value })) })));
}

// What a run did in each step of its time; null where that is not known.
function overTime(key, label, more) {
  return report.runs.flatMap((run, index) => run.over_time && run.over_time[key] ? [{
    run: index, label: letter(index) + label, ...more,
    points: run.over_time[key].map((value, step) => ({ x: (step + 0.5) * run.over_time.step_s, y: value })) }] : []);
}

function limitLines() {
  return report.runs.flatMap((run, index) => (run.over_time ? run.over_time.limits : []).map((steps, endpoint, all) => {
    const points = steps.map((step) => ({ x: step.s, y: step.limit }));
    if (points.length > 0) points.push({ x: run.over_time.seconds, y: points[points.length - 1].y });
    return { run: index, label: letter(index) + " limit" + (all.length > 1 ? " " + (endpoint + 1) : ""), dashed: true,
      stepped: true, points };
  }));
}

const plots = [];

// plot: null where there is nothing to draw.
function addPlot(place, caption, plot) {
  if (!plot || typeof Chart === "undefined") return;
  const section = byId(place);
  const all = section.querySelector(".plots") || section.appendChild(el("div.plots"));
  const canvas = el("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", caption);
  const frame = el("div.plot", canvas);
  if (plot.rows) frame.style.height = Math.max(8, 3.5 + 1.6 * plot.rows) + "rem";
  all.append(el("figure", el("figcaption", caption), frame));
  plots.push({ canvas, plot });
}

function draw() {
  for (const one of plots) {
    if (one.chart) one.chart.destroy();
    one.chart = new Chart(one.canvas, one.plot.config());
  }
}

const clock = "s with requests out";
addPlot("scores", "Score of each metric, with its 95 % interval", scoreBars());
addPlot("comparison", "Difference in each category, with its 95 % interval", differenceBars());
addPlot("times", "Latency and time to first token (TTFT) by percentile",
  linePlot(latencyLines(), "percentile of the replies", "s"));
addPlot("times", "Requests in flight that gave a reply, and the limit at each endpoint",
  linePlot([...overTime("in_flight", " in flight"), ...limitLines()], clock, "requests"));
addPlot("times", "Completion tokens a second", linePlot(overTime("tokens_per_s", ""), clock, "tokens/s"));
addPlot("prefix", "Cached share of the prompts sent then, reported and predicted", linePlot([
  ...overTime("reported_share", " reported", { sparse: true }),
  ...overTime("predicted_share", " predicted", { sparse: true, dashed: true })], clock, "share"));
draw();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
