// The decision page, beyond plain forms: the button says what will be recorded, what is typed is kept on the server and,
// until it has it, in this tab; text that is selected can be remarked on; a page that is out of date says so. Nothing
// here decides.
import { $, $$, onKey } from "./cockpit.js";
import { held } from "./kept.js";

const form = $("#decision"), say = $("#say"), base = form.action.replace(/\/decide$/, ""), given = form.elements;
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const saved = text => { const at = $("#saved"); if (at) at.textContent = text; };
let away = false;  // the server does not answer

// --- the button, and the line above it ---
function tell() {
  const option = $("input[name=option]:checked"), notes = $$("#notes .note").length + (say && say.value.trim() ? 1 : 0);
  const anyway = given.anyway ? ", in spite of what changed" : "";
  const text = away ? "The server does not answer" : !option ? "Choose an option"
    : `${option.value}${notes ? `, with ${plural(notes, "note")}` : ""}${anyway}`;
  $$("#do, #do2").forEach(at => { at.textContent = text; });
  $$(".btn.main").forEach(button => { button.disabled = away || !option || !$("#stale").hidden; });
  if (say) $("#send").textContent = `Send now${notes ? `: ${plural(notes, "note")}` : ""}`;
  const goes = notes ? `Goes with ${plural(notes, "note")}, to every later agent.` : "";
  $("#with").textContent = away ? "Nothing can be recorded now. What you typed stays here." : goes;
}

// --- what is typed is kept on the server; until it has it, in this tab ---
const COPY = `typed ${form.dataset.who} ${base} ${given.checkpoint.value}`;
const typable = () => [...given].filter(at => at.name && !at.readOnly && at.matches("textarea, input:not([type=hidden])"));
const isMark = at => at.matches("[type=radio], [type=checkbox]");
const valueOf = at => isMark(at) ? at.checked : at.value, cameWith = at => isMark(at) ? at.defaultChecked : at.defaultValue;
const which = at => at.type === "radio" || at.type === "checkbox" ? at.value : "";
const atServer = new Map();  // what the server has of each: what the page came with, or what was saved last
const nowAtServer = get => typable().forEach(at => atServer.set(`${at.name} ${which(at)}`, get(at)));
let waits = 0, changes = 0, unkept = false, working = Promise.resolve();
nowAtServer(cameWith);
const typedBefore = typable().some(at => valueOf(at) !== cameWith(at));  // while this script was on its way

function copy() {
  const found = typable().map(at => [at.name, which(at), valueOf(at), atServer.get(`${at.name} ${which(at)}`)]);
  try { sessionStorage.setItem(COPY, JSON.stringify(found)); } catch { /* it has no room: the server has what it has */ }
}
function restore() {
  const found = JSON.parse(sessionStorage.getItem(COPY) || "[]");
  sessionStorage.removeItem(COPY);
  let more = false;
  for (const [name, value, was, before] of found) {
    const at = typable().find(one => one.name === name && (!value || one.value === value));
    if (!at || valueOf(at) === was) continue;
    if (typeof was === "string" && at.value === before) { at.value = was; more = true; continue; }  // it was replaced here
    if (typeof was === "boolean") { if (was && !at.disabled) { at.checked = true; more = true; } }
    else if (was.trim() && !at.value.includes(was)) {
      at.value = !at.value.trim() || was.includes(at.value) ? was : `${at.value}\n${was}`;
      more = true;
    }
  }
  const work = `said ${form.dataset.who} ${form.dataset.run}`, before = held(work);  // typed while agents were at work
  if (before.trim() && say && !say.value.includes(before)) {
    say.value = say.value.trim() ? `${say.value}\n${before}` : before;
    more = true;
  }
  sessionStorage.removeItem(work);
  if (more) { soon(); saved("What the server had not got was still here."); }
}
const keep = () => (working = working.then(save, save));
async function save() {
  clearTimeout(waits);
  const upTo = changes;
  try {
    const answer = await fetch(`${base}/draft`, { method: "POST", body: new FormData(form), signal: AbortSignal.timeout(15000) });
    away = false;
    if (answer.ok) {
      const found = await answer.json();
      given.draft.value = found.draft;
      if (found.same_notes) given.noted.value = found.noted; else late(["You changed your notes in another tab."]);
      $("#elsewhere").hidden = !found.elsewhere;
      $("#elsewhere-words").textContent = found.elsewhere;
      if (upTo === changes) { unkept = false; sessionStorage.removeItem(COPY); nowAtServer(valueOf); }
    }
    saved(answer.ok ? "Draft saved." : answer.status === 401
      ? "Draft not saved: your token no longer holds. What you typed stays here; enter again in another tab."
      : "Draft not saved. What you typed stays here.");
  } catch {
    away = true;
    saved("Draft not saved: the server does not answer.");
  }
  tell();
}
function soon() {
  unkept = true, changes += 1;
  copy();
  clearTimeout(waits);
  waits = setTimeout(keep, 600);
}
document.addEventListener("input", event => { if (event.target.form === form) { tell(); soon(); } });
document.addEventListener("change", event => {
  const note = event.target.dataset.note;
  if (note) form.requestSubmit($(`button[value="change ${note}"]`));
  tell();
});

// --- nobody leaves before it is kept, and nothing is sent to a server that does not answer ---
let going = false;
async function kept() { do await keep(); while (unkept && !away && $("#saved").textContent === "Draft saved."); }
document.addEventListener("submit", async event => {
  if (going || event.defaultPrevented || (event.target !== form && !unkept)) return;
  event.preventDefault();
  await kept();
  if (away) return;
  going = true;
  event.target.requestSubmit(event.submitter);
});
document.addEventListener("click", async event => {
  const link = event.target.closest("a[href]");
  if (!link || !unkept || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || link.target) return;
  if (link.pathname === location.pathname && link.search === location.search && link.hash) return;
  event.preventDefault();
  await kept();
  location.href = link.href;
});
addEventListener("pagehide", () => { if (unkept) navigator.sendBeacon(`${base}/draft`, new FormData(form)); });
addEventListener("pageshow", event => { going = false; if (event.persisted) location.reload(); });

// --- keys: none of them alone decides ---
onKey("r", event => {
  event.preventDefault();
  if (say) { say.focus(); say.setSelectionRange(say.value.length, say.value.length); }
});
onKey("w", () => { location.hash = "documents"; });
onKey("n", () => { const link = document.createElement("a"); link.href = "/"; document.body.append(link); link.click(); });
for (let key = 1; key <= 9; key++) {
  onKey(String(key), () => {
    const option = $(`input[data-key="${key}"]`);
    if (option && !option.disabled) { option.checked = true; option.focus(); tell(); soon(); }
  });
}
document.addEventListener("keydown", event => {
  const record = $("#record");
  if (event.key === "Escape" && event.target.matches("textarea, input.field")) { event.target.blur(); undock(); }
  if (event.key !== "Enter") return;
  const other = event.target.form && event.target.form !== form ? event.target.form : null;
  if (event.ctrlKey || event.metaKey) {
    if (other) { event.preventDefault(); other.requestSubmit(); }  // what one types there is for whom it is typed to
    else if (record && !record.disabled) form.requestSubmit(record);
  } else if (event.target.matches("input[name=option]")) {  // an option is chosen; the button is pressed by itself
    event.preventDefault();
    if (record) record.focus();
  }
});

// --- text that is selected can be remarked on, where one reads it ---
const SAYS = { Comment: quote => [`“${quote}”: `, ""], Replace: quote => [`Replace “${quote}” with “`, "”."],
  Delete: quote => [`Delete “${quote}”.`, ""], Insert: quote => [`After “${quote}”, insert “`, "”."] };
const PLACE = `place ${base}`;
const box = $("#your-words");
let menu = null;
function closeMenu() { if (menu) menu.remove(); menu = null; }
function undock() { if (box) box.classList.remove("docked"); }
function lineOf(node) {
  const at = (node.nodeType === 1 ? node : node.parentElement).closest("[data-line]");
  if (!at || !at.dataset.line) return null;
  const lines = at.dataset.line.split("-").map(Number), breaks = $$("[data-at]", at); // where a line of the text ends
  if (!breaks.length) return lines;
  const passed = breaks.filter(one => one.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING);
  return [passed.length ? Number(passed[passed.length - 1].dataset.at) : lines[0]];
}
function about(path, version, first, last) {
  $("#note-path").value = path, $("#note-version").value = version;
  $("#note-first").value = first || "", $("#note-last").value = last || "";
  $("#about").hidden = !path;
  $("#about-what").textContent = path + (first ? `:${first}${last > first ? `-${last}` : ""}` : "");
}
const NEXT = `next note ${base}`;
function remarkOn(word, quote, holder, first, last) {
  const place = [$("#note-path"), $("#note-first"), $("#note-last")].map(at => at.value).join("\n");
  const wanted = [holder.dataset.path, first || "", last || ""].join("\n");
  if ($("#note-path").value && say.value.trim() && place !== wanted) {  // what stands there is a note of its own
    sessionStorage.setItem(NEXT, JSON.stringify([word, quote, holder.dataset.path, holder.dataset.version, first, last]));
    sessionStorage.setItem(PLACE, String(scrollY));
    closeMenu();
    form.requestSubmit($("#add"));
    return;
  }
  write(word, quote, holder.dataset.path, holder.dataset.version, first, last);
}
function write(word, quote, path, version, first, last) {
  about(path, version, first, last);
  const before = say.value.trimEnd(), [head, tail] = SAYS[word](quote);
  say.value = (before ? `${before}\n` : "") + head + tail;  // what was typed already stays
  closeMenu();
  box.classList.add("docked");
  say.focus({ preventScroll: true });
  say.setSelectionRange(say.value.length - tail.length, say.value.length - tail.length);
  tell(), soon();
}
if (box) {
  $("#not-about").addEventListener("click", event => { event.preventDefault(); about("", "", 0, 0); undock(); });
  $("#add").addEventListener("click", () => { if (box.matches(".docked")) sessionStorage.setItem(PLACE, String(scrollY)); });
}
document.addEventListener("selectionchange", () => { if (getSelection().isCollapsed) closeMenu(); });
document.addEventListener("mouseup", offer);
document.addEventListener("keyup", event => { if (event.shiftKey) offer(event); });
function within(range) {
  menu = document.createElement("p");
  menu.className = "mark-menu", menu.setAttribute("role", "status");
  menu.textContent = "To remark on text, select it within one document.";
  document.body.append(menu);
  const place = range.getBoundingClientRect();
  menu.style.left = `${Math.max(8, place.left + scrollX)}px`, menu.style.top = `${Math.max(8, place.top + scrollY - 40)}px`;
}
function lastOf(range) {  // a selection may end before the first letter of what follows it
  if (range.endOffset > 0 || range.endContainer === range.startContainer) return range.endContainer;
  const walk = document.createTreeWalker(range.commonAncestorContainer, NodeFilter.SHOW_TEXT);
  let last = range.startContainer;
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    if (node === range.endContainer || range.comparePoint(node, 0) > 0 || range.endContainer.contains(node)) break;
    if (range.intersectsNode(node) && node.data.trim()) last = node;
  }
  return last;
}
function offer(event) {
  if (menu && event && menu.contains(event.target)) return;
  closeMenu();  // it was about what was selected before: a third click selects more than the second
  const selection = getSelection(), quote = selection.toString().trim().replace(/\s+/g, " ");
  if (!say || !quote || selection.isCollapsed) return;
  const range = selection.getRangeAt(0), node = range.commonAncestorContainer;
  const holder = (node.nodeType === 1 ? node : node.parentElement).closest("[data-path]");
  if (!holder) { if ($$("[data-path]").some(one => range.intersectsNode(one))) within(range); return; }
  const from = lineOf(range.startContainer), to = lineOf(lastOf(range));
  const said = quote.length <= 600 ? quote : `${quote.slice(0, 200)} […] ${quote.slice(-200)}`;  // of much: both ends
  menu = document.createElement("div");
  menu.className = "mark-menu";
  menu.setAttribute("role", "toolbar");
  menu.setAttribute("aria-label", "Remark on the selected text");
  for (const word of Object.keys(SAYS)) {
    const button = document.createElement("button");
    button.type = "button", button.className = "btn small", button.textContent = word;
    button.addEventListener("mousedown", event => event.preventDefault());
    button.addEventListener("click", () => remarkOn(word, said, holder, from && from[0], to && to[to.length - 1]));
    menu.append(button);
  }
  const place = range.getBoundingClientRect();
  document.body.append(menu);
  menu.style.left = `${Math.max(8, place.left + scrollX)}px`;
  menu.style.top = `${Math.max(8, place.top + scrollY - menu.offsetHeight - 6)}px`;
}

// --- a page that is out of date says what changed ---
function late(told) {
  const list = $("#stale-told");
  list.replaceChildren(...told.map(text => { const at = document.createElement("li"); at.textContent = text; return at; }));
  $("#stale").hidden = false;
  tell();
}
const look = () => (working = working.then(looked, looked));
async function looked() {
  if (document.hidden) return;
  const asked = new URLSearchParams({ version: given.version.value, seq: given.seq.value });
  try {
    const answer = await fetch(`${base}/version?${asked}`, { signal: AbortSignal.timeout(15000) });
    const found = answer.ok ? await answer.json() : null, was = away;
    away = false;
    if (found && found.version !== given.version.value) late(found.told);
    else if (found && String(found.noted) !== given.noted.value) late(["You changed your notes in another tab."]);
    if (was && unkept) setTimeout(keep);
  } catch { away = true; }
  tell();
}
let source = null, due = 0;
function listen() {  // only while somebody looks: browsers have few connections to one server
  if (source || document.hidden) return;
  source = new EventSource(`/api/v1/runs/${encodeURIComponent(form.dataset.run)}/stream?after=${given.seq.value}`);
  source.addEventListener("event", () => { if ($("#stale").hidden) { clearTimeout(due); due = setTimeout(look, 300); } });
  source.addEventListener("ended", rest);
}
function rest() { if (source) source.close(); source = null; }
setInterval(look, 15000);  // also where the stream does not come through
setInterval(() => { if (away) look(); }, 3000);
document.addEventListener("visibilitychange", () => { if (document.hidden) rest(); else listen(); look(); });
addEventListener("pagehide", rest);
listen();
restore();
if (typedBefore) soon();
const next = box && sessionStorage.getItem(NEXT);
sessionStorage.removeItem(NEXT);
if (next) write(...JSON.parse(next));
tell();
const place = sessionStorage.getItem(PLACE);
sessionStorage.removeItem(PLACE);
if (place) addEventListener("load", () => scrollTo(0, Number(place)));
