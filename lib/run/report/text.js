"use strict";
// What all scripts of the page share. Everything that a model, a suite or a server wrote becomes a text node; nothing
// is ever read as HTML.

// Characters that do something instead of showing something: controls, and marks that turn the direction of text.
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

function visible(text) {
  return String(text).replace(unseen, (one) => "\\u" + one.charCodeAt(0).toString(16).padStart(4, "0"));
}

// el("td.number", child…): an element with classes and an id ("p#id"). A child is a node, a text or null.
function el(what, ...children) {
  const [, tag, rest] = what.match(/^(\w+)(.*)$/);
  const made = document.createElement(tag);
  for (const [, mark, name] of rest.matchAll(/([.#])([\w-]+)/g)) {
    if (mark === ".") made.classList.add(name);
    else made.id = name;
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined) continue;
    made.append(child instanceof Node ? child : visible(child));
  }
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

function letter(run) {
  return run < 26 ? String.fromCharCode(65 + run) : String(run + 1);
}

// A number with so many decimals; what is not known is told as that.
function fixed(number, decimals) {
  return number === null || number === undefined ? "unknown" : number.toFixed(decimals);
}

function whole(number) {
  return number === null || number === undefined ? "unknown" : Math.round(number).toLocaleString("en");
}

function seconds(number) {
  if (number === null || number === undefined) return "unknown";
  return number < 10 ? number.toFixed(3) + " s" : number.toFixed(1) + " s";
}

function range(bounds, decimals) {
  return bounds ? fixed(bounds[0], decimals) + " to " + fixed(bounds[1], decimals) : "";
}

// A text that may have been cut, as the page holds it: a string, or [front, bytes left out, end].
function plain(text) {
  return typeof text === "string" ? text : text[0] + "…" + text[2];
}

function cutNodes(text) {
  if (typeof text === "string") return [visible(text)];
  return [visible(text[0]), el("span.cut", " [" + whole(text[1]) + " bytes left out] "), visible(text[2])];
}

async function inflate(element) {
  const bytes = Uint8Array.from(atob(element.textContent), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

const report = JSON.parse(byId("report").textContent);
