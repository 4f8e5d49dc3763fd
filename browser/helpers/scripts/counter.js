// Counts on the audio thread what passes: samples that are not 0, their energy and peak, and for how
// many blocks nothing has passed.
class Counter extends AudioWorkletProcessor {
  totals = { frames: 0, energy: 0, peak: 0, silence: 0 };
  process([input]) {
    const sound = (input[0] ?? []).filter((sample) => sample !== 0);
    this.totals.frames += sound.length;
    for (const sample of sound) {
      this.totals.energy += sample * sample;
      this.totals.peak = Math.max(this.totals.peak, Math.abs(sample));
    }
    this.totals.silence = sound.length ? 0 : this.totals.silence + 1;
    this.port.postMessage(this.totals);
    return true;
  }
}
registerProcessor("counter", Counter);
