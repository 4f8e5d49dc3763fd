// Reports the time of every sample that is neither 0 nor 1: the fades between two constant sounds.
class Recorder extends AudioWorkletProcessor {
  process([input]) {
    const at = [...(input[0] ?? [])].flatMap((sample, n) => (sample > 1e-6 && sample < 1 ? [currentFrame + n] : []));
    if (at.length) this.port.postMessage(at);
    return true;
  }
}
registerProcessor("recorder", Recorder);
