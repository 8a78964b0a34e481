/** The work of deleting accounts: closes what is still open once an account is due, and then erases it. */
import type { PositionId, UserId } from '../../actors/kernel/ids.ts'
import type { Outcome } from '../../actors/kernel/outcome.ts'
import type { ClosePosition } from '../../actors/match/messages.ts'
import type { Log } from '../observe/log.ts'

export interface ErasuresOptions {
  readonly deletions: {
    due(): Promise<{ readonly ready: readonly UserId[]; readonly holding: readonly UserId[] }>
    openPositions(user: UserId): Promise<readonly PositionId[]>
    erase(user: UserId): Promise<boolean>
  }
  readonly desk: { submit(command: ClosePosition): Promise<Outcome<unknown>> }
  readonly log: Log
}

export class Erasures {
  readonly #options: ErasuresOptions

  constructor(options: ErasuresOptions) {
    this.#options = options
  }

  /**
   * One look at the accounts that are due. A position is closed as its user would close it; one that its market does
   * not let go settles at full time, and the account waits for that. Every step can be repeated, by any process.
   */ // Y4
  async look(): Promise<void> {
    const { deletions, desk, log } = this.#options
    const { ready, holding } = await deletions.due()
    for (const user of ready) {
      if (await deletions.erase(user)) log.info('account_erased', { userId: user })
    }
    for (const user of holding) {
      for (const position of await deletions.openPositions(user)) {
        await desk.submit({ kind: 'close_position', userId: user, positionId: position, idempotency: null })
      }
      if (await deletions.erase(user)) log.info('account_erased', { userId: user })
    }
  }
}
