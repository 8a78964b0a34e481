import { describe, expect, it } from 'vitest'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { BATCH_MAX, MAILBOX_MAX } from '../../actors/kernel/limits.ts'
import type { MatchEvent } from '../../actors/match/messages.ts'
import { FairShare, SHARED_BATCH_MAX } from '../../rooms/match/fair-share.ts'
import { ActorRig, codeOf } from '../support/actor-rig.ts'
import { TestWorld } from '../support/test-world.ts'
import { U } from '../support/fixtures.ts'
import { committing } from '../support/committing.ts'

const [HOT, QUIET, OTHER] = [fixtureId(1), fixtureId(2), fixtureId(3)]

const USERS = 250

/** A match with many users that shares its process; how many events of a kind each commit has, and the pauses. */
async function crowded(kind: MatchEvent['kind']) {
  const share = new FairShare(new TestWorld())
  const steps: (number | 'turn')[] = []
  const stage = await ActorRig.set({
    users: USERS,
    batchMax: (waiting) => share.batchMax(HOT, waiting),
    pause: async () => void steps.push('turn'),
    wrap: (store) =>
      committing(store, (batch) => {
        steps.push(batch.events.filter((event) => event.kind === kind).length)
        return store.commit(batch)
      }),
  })
  const everybodyOpens = async (): Promise<void> => {
    const orders = Array.from({ length: USERS }, (_, n) => stage.opens({ userId: U(n + 1) }))
    expect(new Set((await Promise.all(orders)).map(codeOf))).toEqual(new Set(['ok']))
  }
  return { share, steps, everybodyOpens, actor: stage.actor }
}

describe('the share of a match in its process', () => {
  it('[A15] a crowded match makes smaller batches while another trades a little, and full ones a while after', () => {
    const world = new TestWorld()
    const share = new FairShare(world)
    expect(share.batchMax(HOT, MAILBOX_MAX)).toBe(BATCH_MAX)
    expect(share.batchMax(QUIET, 1)).toBe(BATCH_MAX)
    expect(share.batchMax(HOT, MAILBOX_MAX)).toBe(SHARED_BATCH_MAX)
    world.pass(1_000)
    expect(share.batchMax(HOT, MAILBOX_MAX)).toBe(BATCH_MAX)
  })

  it('[A15] crowded matches leave each other full batches, and so does one whose own crowd has just come', () => {
    const share = new FairShare(new TestWorld())
    share.batchMax(HOT, 1)
    expect(share.batchMax(HOT, MAILBOX_MAX)).toBe(BATCH_MAX)
    const both = new FairShare(new TestWorld())
    both.batchMax(HOT, 500)
    expect(both.batchMax(OTHER, 500)).toBe(BATCH_MAX)
  })

  it('[A15] a match that has only its own clock to follow does not count as trading', () => {
    const share = new FairShare(new TestWorld())
    share.batchMax(QUIET, 0)
    expect(share.batchMax(HOT, MAILBOX_MAX)).toBe(BATCH_MAX)
  })

  it('[A15] a crowd is committed in shares, and the others have a turn after each', async () => {
    const { everybodyOpens, steps, share } = await crowded('position_opened')
    share.batchMax(QUIET, 1)
    await everybodyOpens()
    expect(steps).toEqual([SHARED_BATCH_MAX, 'turn', SHARED_BATCH_MAX, 'turn', 50])
  })

  it('[A15] and so are the closes of full time', async () => {
    const { everybodyOpens, steps, share, actor } = await crowded('position_closed')
    await everybodyOpens()
    share.batchMax(QUIET, 1)
    steps.splice(0)
    await actor.end('full_time')
    await actor.stop()
    expect(steps.filter((step) => step !== 0)).toEqual([SHARED_BATCH_MAX, SHARED_BATCH_MAX, 50])
  })
})
