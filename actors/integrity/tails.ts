/** Probabilities of at least as many successes by chance. Sums of products: equal on every machine. */

/** The chance of at least `successes` in `trials`, each with chance `p`. */
export function binomialTail(successes: number, trials: number, p: number): number {
  let term = 1
  for (let n = 0; n < trials; n += 1) term *= 1 - p
  let below = 0
  let tail = 0
  for (let k = 0; k <= trials; k += 1) {
    if (k < successes) below += term
    else tail += term
    term *= ((trials - k) / (k + 1)) * (p / (1 - p))
  }
  return Math.min(1, tail / (below + tail))
}

/**
 * The chance of at least `count` where `mean` are expected. In units of the chance of exactly `count`: a sum that
 * begins at e^−mean is zero from a mean of 746 on, and would call anything impossible.
 */
export function poissonTail(count: number, mean: number): number {
  let below = 0
  for (let [k, term] = [count, 1]; k > 0; k -= 1) {
    term *= k / mean
    below += term
  }
  let tail = 0
  for (let [k, term] = [count, 1]; term > tail * 1e-12; k += 1) {
    tail += term
    term *= mean / (k + 1)
  }
  return 1 / (1 + below / tail)
}
