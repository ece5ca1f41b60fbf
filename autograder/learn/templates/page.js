// Keep the week's page up to date. Without JavaScript, reload the page to see new results.
"use strict";

const live = document.getElementById("live");
const stopped = document.getElementById("stopped");

function name(details) {
  const section = details.closest("section");
  return `${section ? section.getAttribute("aria-labelledby") : ""} ${details.querySelector("summary").textContent}`;
}

// Render the page again; keep what the reader has opened, chosen and focused.
async function render() {
  const answer = await fetch(location.pathname);
  if (!answer.ok) throw new Error(answer.statusText);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("live");
  const open = new Set([...live.querySelectorAll("details[open]")].map(name));
  for (const details of fresh.querySelectorAll("details")) details.open = open.has(name(details));
  for (const box of live.querySelectorAll("input:checked")) {
    const same = fresh.querySelector(`[id="${box.id}"]`);
    if (same) same.checked = true;
  }
  const focused = live.contains(document.activeElement) && document.activeElement.id;
  live.replaceChildren(...fresh.childNodes);
  live.dataset.version = fresh.dataset.version;
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

async function follow() {
  for (;;) {
    try {
      const answer = await fetch(`${location.pathname}/wait?seen=${live.dataset.version}`);
      if (!answer.ok) throw new Error(answer.statusText);
      const { version } = await answer.json();
      stopped.hidden = true;
      if (version !== live.dataset.version) await render();
    } catch (error) {
      console.info(`No answer: ${error.message}`);
      stopped.hidden = false;
      await new Promise((done) => setTimeout(done, 1500));
    }
  }
}

if (live) follow();
