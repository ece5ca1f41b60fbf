// Live updates, uploads by drag and drop, and marking with the keyboard. Without JavaScript, pages
// reload themselves, files are chosen in a dialog, and marks are saved by ordinary forms.
"use strict";

function text(element, words) {
  if (element && element.textContent !== words) element.textContent = words;
}

// Fetch the page again and replace its live part. Its attribute `data-refresh` is the number of
// seconds until the next update. A page without a live part, such as a result, is reloaded.
async function refresh(part) {
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (answer.ok) {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.querySelector("[data-refresh]");
      if (!fresh) {
        location.reload();
        return;
      }
      // do not replace unchanged text, because screen readers would announce it again
      const changed = part.innerHTML !== fresh.innerHTML;
      const typing = part.querySelector("form:focus-within");
      if (changed && !typing) part.replaceChildren(...fresh.childNodes);
      part.dataset.refresh = fresh.dataset.refresh;
    }
  } catch (error) {
    console.info(`The service does not answer: ${error.message}`);
  }
  later(part);
}

function later(part) {
  if (part) setTimeout(refresh, 1000 * part.dataset.refresh, part);
}

// Dropping

async function filesOf(entry, path) {
  if (entry.isFile) {
    const file = await new Promise((done, failed) => entry.file(done, failed));
    return [[path + entry.name, file]];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return found;
    for (const one of some) {
      if (one.name.startsWith(".") || one.name === "__pycache__" || one.name === "figures") continue;
      found.push(...(await filesOf(one, `${path}${entry.name}/`)));
    }
  }
}

async function send(form, named, status) {
  const data = new FormData();
  data.append("key", form.elements.key.value);
  for (const [name, file] of named) data.append("files", file, name);
  text(status, `Sending ${named.length} file${named.length === 1 ? "" : "s"} …`);
  const answer = await fetch(form.action, {
    method: "POST",
    body: data,
    headers: { accept: "application/json" },
  });
  const said = await answer.json();
  if (!answer.ok) {
    text(status, `Nothing was submitted. ${said.error}`);
    return;
  }
  location.assign(form.action); // the page that shows what will be submitted
}

function chosen(form, status) {
  const names = [...form.elements.files.files].map((file) => file.name);
  if (!names.length) return;
  const zipped = names.some((name) => name.toLowerCase().endsWith(".zip"));
  const needed = zipped ? [] : form.dataset.needed.split(" ").filter(Boolean);
  const missing = needed.filter((name) => !names.includes(name));
  const rest = missing.length ? `. Not chosen: ${missing.join(", ")}` : "";
  text(status, `Chosen: ${names.join(", ")}${rest}.`);
}

function drop() {
  const form = document.getElementById("drop");
  if (!form) return;
  const status = document.getElementById("dropped");
  form.addEventListener("dragover", (event) => {
    event.preventDefault();
    form.classList.add("over");
  });
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", async (event) => {
    event.preventDefault();
    form.classList.remove("over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry());
    try {
      const named = [];
      for (const entry of entries) if (entry) named.push(...(await filesOf(entry, "")));
      await send(form, named, status);
    } catch (error) {
      text(status, `Nothing was submitted: ${error.message}`);
    }
  });
  form.elements.files.addEventListener("change", () => chosen(form, status));
  form.addEventListener("submit", () => {
    form.querySelector("button").disabled = true;
  });
  addEventListener("pageshow", () => {
    form.querySelector("button").disabled = false;
  });
}

// Marking

const cards = () => [...document.querySelectorAll(".answer-card")];

// Show the sum of the chosen rubric lines and the adjustment.
function total(form) {
  const chosen = [...form.querySelectorAll("[data-points]:checked")];
  const typed = form.elements.adjustment.value.trim().replace(",", ".");
  const empty = !chosen.length && !typed;
  const sum = chosen.reduce((all, line) => all + Number(line.value), Number(typed));
  const most = Number(form.closest(".answer-card").dataset.max);
  const valid = sum >= 0 && sum <= most;
  const words = valid ? `${Number(sum.toFixed(4))} of ${most} points` : `0 to ${most} points are possible`;
  text(form.querySelector("output"), empty ? "" : words);
}

function move(card, step) {
  const next = cards()[cards().indexOf(card) + step];
  if (!next) return;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "start" });
}

// Save a mark, and replace the card by what the service has now. If that differs from what the
// marker saw, the new card contains the marker's input and a message.
async function save(form) {
  const card = form.closest(".answer-card");
  const data = new URLSearchParams(new FormData(form));
  data.set("only", "1");
  form.querySelector("button").disabled = true;
  let problem = "";
  try {
    const answer = await fetch(form.action, { method: "POST", body: data });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector(".answer-card");
    if (fresh) {
      card.replaceWith(fresh);
      total(fresh.querySelector("form"));
      delete form.dataset.changed;
      if (answer.ok && cards().at(-1) !== fresh) move(fresh, 1);
      else fresh.focus();
      if (!answer.ok) fresh.querySelector("form").dataset.changed = "yes";
      return;
    }
    problem = page.querySelector("main")?.innerText || `status ${answer.status}`;
  } catch (error) {
    problem = error.message;
  }
  form.querySelector("button").disabled = false;
  text(form.querySelector("output"), `Not saved: ${problem}`);
}

function pressed(event) {
  const card = event.target.closest(".answer-card");
  if (!card || event.altKey || event.metaKey) return;
  const form = card.querySelector("form");
  const typing = event.target.matches("textarea, input:not([type=checkbox])");
  const key = event.key.toLowerCase();
  if (event.ctrlKey ? key === "enter" : !typing && key === "s") form.requestSubmit();
  else if (typing || event.ctrlKey) return;
  else if (/^[1-9]$/.test(key)) form.querySelectorAll("[data-points]")[key - 1]?.click();
  else if (key === "n" || key === "p") move(card, key === "n" ? 1 : -1);
  else if (key === "c") form.elements.comment.focus();
  else return;
  event.preventDefault();
}

function marking() {
  if (!document.querySelector(".desk")) return;
  document.querySelector(".guide").open = matchMedia("(min-width: 60rem)").matches;
  for (const form of document.querySelectorAll(".answer-card form")) total(form);
  document.addEventListener("keydown", pressed);
  document.addEventListener("input", (event) => {
    const form = event.target.closest(".answer-card form");
    if (!form) return;
    form.dataset.changed = "yes";
    total(form);
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.closest(".answer-card")) return;
    event.preventDefault();
    save(event.target);
  });
  addEventListener("beforeunload", (event) => {
    if (document.querySelector("[data-changed]")) event.preventDefault();
  });
}

later(document.querySelector("[data-refresh]"));
drop();
marking();
