"use strict";
// The table of items: all rows are at hand, texts are inflated when they are looked at.

const pageRows = 50;
const keptBlocks = 16;
const states = { s: "scored", u: "unscored", e: "errored", n: "not_run" };
const rows = { ids: [], category: [], runs: report.runs.map(() => ({ state: "", value: [], ms: [], tokens: [] })) };
const blocks = [...document.querySelectorAll("script[data-texts]")].map((element) => {
  const [first, count] = element.dataset.texts.split(" ").map(Number);
  return { element, first, count };
});
const inflated = new Map(); // By block, the last used at the end.
let shown = []; // Items that pass the filter, in order.
let page = 0;
let generation = 0; // Of filters: what an older one finds is dropped.
let drawing = 0;

function append(to, from) {
  for (const one of from) to.push(one);
}

async function loadRows() {
  for (const element of document.querySelectorAll("script[data-rows]")) {
    const block = await inflate(element);
    append(rows.ids, block.ids.map(plain));
    append(rows.category, block.category);
    block.runs.forEach((run, index) => {
      const into = rows.runs[index];
      into.state += run.state;
      for (const key of ["value", "ms", "tokens"]) append(into[key], run[key]);
    });
    element.remove();
  }
}

function blockOf(item) {
  let low = 0;
  let high = blocks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (blocks[middle].first <= item) low = middle;
    else high = middle - 1;
  }
  return blocks[low];
}

function textsOfBlock(block) {
  const held = inflated.get(block) || inflate(block.element);
  inflated.delete(block);
  inflated.set(block, held);
  if (inflated.size > keptBlocks) inflated.delete(inflated.keys().next().value);
  return held;
}

// {item, fronts}; item is null where the page was full.
async function textsOf(item) {
  const block = blockOf(item);
  const held = await textsOfBlock(block);
  return { item: held.items[item - block.first], fronts: held.fronts };
}

function verdictOf(run, item) {
  const state = states[rows.runs[run].state[item]];
  if (state !== "scored") return state;
  const value = rows.runs[run].value[item];
  return value === 1 ? "right" : value === 0 ? "wrong" : "partly";
}

function passes(verdict, run, item) {
  if (verdict === "") return true;
  if (verdict === "changed" || verdict === "missing") {
    const all = rows.runs.map((one) => one.state[item] === "s" ? one.value[item] : null);
    if (verdict === "missing") return all.includes(null);
    return all.slice(1).some((value) => value !== null && all[0] !== null && value !== all[0]);
  }
  return verdictOf(run, item) === verdict;
}

function searched(texts, fronts) {
  const parts = [];
  for (const [, text, front] of texts.prompt) parts.push(front === undefined ? "" : plain(fronts[front]), plain(text));
  for (const run of texts.runs) {
    for (const [, text] of run.reply || []) parts.push(plain(text));
    if (run.extracted) parts.push(plain(run.extracted));
  }
  return parts.join("\n").toLowerCase();
}

async function searchTexts(query, candidates, mine) {
  const hits = new Set();
  for (const [number, block] of blocks.entries()) {
    const held = await inflate(block.element);
    if (mine !== generation) return null;
    held.items.forEach((texts, offset) => {
      const item = block.first + offset;
      if (texts && candidates.has(item) && searched(texts, held.fronts).includes(query)) hits.add(item);
    });
    if (number % 8 === 7) byId("found").textContent = "searching: " + Math.round(100 * (number + 1) / blocks.length) + " %";
  }
  return hits;
}

function ordered(items) {
  const key = { slow: "ms", long: "tokens" }[byId("order").value];
  if (!key) return items;
  const by = rows.runs[Number(byId("run").value)][key];
  return items.sort((a, b) => (by[b] ?? -1) - (by[a] ?? -1) || a - b);
}

async function filter() {
  const mine = ++generation;
  const query = byId("query").value.trim().toLowerCase();
  const category = byId("category").value;
  const run = Number(byId("run").value);
  const verdict = byId("verdict").value;
  const chosen = [];
  for (let item = 0; item < rows.ids.length; ++item) {
    if ((category === "" || rows.category[item] === Number(category)) && passes(verdict, run, item)) chosen.push(item);
  }
  const named = (item) => rows.ids[item].toLowerCase().includes(query) ||
    report.categories[rows.category[item]].toLowerCase().includes(query);
  let found = query === "" ? chosen : chosen.filter(named);
  if (query !== "" && byId("in-texts").checked) {
    const hits = await searchTexts(query, new Set(chosen), mine);
    if (hits === null) return;
    found = chosen.filter((item) => hits.has(item) || named(item));
  }
  shown = ordered(found);
  page = 0;
  byId("found").textContent = whole(shown.length) + " of " + whole(rows.ids.length) + " items" +
    (report.without_text > 0 ? "; the page was full, so that the last " + whole(report.without_text) + " have no texts here" : "");
  await drawPage();
}

const verdictClass = { right: "right", wrong: "wrong" };

function verdictCell(run, item, texts) {
  const verdict = verdictOf(run, item);
  const value = rows.runs[run].value[item];
  const of = texts && texts.runs[run];
  const words = el("span." + (verdictClass[verdict] || "other"), verdict === "partly" ? fixed(value, 3) : verdict.replace("_", " "));
  const extracted = of && of.extracted ? plain(of.extracted).slice(0, 80) : "";
  return el("td", words, extracted ? " " + extracted : null);
}

function turn(kind, text, front) {
  const texts = [];
  if (front !== undefined) {
    texts.push(el("details.shared", el("summary", "the beginning that it shares with other items"), el("pre", cutNodes(front))));
  }
  if (text !== "") texts.push(el("pre", cutNodes(text)));
  return el("div.turn", kind ? el("b", kind) : null, texts);
}

function details(item, texts, fronts) {
  if (!texts) return [el("p.note", "The page was full: the run's store has this item's prompt and replies.")];
  return [
    el("h3", "Prompt"), texts.prompt.map(([kind, text, front]) => turn(kind, text, front === undefined ? undefined : fronts[front])),
    el("h3", "Target"), el("pre", cutNodes(texts.target)),
    el("div.answers", texts.runs.map((run, index) => el("div",
      el("h3", "Reply" + (report.runs.length > 1 ? " of " + letter(index) : "")),
      run.reply ? run.reply.map(([kind, text]) => turn(kind, text)) : el("p", "none"),
      el("p", verdictCell(index, item, texts).childNodes[0],
        rows.runs[index].ms[item] === null ? "" : ", " + seconds(rows.runs[index].ms[item] / 1000),
        rows.runs[index].tokens[item] === null ? "" : ", " + whole(rows.runs[index].tokens[item]) + " tokens"),
      run.extracted ? el("p", "compared: ", cutNodes(run.extracted)) : null,
      run.why ? el("p", "why: ", cutNodes(run.why)) : null)))];
}

async function toggle(row, item) {
  const next = row.nextElementSibling;
  if (next && next.classList.contains("details")) {
    next.remove();
    return;
  }
  const { item: texts, fronts } = await textsOf(item);
  const cell = el("td.detail", details(item, texts, fronts));
  cell.colSpan = row.children.length;
  row.after(el("tr.details", cell));
}

function promptFront(texts) {
  if (!texts) return "";
  const own = texts.prompt.filter(([, text]) => text !== "").map(([, text]) => plain(text));
  return own.length === 0 ? "" : own[own.length - 1].slice(0, 120);
}

async function drawPage() {
  const mine = ++drawing;
  const items = shown.slice(page * pageRows, (page + 1) * pageRows);
  const made = [];
  for (const item of items) {
    const { item: texts } = await textsOf(item);
    const open = el("button.open", rows.ids[item]);
    open.type = "button";
    const took = (run) => run.ms[item] === null ? "" : seconds(run.ms[item] / 1000);
    const row = el("tr", el("td", open), el("td.spare", report.categories[rows.category[item]]),
      report.runs.map((run, index) => verdictCell(index, item, texts)), rows.runs.map((run) => el("td.number.spare", took(run))),
      el("td.front", promptFront(texts)));
    open.addEventListener("click", () => toggle(row, item));
    made.push(row);
  }
  if (mine !== drawing) return;
  document.querySelector("#items tbody").replaceChildren(...made);
  const pages = Math.max(1, Math.ceil(shown.length / pageRows));
  byId("page").textContent = "page " + (page + 1) + " of " + pages;
  byId("previous").disabled = page === 0;
  byId("next").disabled = page + 1 >= pages;
}

function option(value, text) {
  const made = el("option", text);
  made.value = value;
  return made;
}

function prepare() {
  report.categories.forEach((name, index) => byId("category").append(option(index, name || "(none)")));
  byId("category").parentElement.hidden = report.categories.length < 2;
  report.runs.forEach((run, index) => byId("run").append(option(index, letter(index) + "  " + run.folder)));
  byId("run").parentElement.hidden = report.runs.length < 2;
  if (report.runs.length > 1) byId("verdict").append(option("changed", "changed"), option("missing", "missing in one"));
  const each = (name) => report.runs.map((run, index) => name + (report.runs.length > 1 ? " " + letter(index) : ""));
  document.querySelector("#items thead").append(el("tr", el("th", "item"), el("th.spare", "category"),
    each("verdict").map((name) => el("th", name)),
    each("time").map((name) => el("th.number.spare", name)), el("th", "prompt")));
  let waiting = 0;
  byId("query").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 150);
  });
  for (const id of ["in-texts", "category", "run", "verdict", "order"]) byId(id).addEventListener("change", filter);
  byId("filter").addEventListener("submit", (event) => event.preventDefault());
  byId("previous").addEventListener("click", () => { page -= 1; drawPage(); });
  byId("next").addEventListener("click", () => { page += 1; drawPage(); });
}

async function start() {
  if (typeof DecompressionStream === "undefined") throw new Error("this browser cannot inflate; any of 2023 or later can");
  await loadRows();
  prepare();
  await filter();
  document.documentElement.dataset.ready = "yes";
}

start().catch((failure) => {
  byId("trouble").textContent = visible("The items cannot be shown: " + failure.message);
  byId("trouble").hidden = false;
});
