// What JavaScript adds to pages of runs: they follow the run, files can be dropped, the companion answers beside the page.
import { $, $$, onKey } from "./cockpit.js";

// --- a run at work: the page is drawn anew by the server after each event; what agents write is added as it comes ---
function follow(now) {
  const run = encodeURIComponent(now.dataset.run), lost = $("#lost");
  const said = new Map(); // agent → what it has written since the page was drawn
  let due = 0, busy = false, again = false;

  async function draw() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(`/runs/${run}/now`);
      if (answer.ok && !editing()) put(await answer.text());
    } finally {
      busy = false;
      if (again) { again = false; soon(); }
    }
  }
  const editing = () => $("details[open] form", now) !== null || now.contains(document.activeElement) && document.activeElement.matches("input, textarea");
  const soon = () => { clearTimeout(due); due = setTimeout(draw, 300); };

  function put(html) {
    const held = now.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    now.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
    for (const [agent, text] of said) write(agent, text);
    const asOf = $("[data-as-of]", now);
    if (asOf) $("#as-of").textContent = asOf.dataset.asOf;
    if (held) $$("a", now).find(link => link.getAttribute("href") === held)?.focus();
  }
  const card = agent => $$(".agent.on", now).find(one => one.dataset.agent === agent);
  function write(agent, text) {
    const at = card(agent);
    if (at) { const says = $(".says", at); says.textContent = text.slice(-1200); says.scrollTop = says.scrollHeight; }
  }

  let source = null, seq = now.dataset.seq;
  function listen() { // only while somebody looks: browsers have few connections to one server
    if (source || document.hidden) return;
    source = new EventSource(`/api/v1/runs/${run}/stream?after=${seq}`);
    source.addEventListener("event", event => { seq = event.lastEventId || seq; soon(); });
    source.addEventListener("progress", progress);
    source.addEventListener("ended", () => { rest(); lost.hidden = false; });
    source.onopen = () => { lost.hidden = true; };
    source.onerror = () => { lost.hidden = false; };
  }
  function rest() { if (source) source.close(); source = null; }
  function progress(event) {
    const told = JSON.parse(event.data), agent = String(told.agent || "");
    if (told.what === "text") said.set(agent, ((said.get(agent) || "") + told.detail).slice(-4000)), write(agent, said.get(agent));
    else if (told.what === "output" && told.detail) write(agent, told.detail);
    else if (["done", "sent back", "failed", "started"].includes(told.what)) said.delete(agent), soon();
    const figures = card(agent) && $(".figures", card(agent));
    if (figures && told.tokens) figures.textContent = figures.textContent.replace(/ · [\d,]+ tokens so far$/, "") + ` · ${told.tokens.toLocaleString("en")} tokens so far`;
  }
  document.addEventListener("visibilitychange", () => (document.hidden ? rest() : listen()));
  addEventListener("pagehide", rest);
  addEventListener("pageshow", listen);
  listen();
}
const now = $("#now[data-run]");
if (now) follow(now);

// --- files by drop: they come into the field that is there without JavaScript ---
for (const place of $$("[data-drop]")) {
  const field = $("input[type=file]", place);
  place.addEventListener("dragover", event => { event.preventDefault(); place.classList.add("over"); });
  place.addEventListener("dragleave", () => place.classList.remove("over"));
  place.addEventListener("drop", event => {
    event.preventDefault();
    place.classList.remove("over");
    const all = new DataTransfer();
    for (const file of field.multiple ? [...field.files, ...event.dataTransfer.files] : [event.dataTransfer.files[0]]) if (file) all.items.add(file);
    field.files = all.files;
    field.dispatchEvent(new Event("change", { bubbles: true }));
  });
}

// --- the companion ---
// Where it talks: `talked` is drawn anew with each answer, `told` says meanwhile what it looks at.
async function ask({ place, url, body, field, button }) {
  const told = $(".told", place);
  if (!field.value.trim()) { field.focus(); return; }
  const asked = field.value;
  button.disabled = true;
  told.textContent = "It looks …";
  try {
    const answer = await fetch(url, { method: "POST", headers: { accept: "text/event-stream" }, body });
    if (!answer.ok) throw new Error(answer.status === 403 ? "You may not ask here." : "It could not be asked.");
    let rest = "", words = "", answered = false;
    for (const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      for (const part of parts) {
        const [, kind, data] = part.match(/^event: (.*)\ndata: (.*)$/s) || [];
        if (kind === "text") told.textContent = (words += JSON.parse(data)).slice(-2000);
        else if (kind === "output") told.textContent = JSON.parse(data);
        else if (kind === "refused") throw new Error(JSON.parse(data));
        else if (kind === "answer") show(place, JSON.parse(data)), answered = true;
      }
    }
    if (!answered) throw new Error("The answer did not come; what you asked is kept here.");
    told.textContent = "";
    if (field.value === asked) field.value = "";  // what was typed meanwhile stays
    else if (field.value.startsWith(asked)) field.value = field.value.slice(asked.length).trimStart();
  } catch (error) {
    told.textContent = error.message;
  } finally {
    button.disabled = false;
  }
}
function show(place, { html, draft, input, instructions }) {
  $(".talked", place).replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
  $("#last", place)?.scrollIntoView({ block: "nearest" });
  if (draft) $("[name=draft]").value = draft;
  const field = input && instructions && document.getElementsByName(`input.${input}`)[0];
  if (field && !field.value.trim()) field.value = instructions;
}
for (const place of $$("[data-companion]")) {
  const form = $$("form", place).pop();
  if (!form) continue;
  const field = $("textarea", form), button = $("button", form);
  form.addEventListener("submit", event => {
    event.preventDefault();
    ask({ place, url: place.dataset.companion, body: new URLSearchParams({ question: field.value }), field, button });
  });
  place.addEventListener("toggle", async () => {
    if (!place.open || $(".talked", place).children.length) return;
    const answer = await fetch(`${place.dataset.companion}/conversation`);
    if (answer.ok) show(place, { html: await answer.text() });
    field.focus();
  });
}
for (const place of $$("[data-drafting]")) {
  const button = $("button[value=ask]", place), field = $("[name=question]", place);
  button.addEventListener("click", event => {
    event.preventDefault();
    const body = new FormData(button.form);
    body.set("act", "ask");
    for (const [key, value] of [...body]) if (value instanceof File) body.delete(key); // they are sent with the start
    ask({ place, url: "/new", body, field, button });
  });
}
onKey("c", event => {
  const beside = $(".beside");
  if (beside) { event.preventDefault(); beside.open = !beside.open; }
});
