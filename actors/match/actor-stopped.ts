/** Why an actor takes no more messages. */
import type { FixtureId } from '../kernel/ids.ts'

/** The actor takes no more messages. A retry reaches its successor. */
export class ActorStopped extends Error {
  override name = 'ActorStopped'
  constructor(matchId: FixtureId, why = 'has stopped') {
    super(`the actor of match ${matchId} ${why}`)
  }
}

export class Fenced extends ActorStopped {
  override name = 'Fenced'
  constructor(matchId: FixtureId, epoch: number) {
    super(matchId, `was fenced: an epoch newer than ${epoch} exists`)
  }
}
