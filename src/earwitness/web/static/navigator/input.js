// Mouse, touch, wheel and keys of the navigator.

/** @import { Navigator } from "./navigator.js" */

const DRAG = 4; // pixels by which a drag differs from a click
const HOLD = 450; // milliseconds after which a finger selects
const WHEEL = 0.0022; // of the logarithm of the zoom, per pixel
const LINE = 16; // pixels per line of a wheel
const TEXT = "input:not([type=range]), select, textarea";
const PRESSED = "button, summary, [type=range]";

/** @typedef {"press" | "select" | "pan" | "pinch"} Mode */

/** Pointers and wheel on the view.
 * @param {Navigator} navigator */
export function listenToPointers(navigator) {
  const { stage } = navigator;
  /** @type {Map<number, { x: number, y: number }>} */
  const pointers = new Map();
  /** @type {Mode | null} */
  let mode = null;
  let [startX, startTime, holds] = [0, 0, 0];
  let view = { start: 0, seconds: 1 };
  let [pinchTime, pinchWidth] = [0, 1];
  const { view: element } = stage;

  const pinchOf = () => {
    const [first, second] = [...pointers.values()];
    return { x: (first.x + second.x) / 2, width: Math.max(20, Math.abs(first.x - second.x)) };
  };

  /** @param {PointerEvent} event */
  const down = (event) => {
    if (event.pointerType === "mouse" && event.button > 1) return;
    element.focus({ preventScroll: true });
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    element.setPointerCapture(event.pointerId);
    [startX, startTime, view] = [event.clientX, stage.timeAt(event.clientX), { ...navigator.view }];
    clearTimeout(holds);
    if (pointers.size > 1) {
      mode = "pinch";
      const { x, width } = pinchOf();
      [pinchTime, pinchWidth] = [stage.timeAt(x), width];
      return;
    }
    const part = stage.partAt(event.clientY);
    const pans = event.button === 1 || event.altKey || part === "axis";
    mode = pans ? "pan" : "press";
    if (event.button === 1) event.preventDefault();
    if (mode === "press" && part === "picture") {
      navigator.prepare(startTime);
      if (event.pointerType === "touch") holds = setTimeout(() => (mode = mode === "press" ? "select" : mode), HOLD);
    }
  };

  /** @param {PointerEvent} event */
  const move = (event) => {
    const pointer = pointers.get(event.pointerId);
    if (!pointer) return navigator.hover(stage.partAt(event.clientY) === "axis" ? null : event);
    Object.assign(pointer, { x: event.clientX, y: event.clientY });
    const moved = event.clientX - startX;
    if (mode === "press" && Math.abs(moved) > DRAG * (event.pointerType === "touch" ? 2 : 1)) {
      clearTimeout(holds);
      mode = event.pointerType === "touch" ? "pan" : "select";
    }
    if (mode === "select") navigator.select(startTime, stage.timeAt(event.clientX));
    if (mode === "pan") navigator.zoomTo(view.start - (moved / stage.area.width) * view.seconds, view.seconds);
    if (mode === "pinch" && pointers.size === 2) pinch();
    return undefined;
  };

  const pinch = () => {
    const { x, width } = pinchOf();
    const seconds = navigator.limited((view.seconds * pinchWidth) / width);
    const { left, width: whole } = stage.area;
    const place = (x - element.getBoundingClientRect().left - left) / whole;
    navigator.zoomTo(pinchTime - place * seconds, seconds);
  };

  /** @param {PointerEvent} event */
  const up = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    clearTimeout(holds);
    const ended = mode;
    if (pointers.size) return;
    mode = null;
    if (event.type === "pointercancel" || ended !== "press") return;
    if (stage.partAt(event.clientY) === "labels") navigator.choose(stage.labelAt(event.clientX, event.clientY), true);
    else if (event.shiftKey) navigator.select(navigator.selection?.[0] ?? navigator.cursor, startTime);
    else navigator.playFrom(startTime);
  };

  /** @param {WheelEvent} event */
  const wheel = (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? LINE : event.deltaMode === 2 ? LINE * 20 : 1;
    const [across, along] = [event.deltaX * unit, event.deltaY * unit];
    const sideways = event.shiftKey ? across || along : Math.abs(across) > Math.abs(along) ? across : 0;
    const { start, seconds } = navigator.view;
    if (sideways && !event.ctrlKey) navigator.zoomTo(start + (sideways / stage.area.width) * seconds, seconds);
    else navigator.zoom(Math.exp(along * WHEEL * (event.ctrlKey ? 4 : 1)), stage.timeAt(event.clientX));
  };

  element.addEventListener("pointerdown", down);
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", up);
  element.addEventListener("pointercancel", up);
  element.addEventListener("pointerleave", () => navigator.hover(null));
  element.addEventListener("wheel", wheel, { passive: false });
  element.addEventListener("dblclick", (event) => {
    const label = stage.labelAt(event.clientX, event.clientY, stage.partAt(event.clientY) === "labels");
    if (label) navigator.choose(label, true);
  });
}

/** The frame of the overview: drag it, or press anywhere to move it there.
 * @param {Navigator} navigator */
export function listenToOverview(navigator) {
  const { overview } = navigator.stage;
  let grabbed = 0; // seconds between the pointer and the start of the view
  let isDown = false;
  /** @param {PointerEvent} event */
  const timeOf = (event) => {
    const box = overview.getBoundingClientRect();
    return ((event.clientX - box.left) / box.width) * navigator.info.seconds;
  };
  overview.addEventListener("pointerdown", (event) => {
    const { start, seconds } = navigator.view;
    const time = timeOf(event);
    isDown = true;
    event.preventDefault();
    navigator.stage.view.focus({ preventScroll: true }); // keys go on working
    overview.setPointerCapture(event.pointerId);
    grabbed = time >= start && time <= start + seconds ? time - start : seconds / 2;
    navigator.zoomTo(time - grabbed, seconds);
  });
  overview.addEventListener("pointermove", (event) => {
    if (isDown) navigator.zoomTo(timeOf(event) - grabbed, navigator.view.seconds);
  });
  for (const name of ["pointerup", "pointercancel"]) overview.addEventListener(name, () => (isDown = false));
  overview.addEventListener("wheel", (event) => {
    event.preventDefault();
    navigator.zoom(Math.exp(event.deltaY * WHEEL), navigator.view.start + navigator.view.seconds / 2);
  }, { passive: false });
}

/** Keys that work in the whole component, except in fields.
 * @type {Record<string, (navigator: Navigator) => unknown>} */
const ANYWHERE = {
  "+": (navigator) => navigator.zoom(0.5),
  "=": (navigator) => navigator.zoom(0.5),
  "-": (navigator) => navigator.zoom(2),
  "−": (navigator) => navigator.zoom(2),
  0: (navigator) => navigator.zoomWhole(),
  e: (navigator) => navigator.zoomSelection(),
  l: (navigator) => navigator.loop(),
  n: (navigator) => navigator.step(1),
  p: (navigator) => navigator.step(-1),
  x: (navigator) => navigator.excerpt(),
};
/** @type {Record<string, (navigator: Navigator) => unknown>} */
const WITH_CONTROL = { 1: ANYWHERE["+"], 3: ANYWHERE["-"], e: ANYWHERE.e };
/** Keys that buttons and sliders use themselves.
 * @type {Record<string, (navigator: Navigator, extends_: boolean) => unknown>} */
const ON_VIEW = {
  " ": (navigator) => navigator.toggle(),
  ArrowLeft: (navigator, extends_) => navigator.move(-1, extends_),
  ArrowRight: (navigator, extends_) => navigator.move(1, extends_),
  Home: (navigator, extends_) => navigator.moveTo(0, extends_),
  End: (navigator, extends_) => navigator.moveTo(navigator.info.seconds, extends_),
  PageUp: (navigator) => navigator.hour(-1),
  PageDown: (navigator) => navigator.hour(1),
};

/** @param {Navigator} navigator */
export function listenToKeys(navigator) {
  const { element, stage } = navigator;
  let tabLeaves = false;

  /** @param {KeyboardEvent} event */
  const act = (event) => {
    const target = event.target instanceof Element ? event.target : element;
    if (event.altKey || event.isComposing || target.matches(TEXT)) return false;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key === "n" || key === "p") tabLeaves = false;
    if (event.ctrlKey || event.metaKey) return run(WITH_CONTROL[key] ?? WITH_CONTROL[digitOf(event)]);
    if (ANYWHERE[key]) return run(ANYWHERE[key]);
    if (target.matches(PRESSED)) return false;
    if (key === "Tab" && target === stage.view) return !tabLeaves && navigator.step(event.shiftKey ? -1 : 1);
    if (key === "Escape") {
      tabLeaves = true;
      navigator.clear();
      return true;
    }
    const move = ON_VIEW[key];
    if (move) move(navigator, event.shiftKey);
    return Boolean(move);
  };

  /** @param {((navigator: Navigator) => unknown) | undefined} action */
  const run = (action) => {
    action?.(navigator);
    return Boolean(action);
  };

  element.addEventListener("keydown", (event) => {
    if (act(event)) event.preventDefault();
  }, { signal: navigator.closed.signal });
  stage.view.addEventListener("blur", () => (tabLeaves = false));
}

/** @param {KeyboardEvent} event */
const digitOf = ({ code }) => /^Digit(\d)$/.exec(code)?.[1] ?? "";
