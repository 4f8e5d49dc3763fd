// Plays a part of the recording through an offline graph; returns the samples that come out.
import { Playback } from "/modules/navigator/playback.js";

/** @param {{ rate: number, start: number, end: number, seconds: number, loop: boolean }} given */
export async function rendered({ rate, start, end, seconds, loop }) {
  const info = await (await fetch("/recording/info")).json();
  const context = new OfflineAudioContext(1, Math.round(seconds * rate), rate);
  const requested = [];
  const hears = { started() {}, moved() {}, ended() {}, failed(error) { throw error; } };
  const playback = new Playback("/recording", info, hears, { context, output: context.destination });
  playback.isLooping = loop;
  const scheduled = new Promise((done) => {
    const timer = setInterval(() => {
      const [last] = requested.slice(-1);
      if (last && last >= seconds + 0.05) done(clearInterval(timer));
    }, 20);
  });
  const create = context.createBufferSource.bind(context);
  context.createBufferSource = () => {
    const source = create();
    const begin = source.start.bind(source);
    source.start = (when = 0) => (requested.push(when + source.buffer.duration), begin(when));
    return source;
  };
  playback.play(start, end);
  await scheduled;
  const output = await context.startRendering();
  playback.stop();
  return [...output.getChannelData(0)];
}
