// The decision page, beyond plain forms: the button says what will be recorded, what is typed is kept, text that is
// selected can be remarked on, a page that is out of date says so. Nothing here decides.
import { $, $$, onKey } from "./cockpit.js";

const form = $("#decision"), say = $("#say"), base = form.action.replace(/\/decide$/, "");
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// --- the button ---
function tell() {
  const option = $("input[name=option]:checked"), notes = $$("#notes .note").length + (say && say.value.trim() ? 1 : 0);
  const anyway = form.elements.anyway ? ", in spite of what changed" : "";
  const text = !option ? "Choose an option" : `${option.value}${notes ? `, with ${plural(notes, "note")}` : ""}${anyway}`;
  $$("#do, #do2").forEach(at => { at.textContent = text; });
  $$(".btn.main").forEach(button => { button.disabled = !option || !$("#stale").hidden; });
}

// --- what is typed is kept on the server ---
let waits = 0, unkept = false;
async function keep() {
  unkept = false;
  const saved = $("#saved");
  try {
    const answer = await fetch(`${base}/draft`, { method: "POST", body: new FormData(form) });
    if (saved) saved.textContent = answer.ok ? "Draft saved." : "Draft not saved.";
  } catch {
    if (saved) saved.textContent = "Draft not saved: the server does not answer.";
  }
}
function soon() {
  unkept = true;
  clearTimeout(waits);
  waits = setTimeout(keep, 600);
}
document.addEventListener("input", event => { if (event.target.form === form) { tell(); soon(); } });
document.addEventListener("change", event => {
  const note = event.target.dataset.note;
  if (note) form.requestSubmit($(`button[value="change ${note}"]`));
  tell();
});
form.addEventListener("submit", () => { clearTimeout(waits); unkept = false; });
addEventListener("pagehide", () => { if (unkept) navigator.sendBeacon(`${base}/draft`, new FormData(form)); });

// --- keys: none of them alone decides ---
onKey("r", event => { event.preventDefault(); if (say) say.focus(); });
onKey("w", () => { location.hash = "documents"; });
onKey("n", () => { location.href = "/"; });
for (let key = 1; key <= 9; key++) {
  onKey(String(key), () => {
    const option = $(`input[data-key="${key}"]`);
    if (option && !option.disabled) { option.checked = true; option.focus(); tell(); soon(); }
  });
}
document.addEventListener("keydown", event => {
  const record = $("#record");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && record && !record.disabled) form.requestSubmit(record);
});

// --- text that is selected can be remarked on ---
const SAYS = { Comment: (quote) => `“${quote}”: `, Replace: (quote) => `Replace “${quote}” with “`,
  Delete: (quote) => `Delete “${quote}”.`, Insert: (quote) => `After “${quote}”, insert “` };
let menu = null;
function closeMenu() { if (menu) menu.remove(); menu = null; }
function lineOf(node) {
  const at = (node.nodeType === 1 ? node : node.parentElement).closest("[data-line]");
  if (!at || !at.dataset.line) return null;
  const lines = at.dataset.line.split("-").map(Number), breaks = $$("[data-at]", at); // where a line of the text ends
  if (!breaks.length) return lines;
  const passed = breaks.filter(one => one.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING);
  return [passed.length ? Number(passed[passed.length - 1].dataset.at) : lines[0]];
}
function remarkOn(word, quote, holder, first, last) {
  $("#note-path").value = holder.dataset.path, $("#note-version").value = holder.dataset.version;
  $("#note-first").value = first || "", $("#note-last").value = last || "";
  const before = say.value.trimEnd();
  say.value = (before ? `${before}\n` : "") + SAYS[word](quote);  // what was typed already stays
  closeMenu();
  say.focus();
  say.setSelectionRange(say.value.length, say.value.length);
  tell();
}
document.addEventListener("selectionchange", () => { if (getSelection().isCollapsed) closeMenu(); });
document.addEventListener("mouseup", offer);
document.addEventListener("keyup", event => { if (event.shiftKey) offer(); });
function within(range) {
  menu = document.createElement("p");
  menu.className = "mark-menu", menu.setAttribute("role", "status");
  menu.textContent = "To remark on text, select it within one document.";
  document.body.append(menu);
  const place = range.getBoundingClientRect();
  menu.style.left = `${Math.max(8, place.left + scrollX)}px`, menu.style.top = `${Math.max(8, place.top + scrollY - 40)}px`;
}
function offer() {
  const selection = getSelection(), quote = selection.toString().trim().replace(/\s+/g, " ").slice(0, 200);
  if (!say || !quote || selection.isCollapsed) return;
  const range = selection.getRangeAt(0), node = range.commonAncestorContainer;
  const holder = (node.nodeType === 1 ? node : node.parentElement).closest("[data-path]");
  if (menu) return;
  if (!holder) { if ($$("[data-path]").some(one => range.intersectsNode(one))) within(range); return; }
  const from = lineOf(range.startContainer), to = lineOf(range.endContainer);
  menu = document.createElement("div");
  menu.className = "mark-menu";
  menu.setAttribute("role", "toolbar");
  menu.setAttribute("aria-label", "Remark on the selected text");
  for (const word of Object.keys(SAYS)) {
    const button = document.createElement("button");
    button.type = "button", button.className = "btn small", button.textContent = word;
    button.addEventListener("mousedown", event => event.preventDefault());
    button.addEventListener("click", () => remarkOn(word, quote, holder, from && from[0], to && to[to.length - 1]));
    menu.append(button);
  }
  const box = range.getBoundingClientRect();
  document.body.append(menu);
  menu.style.left = `${Math.max(8, box.left + scrollX)}px`;
  menu.style.top = `${Math.max(8, box.top + scrollY - menu.offsetHeight - 6)}px`;
}

// --- a page that is out of date says so ---
async function look() {
  if (document.hidden) return;
  try {
    const answer = await fetch(`${base}/version`), found = answer.ok ? await answer.json() : null;
    if (found && found.version !== form.elements.version.value) { $("#stale").hidden = false; tell(); }
  } catch { /* the server is away: what was typed stays on the page */ }
}
setInterval(look, 15000);
document.addEventListener("visibilitychange", look);
tell();
