// An option that is chosen by a key comes into view with all that is said for and against it.
import { $ } from "./cockpit.js";

document.addEventListener("keyup", event => {
  const option = /^[1-9]$/.test(event.key) && $(".opt > input:checked"), rail = $("#rail");
  if (!option || document.activeElement !== option || rail.scrollHeight <= rail.clientHeight) return;
  const more = option.closest(".opt").nextElementSibling, above = option.getBoundingClientRect().top - rail.getBoundingClientRect().top;
  const hidden = more.getBoundingClientRect().bottom - $(".foot").getBoundingClientRect().top;
  if (hidden > 0) rail.scrollTop += Math.min(hidden, above);
});
