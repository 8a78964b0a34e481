/** Probabilities of at least as many successes by chance. Sums of products: equal on every machine. */

/**
 * The chance of at least `successes` in `trials`, each with chance `p`. In units of the chance of exactly `successes`:
 * a sum that begins at (1 − p)^trials is zero from about 1,075 trials of an even chance on.
 */
export function binomialTail(successes: number, trials: number, p: number): number {
  const odds = p / (1 - p)
  let below = 0
  for (let [k, term] = [successes, 1]; k > 0; k -= 1) {
    term *= k / (trials - k + 1) / odds
    below += term
  }
  let tail = 0
  for (let [k, term] = [successes, 1]; k <= trials; k += 1) {
    tail += term
    term *= ((trials - k) / (k + 1)) * odds
  }
  return 1 / (1 + below / tail)
}

/**
 * The chance of at least `count` where `mean` are expected. Likewise: a sum that begins at e^−mean is zero
 * from a mean of 746 on, and would call anything impossible.
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
