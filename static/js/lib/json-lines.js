// JSON Lines in the browser: a file, plain or gzipped, as numbered lines of bytes.
//
// Lines are cut from bytes and not from decoded text, so that invalid UTF-8 is reported on the right line.

const NEWLINE = 0x0a;
const GZIP = [0x1f, 0x8b];
const ZIP = [0x50, 0x4b]; // "PK"

/** The most bytes that `mistakenKind` needs. */
export const HEAD = 4096;
const SIGNATURES = [
  ["a PNG image", [0x89, 0x50, 0x4e, 0x47]],
  ["a JPEG image", [0xff, 0xd8, 0xff]],
  ["a GIF image", [0x47, 0x49, 0x46, 0x38]],
  ["a PDF", [0x25, 0x50, 0x44, 0x46]],
  ["text in UTF-16", [0xff, 0xfe]],
  ["text in UTF-16", [0xfe, 0xff]],
];

/**
 * The apparent kind of a file that is neither a ZIP nor gzip, if it is clearly no text; empty otherwise.
 * The server recognises more kinds.
 *
 * @param {Uint8Array} head  its first bytes
 */
export function mistakenKind(head) {
  const known = SIGNATURES.find(([, magic]) => magic.every((byte, place) => head[place] === byte));
  return known ? known[0] : head.includes(0) ? "a binary file" : "";
}

/** The type of a file by its first bytes, as on the server. @returns {"zip" | "gzip" | "lines"} */
export function kindOf(head, name = "") {
  const begins = (magic) => magic.every((byte, place) => head[place] === byte);
  if (begins(ZIP) || name.toLowerCase().endsWith(".zip")) return "zip";
  return begins(GZIP) ? "gzip" : "lines";
}

/** The file's bytes, decompressed if necessary. @param {Blob} file @returns {ReadableStream<Uint8Array>} */
export function bytesOf(file, kind) {
  return kind === "gzip" ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
}

/**
 * The lines of a stream in batches, one for each chunk, so that the caller can yield in between.
 * Stops at a line that is longer than `longest`.
 *
 * @param {ReadableStream<Uint8Array>} stream
 * @returns {AsyncGenerator<Uint8Array[]>}
 */
export async function* linesOf(stream, longest = Infinity) {
  const reader = stream.getReader();
  let rest = new Uint8Array(0);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const { lines, left } = cut(joined(rest, value));
      yield lines;
      rest = left;
      if (rest.length > longest) break;
    }
    if (rest.length) yield [rest];
  } finally {
    // If decompressing failed, there is nothing to cancel.
    reader.cancel().catch(() => {});
  }
}

function joined(first, second) {
  if (!first.length) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

function cut(bytes) {
  const lines = [];
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return { lines, left: bytes.subarray(start) };
}
