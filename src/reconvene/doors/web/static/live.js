// Parts of a page that follow what happens: after each event the server draws them anew. What is typed, opened or in
// focus there stays. A page that nobody looks at does not listen: browsers have few connections to one server.
import { $, $$ } from "./cockpit.js";

const SOON = 300, NOT_OFTENER = 1500; // milliseconds after an event, and between two looks
const parts = $$("[data-live]"), run = parts[0]?.dataset.live; // "" = all runs
let source = null, due = 0, last = 0, busy = false;

const here = node => parts.some(part => part.contains(node));
const inUse = () => parts.some(part => $("details[open]", part))
  || here(document.activeElement) && document.activeElement.matches("input, textarea, select");
const typed = () => $$("main textarea").some(one => one.value.trim() && !here(one));

function soon() {
  clearTimeout(due);
  due = setTimeout(draw, Math.max(SOON, last + NOT_OFTENER - Date.now()));
}
async function draw() {
  if (busy || inUse()) { soon(); return; }
  busy = true;
  try {
    const answer = await fetch(location.href.split("#")[0]);
    last = Date.now();
    if (answer.ok) put(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch { /* the server is away: the page stays as it is, and the stream comes back by itself */
  } finally { busy = false; }
}
function put(page) {
  const drawn = parts.map(part => page.getElementById(part.id)), arrived = $("#arrived");
  if (inUse()) soon();
  else if (drawn.every(Boolean)) { parts.forEach((part, at) => swap(part, drawn[at])); document.title = page.title; }
  else if (arrived && typed()) arrived.hidden = false; // it is another page now, and words are on this one
  else location.replace(location.href.split("#")[0]); // not reload: that would send a form again
}
function swap(part, drawn) {
  if (drawn.innerHTML === part.innerHTML) return;
  const held = part.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  part.replaceChildren(...drawn.childNodes);
  if (held) $$("a", part).find(link => link.getAttribute("href") === held)?.focus();
}

function listen() {
  if (source || document.hidden) return;
  source = new EventSource("/api/v1/stream");
  source.addEventListener("change", event => { if (!run || JSON.parse(event.data).run === run) soon(); });
  source.addEventListener("ended", rest);
  source.onopen = soon; // what came while nobody listened
}
function rest() {
  if (source) source.close();
  source = null;
}
if (parts.length) {
  document.addEventListener("visibilitychange", () => (document.hidden ? rest() : listen()));
  addEventListener("pagehide", rest);
  addEventListener("pageshow", listen);
  listen();
}
