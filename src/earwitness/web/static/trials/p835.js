// P.835: the same sound for speech, background and whole, in the listener's order.

export { showSingle as show } from "./single.js";
