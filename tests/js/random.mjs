// Whole numbers below a bound from a fixed seed (Park and Miller 1988), so that a failure comes back.

export function seeded(seed) {
  let state = seed;
  return (bound) => (state = (state * 48271) % 2147483647) % bound;
}
