// SHA-256 of a text's UTF-8 bytes (FIPS 180-4).
//
// The browser's own crypto.subtle exists only on secure origins; labelling must also work on a plain
// intranet host, so the hash is computed here.

const ROUND = roots(64, 1 / 3);
const START = roots(8, 1 / 2);

/** The first 32 bits of the fractional parts of roots of the first primes, as the standard defines them. */
function roots(count, power) {
  const primes = [];
  for (let n = 2; primes.length < count; n += 1) {
    if (primes.every((prime) => n % prime)) primes.push(n);
  }
  return Uint32Array.from(primes, (prime) => {
    const root = prime ** power;
    return Math.floor((root - Math.floor(root)) * 2 ** 32);
  });
}

function padded(bytes) {
  const blocks = ((bytes.length + 8) >> 6) + 1;
  const data = new Uint8Array(blocks * 64);
  data.set(bytes);
  data[bytes.length] = 0x80;
  const view = new DataView(data.buffer);
  view.setUint32(data.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(data.length - 4, (bytes.length << 3) >>> 0);
  return view;
}

const rotate = (x, n) => (x >>> n) | (x << (32 - n));

function schedule(view, offset, w) {
  for (let t = 0; t < 16; t += 1) w[t] = view.getUint32(offset + t * 4);
  for (let t = 16; t < 64; t += 1) {
    const a = w[t - 15];
    const b = w[t - 2];
    const s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3);
    const s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10);
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
}

function compress(state, w) {
  let [a, b, c, d, e, f, g, h] = state;
  for (let t = 0; t < 64; t += 1) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const one = (h + s1 + ((e & f) ^ (~e & g)) + ROUND[t] + w[t]) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((value, n) => {
    state[n] += value;
  });
}

/** The hash of a text, 64 hexadecimal digits. @param {string} text */
export function sha256(text) {
  const view = padded(new TextEncoder().encode(text));
  const state = START.slice();
  const w = new Uint32Array(64);
  for (let offset = 0; offset < view.byteLength; offset += 64) {
    schedule(view, offset, w);
    compress(state, w);
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}
