// What JavaScript adds to every page: the theme without a new page, keys, and the list of keys. Pages work without it.
export const $ = (query, root = document) => root.querySelector(query);
export const $$ = (query, root = document) => [...root.querySelectorAll(query)];

const KEYS = [
  ["j  k", "next, previous run or section"], ["Enter", "open"], ["1 … 9", "choose an option (nothing is sent)"],
  ["Ctrl Enter", "record the chosen option"], ["r", "write a remark"], ["w", "what changed, in the documents"],
  ["c", "ask the companion"], ["n", "next run in the inbox"], ["/", "search"], ["g i", "to the inbox"], ["?", "this list"],
];

function showKeys() {
  let dialog = $("#keys");
  if (!dialog) {
    dialog = document.createElement("dialog");
    dialog.id = "keys";
    dialog.setAttribute("aria-labelledby", "keys-title");
    const title = document.createElement("h2"), list = document.createElement("dl"), close = document.createElement("button");
    title.id = "keys-title", title.textContent = "Keys";
    for (const [key, what] of KEYS) {
      const term = document.createElement("dt"), kbd = document.createElement("kbd"), told = document.createElement("dd");
      kbd.textContent = key, told.textContent = what;
      term.append(kbd), list.append(term, told);
    }
    close.className = "btn", close.textContent = "Close", close.autofocus = true;
    close.onclick = () => dialog.close();
    dialog.append(title, list, close), document.body.append(dialog);
  }
  dialog.showModal();
}

function changeTheme(event) {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  document.cookie = `theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=lax`;
  event.preventDefault();
}

const acts = { keys: showKeys, theme: changeTheme };
document.addEventListener("click", event => {
  const at = event.target.closest("[data-act]");
  if (at && acts[at.dataset.act]) acts[at.dataset.act](event);
});

// Keys that pages add: name → what to do. A page's own module calls onKey.
const own = new Map();
export const onKey = (key, act) => own.set(key, act);

let before = "";
document.addEventListener("keydown", event => {
  if (event.target.matches("input:not([type=radio], [type=checkbox]), textarea, select")) return;
  if (event.ctrlKey || event.metaKey || event.altKey || $("dialog[open]")) return;
  const places = $$("[data-step]"), now = places.indexOf(document.activeElement);
  const step = by => { const to = places[Math.max(0, Math.min(places.length - 1, now + by))]; if (to) to.focus(); };
  const both = before + event.key;
  before = event.key === "g" ? "g" : "";
  if (both === "gi") location.href = "/";
  else if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (event.key === "?") showKeys();
  else if (event.key === "/" && $("[type=search]")) { event.preventDefault(); $("[type=search]").focus(); }
  else if (own.has(event.key)) own.get(event.key)(event);
});
$$("[data-act=keys]").forEach(button => { button.hidden = false; });
