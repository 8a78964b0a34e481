/** A failure of the simulator: the name of the invariant, and what was found instead. */

/** The invariants that must hold after every step, each with its meaning. */
export const INVARIANTS = {
  ledger: 'a balance is what its ledger entries and the committed events add up to, and never negative',
  'zero-sum': 'in each purse all accounts, the house included, sum to zero',
  purse: 'what is opened in a match belongs to the purse of the match',
  imbalance: 'an imbalance is the sum of the exposures of the open positions',
  price: 'price = base + k_mod × imbalance, the crowd’s part within its cap',
  trigger: 'no position is open beyond a level or a washout, and none closes that has not reached one',
  key: 'one key, one position; what was acknowledged exists exactly once, the rest at most once',
  reload: 'a match that is loaded is the match that was committed',
  settled: 'no position is open in a settled match, and nothing moves it any more',
  margin: 'margin in use is the sum of the margins of the open positions, each what its fill costs',
  fill: 'every fill is the mean of the price over its step, and those who leave together share one',
  theorem: 'while a base stands, what all have paid depends on where the imbalance began and where it is',
  hold: 'no user closes within the hold',
  window: 'users trade only while the market is open, at a price they saw',
  settlement: 'everybody leaves an ended match at the price that stood when it ended, once full time has held',
  void: 'a void gives the margin back and nothing else',
  moved: 'news moves every fill of its window by as much as the base, and no other',
  locked: 'what a close has paid opens nothing while news may move it',
  refusal: 'every refusal has its reason',
  memory: 'the memory of an actor is what the store has committed for it, never ahead and never behind',
  fence: 'no owner writes with a superseded epoch',
  share: 'a crowded match takes a share of its process while another match trades a little',
  tape: 'a match comes out again, line for line, of what its tape says that it was asked',
  alive: 'an actor stops only when it was overtaken or its store failed',
} as const

export type Invariant = keyof typeof INVARIANTS

export class Violation extends Error {
  override name = 'Violation'
  readonly invariant: Invariant

  constructor(invariant: Invariant, message: string) {
    super(message)
    this.invariant = invariant
  }
}

/** Throws a Violation unless the condition holds. */
export function hold(invariant: Invariant, condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new Violation(invariant, message())
}

/** Both are the same, written the same way. */
export function same(invariant: Invariant, found: unknown, expected: unknown, what: string): void {
  const [a, b] = [canonical(found), canonical(expected)]
  hold(invariant, a === b, () => `${what} is ${a}, expected ${b}`)
}

/** JSON with sorted keys: two values with the same content have the same text. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
