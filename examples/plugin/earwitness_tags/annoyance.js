// The page of annoyance trials: play one sound to its end, then press one of the answers.

import { button, heading, make, show } from "../../dom.js";
import { say } from "../../messages.js";
import { addPlayed, readDraft, Trial } from "../../trial.js";

/** Show a trial; `at` has the sounds, the draft and the answer callback of the page. */
export async function showTrial(view, at) {
  const draft = await readDraft(at, {});
  addPlayed(view, draft);
  if (at.left.aborted) return;
  const trial = new Trial(view, at, draft);
  const [{ name, prompt, options }] = view.questions;
  const answers = options.map(({ value, label }) => button(label, () => trial.finish({ [name]: value })));
  const play = button(say("play"), async () => {
    play.disabled = true;
    try {
      await trial.play(view.sounds[0].address, { question: name, sound: 0 }, () => {});
    } catch (error) {
      trial.tellFailure(error);
    }
    play.disabled = false;
    update();
  });
  const update = () => {
    for (const answer of answers) answer.disabled = !trial.endedPlays.length;
  };
  update();
  show(heading(view.title), make("section", { class: "card trial annoyance" },
    make("p", { class: "prompt" }, prompt), play, make("div", { class: "answers" }, answers)));
}
