// An audio graph without sound: sources start and end on the clock of the page.

class Param {
  value = 1;
  events = [];
  setValueAtTime(...given) {
    this.events.push(["setValueAtTime", ...given]);
  }

  setValueCurveAtTime(...given) {
    this.events.push(["setValueCurveAtTime", ...given]);
  }

  setTargetAtTime(...given) {
    this.events.push(["setTargetAtTime", ...given]);
  }
}

class AudioNode {
  to = new Set();
  constructor(context) {
    this.context = context;
  }

  connect(to) {
    this.to.add(to);
    return to;
  }

  disconnect() {
    this.to.clear();
  }
}

export class Buffer {
  constructor(numberOfChannels, length, sampleRate) {
    Object.assign(this, { numberOfChannels, length, sampleRate });
    this.channels = Array.from({ length: numberOfChannels }, () => new Float32Array(length));
  }

  get duration() {
    return this.length / this.sampleRate;
  }

  getChannelData(channel) {
    return this.channels[channel];
  }

  copyToChannel(samples, channel) {
    this.channels[channel].set(samples);
  }
}

/** The classes of the audio graph for a page; `live` has the sources that run. */
export function makeAudio(clock, live, isAsleep = false) {
  class GainNode extends AudioNode {
    gain = new Param();
    constructor(context, { gain = 1 } = {}) {
      super(context);
      this.gain.value = gain;
    }
  }

  class AudioBufferSourceNode extends AudioNode {
    onended = null;
    #timer = 0;
    constructor(context, { buffer = null, loop = false } = {}) {
      super(context);
      Object.assign(this, { buffer, loop });
    }

    start(when = 0, from = 0) {
      Object.assign(this, { when: Math.max(when, this.context.currentTime), from });
      live.add(this);
      if (this.loop) return;
      const rest = this.when - this.context.currentTime + this.buffer.duration - from;
      this.#timer = clock.set(() => this.#end(), 1000 * rest);
    }

    #end() {
      const rest = this.loop ? 0 : this.when + this.buffer.duration - this.from - this.context.currentTime;
      if (live.has(this) && rest > 1e-6) { // the clock of the context stood still
        if (Number.isFinite(rest)) this.#timer = clock.set(() => this.#end(), 1000 * rest);
        return;
      }
      live.delete(this);
      this.onended?.();
    }

    stop(when = 0) {
      clock.clear(this.#timer);
      if (live.delete(this)) clock.set(() => this.#end(), Math.max(0, 1000 * (when - this.context.currentTime)));
    }
  }

  class OfflineAudioContext {
    constructor(...given) {
      this.made = new Buffer(...given);
    }

    destination = new AudioNode(this);
    createBuffer = (...given) => new Buffer(...given);
    createBufferSource = () => Object.assign(new AudioNode(this), { start() {} });
    createChannelMerger = () => new AudioNode(this);
    startRendering = async () => this.made;
  }

  return class AudioContext {
    static isAsleep = isAsleep;
    static nodes = { GainNode, AudioBufferSourceNode, AudioNode, BiquadFilterNode: AudioNode, OfflineAudioContext };
    baseLatency = 0.01;
    outputLatency = 0;
    #born = clock.now;
    held = 0; // seconds in which the clock of the context stood still
    destination = Object.assign(new AudioNode(this), { maxChannelCount: 2 });

    constructor({ sampleRate = 48000 } = {}) {
      this.sampleRate = sampleRate;
      this.state = AudioContext.isAsleep ? "suspended" : "running";
    }

    get currentTime() {
      return Math.max(0, (clock.now - this.#born) / 1000 - this.held);
    }

    async resume() {
      if (!AudioContext.isAsleep) this.state = "running";
    }

    suspend() {
      this.state = "suspended";
      for (const one of [...live]) one.stop();
    }

    createGain() {
      return new GainNode(this);
    }

    createBufferSource() {
      return new AudioBufferSourceNode(this);
    }

    createBuffer(...given) {
      return new Buffer(...given);
    }

    async decodeAudioData({ seconds }) {
      if (!seconds) throw new Error("not a sound");
      return new Buffer(1, Math.round(seconds * this.sampleRate), this.sampleRate);
    }
  };
}
