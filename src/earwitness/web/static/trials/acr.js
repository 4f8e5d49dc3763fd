// ACR: one sound, one rating.

export { showSingle as show } from "./single.js";
