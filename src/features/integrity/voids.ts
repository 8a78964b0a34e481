/** Voids one position for an operator: open in a running match, just closed, or of a match long over. */
import type { PositionId, UserId } from '../../../actors/kernel/ids.ts'
import type { PositionVoids, VoidDone, VoidRequest, VoidStart } from './store.ts'
import type { RequestOf, Voided } from '../../../rooms/cluster/protocol.ts'

export type VoidOutcome =
  | { readonly kind: 'voided'; readonly userId: UserId; readonly done: VoidDone; readonly repeated: boolean }
  | { readonly kind: 'unknown' | 'void' | 'rest_open' | 'key_reused' }
  /**
   * The process that runs the match did not answer, or another request is voiding the position. It may be void: ask
   * again with the same key.
   */
  | { readonly kind: 'busy' }

export interface VoidsOptions {
  readonly voids: Pick<PositionVoids, 'begin' | 'rebook' | 'done'>
  readonly desk: { ask(kind: 'void', request: RequestOf<'void'>): Promise<Voided> }
}

type Refused = Extract<VoidStart, { readonly kind: 'unknown' | 'void' | 'rest_open' | 'key_reused' }>

const isRefused = (start: VoidStart): start is Refused => start.kind !== 'open' && start.kind !== 'closed'

export class Voids {
  readonly #options: VoidsOptions

  constructor(options: VoidsOptions) {
    this.#options = options
  }

  /** A repetition under the same key changes nothing and answers the same. Rejects with a fault. */ // C3, C4
  async void(request: VoidRequest): Promise<VoidOutcome> {
    const { voids, desk } = this.#options
    const start = await voids.begin(request)
    if (start.kind === 'done') return { kind: 'voided', userId: start.userId, done: start.done, repeated: true }
    if (start.kind === 'under_way') return { kind: 'busy' }
    if (isRefused(start)) return start
    const { matchId, userId } = start
    if (start.kind === 'open') {
      const voided = await desk.ask('void', { matchId, positionId: request.positionId })
      if (voided === 'elsewhere') return { kind: 'busy' }
      if (voided === 'voided') return this.#voided(userId, request.positionId)
    }
    if (!(await voids.rebook(request.positionId))) return this.#overtaken(request)
    // The match still remembers a recent close, and would correct it. If this is lost, its commit refuses to.
    if (start.kind === 'closed') await desk.ask('void', { matchId, positionId: request.positionId })
    return this.#voided(userId, request.positionId)
  }

  /** A request of the same key was quicker, or the close is not in the database yet. */
  async #overtaken(request: VoidRequest): Promise<VoidOutcome> {
    const now = await this.#options.voids.begin(request)
    if (now.kind === 'done') return { kind: 'voided', userId: now.userId, done: now.done, repeated: true }
    return now.kind === 'void' ? now : { kind: 'busy' }
  }

  async #voided(userId: UserId, id: PositionId): Promise<VoidOutcome> {
    return { kind: 'voided', userId, done: await this.#options.voids.done(id), repeated: false }
  }
}
