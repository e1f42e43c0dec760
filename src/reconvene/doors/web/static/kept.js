// What is typed in a box of its own stays in this tab until it is sent: when one follows a link, or the server is away.
// The decision page takes over what was typed for those at work.
import { $$ } from "./cockpit.js";

export const held = name => sessionStorage.getItem(name) || "";
for (const box of $$("[data-kept]")) {
  const name = box.dataset.kept;
  if (!box.value) box.value = held(name);
  box.addEventListener("input", () => { try { sessionStorage.setItem(name, box.value); } catch { /* no room */ } });
  box.form.addEventListener("submit", async event => {
    event.preventDefault();  // nothing is given up before the server has it
    const to = (event.submitter && event.submitter.getAttribute("formaction")) || box.form.action;
    try {
      const body = new URLSearchParams(new FormData(box.form));
      const answer = await fetch(to, { method: "POST", body, signal: AbortSignal.timeout(15000) });
      if (answer.ok) { sessionStorage.removeItem(name); location.href = answer.url; return; }
      say(answer.status === 401 ? "Your token no longer holds: enter again in another tab." : `It was refused (${answer.status}).`);
    } catch { say("The server does not answer."); }
  });
  function say(why) {
    let at = box.form.querySelector("[role=status]");
    if (!at) { at = document.createElement("p"); at.className = "sub"; at.setAttribute("role", "status"); box.form.append(at); }
    at.textContent = `Not sent. ${why} What you typed stays here.`;
  }
}
