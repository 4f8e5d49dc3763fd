// Addresses and preloading of the sounds of the open page and of the next trial.

/** @import { Sounds } from "./sound.js" */
/** @import { State, View } from "./types.d.ts" */
/** @import { Volume } from "./volume.js" */

/** The address of a sound or recording below this link, whatever its original prefix.
 * @param {string} address
 * @param {string} link
 * @param {"/sound/" | "/recording/"} part */
const below = (address, link, part = "/sound/") => link + address.slice(address.indexOf(part));

/** The view with addresses of sounds and of its recording below this link.
 * @param {View} view
 * @param {string} link */
export function resolved(view, link) {
  const sounds = view.sounds?.map((one) => ({ ...one, address: below(one.address, link) }));
  const { recording } = view;
  return { ...view, ...(sounds ? { sounds } : {}),
    ...(recording ? { recording: { ...recording, address: below(recording.address, link, "/recording/") } } : {}) };
}

/** Decode the sounds of this trial, then of the next.
 * @param {Sounds} sounds
 * @param {Volume} volume
 * @param {State} state
 * @param {string} link */
export async function preload(sounds, volume, state, link) {
  const own = (state.page?.sounds ?? []).map((one) => below(one.address, link));
  const ahead = (state.ahead ?? []).map((one) => below(one, link));
  sounds.keep([...own, ...ahead]);
  try {
    if (own.length) sounds.setLevel(volume.get() ?? state.level ?? 0);
    await Promise.all(own.map((one) => sounds.load(one)));
    await Promise.all(ahead.map((one) => sounds.load(one)));
  } catch {
    // the trial requests them again and shows the error
  }
}
