// Live updates, and uploads by drag and drop. Without JavaScript, pages reload themselves, and
// files are chosen in a dialog.
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

later(document.querySelector("[data-refresh]"));
drop();
