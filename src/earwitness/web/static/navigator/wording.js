// English texts of the navigator; a study replaces them by its own language.

export const WORDING = {
  spectrogram: "Spectrogram",
  spectrogram_help: "Arrow keys move the cursor, Space plays, plus and minus zoom. "
    + "Tab goes from label to label; press Escape to leave with Tab.",
  loading: "Opening the recording…",
  play: "Play",
  pause: "Pause",
  excerpt: "2 s",
  excerpt_help: "Play 2 seconds at the cursor",
  loop: "Loop",
  loop_help: "Repeat the selection",
  loop_needs: "Select a part first: drag across the spectrogram, or press Shift and an arrow key.",
  volume: "Volume",
  zoom_in: "Zoom in",
  zoom_out: "Zoom out",
  zoom_selection_help: "Zoom to the selection",
  zoom_whole_help: "Show the whole recording",
  hour_before: "Previous hour",
  hour_after: "Next hour",
  go_to: "Go to",
  go: "Go",
  no_time: "{text} is not a time of this recording. Write a time such as {example}.",
  range: "{start} – {end} · {length}",
  cursor: "Cursor at {time}",
  selected: "Selected: {start} to {end}, {length}",
  playing: "Playing from {time}",
  paused: "Paused at {time}",
  label: "{text}, {time}, {length}, {number} of {count} in {overlay}",
  labels: "Labels ({count})",
  labels_in_view: "Too many labels to list: the list shows those in view, at most {count}.",
  labels_find: "Find a label",
  no_label: "No label here",
  display: "Display",
  view: "View",
  view_levels: "Levels",
  view_colour: "False colour",
  colour_far: "False colour exists for long ranges only; this range is shown as levels.",
  colour_red: "red: acoustic complexity",
  colour_green: "green: temporal concentration",
  colour_blue: "blue: events",
  pooling: "Pixel shows",
  pooling_max: "Maximum",
  pooling_mean: "Mean",
  frequency: "Frequency",
  frequency_mel: "Mel",
  frequency_log: "Logarithmic",
  frequency_linear: "Linear",
  palette: "Colours",
  palette_viridis: "Viridis",
  palette_magma: "Magma",
  palette_cividis: "Cividis",
  palette_grey: "Grey",
  gain: "Gain",
  span: "Range",
  decibels: "{count} dB",
  reset: "Reset",
  keys: "Keys",
  notes: "Notes on the files",
  not_recorded: "not recorded",
  unreadable: "cannot be read",
  not_indexed: "not indexed yet",
  indexed: "Indexed {done} of {all}",
  checked: "Checked for speech: {done} of {all}",
  picture_top: "picture up to {count} kHz",
  mono: "mono",
  channels: "{count} channels",
  files: "{count} files",
  speech_reverse: "Speech is reversed",
  speech_mute: "Speech is muted",
  changed: "The recording was changed or removed after it was opened, so it cannot be shown any more. "
    + "Restore the file, or open it again.",
  unreachable: "The server does not answer. Check that it is still running, then try again.",
  failed: "The recording cannot be shown: {message}",
  no_sound: "The sound cannot be played: {message}",
  sound_not_yet: "This part is still being checked for speech. Try again in a moment.",
  try_again: "Try again",
};

/** Keys of the spectrogram, each with what it does. */
export const KEYS = [
  ["Space", "key_play", "Play or pause"],
  ["X", "key_excerpt", "Play 2 seconds at the cursor"],
  ["L", "key_loop", "Repeat the selection"],
  ["+ or Ctrl+1", "key_in", "Zoom in"],
  ["− or Ctrl+3", "key_out", "Zoom out"],
  ["E or Ctrl+E", "key_selection", "Zoom to the selection"],
  ["0", "key_whole", "Show the whole recording"],
  ["← →", "key_arrows", "Move the cursor"],
  ["Shift+← →", "key_select", "Extend the selection"],
  ["Page Up, Page Down", "key_hours", "Previous or next hour"],
  ["Home, End", "key_ends", "Start or end of the recording"],
  ["N, P or Tab, Shift+Tab", "key_labels", "Next or previous label"],
  ["Esc", "key_escape", "Clear the selection; Tab then leaves the spectrogram"],
];

/** Gestures on touch screens. */
export const GESTURES = [
  ["Tap", "touch_play", "Play from there"],
  ["Drag", "touch_move", "Move"],
  ["Pinch", "touch_zoom", "Zoom"],
  ["Hold, then drag", "touch_select", "Select a part"],
];

/** A function that returns texts by name, with values in braces filled in.
 * @param {Record<string, string>} own
 * @returns {(name: string, values?: Record<string, string | number>) => string} */
export function texts(own) {
  const known = /** @type {Record<string, string>} */ ({ ...WORDING,
    ...Object.fromEntries([...GESTURES, ...KEYS].flatMap(([keys, name, text]) => [[name, text], [`${name}_keys`, keys]])), ...own });
  return (name, values = {}) => (known[name] ?? name).replace(/\{(\w+)\}/g, (whole, key) => String(values[key] ?? whole));
}
