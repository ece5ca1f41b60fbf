// Keep the week's page up to date. Without JavaScript, reload the page to see new results.
"use strict";
const live = document.getElementById("live");

const nameOf = (details) => `${details.closest("section")?.getAttribute("aria-labelledby")} ${details.firstElementChild.textContent}`;

// Render the page again; keep what the reader has opened, chosen and focused.
async function render() {
  const answer = await fetch(location.pathname);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("live");
  const open = new Set([...live.querySelectorAll("details[open]")].map(nameOf));
  for (const details of fresh.querySelectorAll("details")) details.open = open.has(nameOf(details));
  for (const box of live.querySelectorAll("input:checked")) {
    const same = page.getElementById(box.id);
    if (same) same.checked = true;
  }
  const focused = live.contains(document.activeElement) && document.activeElement.id;
  live.replaceChildren(...fresh.childNodes);
  live.dataset.version = fresh.dataset.version;
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

async function follow() {
  for (;;) {
    let running = false;
    try {
      const answer = await fetch(`${location.pathname}/wait?seen=${live.dataset.version}`);
      const { version } = await answer.json();
      if (version !== live.dataset.version) await render();
      running = true;
    } catch (error) {
      await new Promise((done) => setTimeout(done, 1500));
    }
    document.getElementById("stopped").hidden = running;
  }
}

if (live) follow();
