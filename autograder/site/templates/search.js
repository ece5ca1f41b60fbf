"use strict";
// Show the sections that contain every word of the query. A word also finds the beginning of a word.
const entries = JSON.parse(document.getElementById("index").textContent);
const box = document.getElementById("query"), list = document.getElementById("results");
const SHOWN = 50, BEFORE = 60, LENGTH = 220; // results; characters of an excerpt

function pattern(word) {
  return new RegExp(`(?<![\\p{L}\\p{N}])${word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`, "giu");
}

function marked(element, text, words) {
  const hits = words.flatMap((word) => [...text.matchAll(word)]).sort((a, b) => a.index - b.index);
  let end = 0;
  for (const hit of hits.filter((h) => h[0])) {
    if (hit.index < end) { continue; }
    const mark = document.createElement("mark");
    mark.textContent = hit[0];
    element.append(text.slice(end, hit.index), mark);
    end = hit.index + hit[0].length;
  }
  element.append(text.slice(end));
  return element;
}

function excerpt(text, counts) {
  const found = counts.filter((c) => c.first >= 0).sort((a, b) => a.count - b.count);
  const start = found.length ? Math.max(0, found[0].first - BEFORE) : 0;
  const from = start ? text.indexOf(" ", start) + 1 : 0;
  const to = from + LENGTH < text.length ? text.lastIndexOf(" ", from + LENGTH) : text.length;
  return (from ? "… " : "") + text.slice(from, Math.max(to, from + BEFORE)) + (to < text.length ? " …" : "");
}

function result([where, title, address, text], counts, words) {
  const item = document.createElement("li"), link = document.createElement("a");
  const place = document.createElement("p"), part = document.createElement("p");
  link.href = address;
  place.className = "course";
  place.textContent = where;
  item.append(marked(link, title, words), place, marked(part, excerpt(text, counts), words));
  return item;
}

function search() {
  const words = box.value.trim().split(/\s+/).filter(Boolean).map(pattern);
  const found = [];
  for (const entry of words.length ? entries : []) {
    const [, title, , text] = entry;
    const counts = words.map((word) => {
      const hits = [...text.matchAll(word)];
      return { count: hits.length, first: hits.length ? hits[0].index : -1, titled: title.search(word) >= 0 };
    });
    if (counts.every((c) => c.count || c.titled)) {
      const score = counts.reduce((sum, c) => sum + Math.min(c.count, 9) + (c.titled ? 20 : 0), 0);
      found.push({ entry, counts, score });
    }
  }
  found.sort((a, b) => b.score - a.score);
  list.replaceChildren(...found.slice(0, SHOWN).map((f) => result(f.entry, f.counts, words)));
  const many = `${found.length} section${found.length === 1 ? "" : "s"}`;
  document.getElementById("status").textContent = !words.length ? "" : found.length > SHOWN
    ? `${many}; the best ${SHOWN} are shown.` : found.length ? `${many}.` : "No released week contains all these words.";
}

box.value ||= new URLSearchParams(location.search).get("q") || "";
box.addEventListener("input", search);
addEventListener("pageshow", search);
