// What is typed in a box of its own stays in this tab until it is sent: when one follows a link, or the server is away.
// The decision page takes over what was typed for those at work.
import { $$ } from "./cockpit.js";

export const held = name => sessionStorage.getItem(name) || "";
for (const box of $$("[data-kept]")) {
  const name = box.dataset.kept;
  if (!box.value) box.value = held(name);
  box.addEventListener("input", () => { try { sessionStorage.setItem(name, box.value); } catch { /* no room */ } });
  box.form.addEventListener("submit", () => sessionStorage.removeItem(name));
}
