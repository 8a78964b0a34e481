/** What must hold in a simulated cluster at every moment, and the failure that says what does not. */

export const CLUSTER_INVARIANTS = {
  fence: 'in an epoch of a match one process commits, and none after a later epoch has begun',
  promise: 'a trade that was acknowledged exists',
  owner: 'a match whose owner is lost has another within its bound',
  move: 'no match leaves an owner that serves it',
  spread: 'after quiet seconds no process runs many more matches than the mean',
  herd: 'no event makes a process ask more of the database or of the bus than its bound',
} as const

export type ClusterInvariant = keyof typeof CLUSTER_INVARIANTS

export class ClusterViolation extends Error {
  override name = 'ClusterViolation'
  readonly invariant: ClusterInvariant

  constructor(invariant: ClusterInvariant, message: string) {
    super(message)
    this.invariant = invariant
  }
}

/** Throws a ClusterViolation unless the condition holds. */
export function hold(invariant: ClusterInvariant, condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new ClusterViolation(invariant, message())
}
