// Leaving for good, after a question.

import { announce, button, make } from "./dom.js";
import { say } from "./words.js";

/** Ask whether somebody really wants to withdraw, then do it. */
export function askToWithdraw(act) {
  const said = make("p", { class: "said bad", role: "alert" });
  const really = button(say("withdraw_yes"), async () => {
    really.disabled = true;
    try {
      await act();
      box.close();
    } catch {
      said.textContent = say("withdraw_failed");
      really.disabled = false;
    }
  }, { class: "danger" });
  const stay = button(say("withdraw_no"), () => box.close(), { class: "main", autofocus: true });
  const box = make("dialog", { "aria-labelledby": "withdraw-title", close: () => box.remove() },
    make("h2", { id: "withdraw-title" }, say("withdraw_title")),
    make("p", {}, say("withdraw_told")), said, make("div", { class: "row" }, stay, really));
  document.body.append(box);
  box.showModal();
  announce(say("withdraw_title"));
}
