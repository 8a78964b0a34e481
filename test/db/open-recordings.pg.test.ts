import { expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, type FixtureId } from '../../actors/kernel/ids.ts'
import { money } from '../../actors/kernel/micros.ts'
import { instant, MINUTE_MS, SECOND_MS } from '../../actors/kernel/world.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { ReplayRuns } from '../../db/replays.ts'
import { openRecordings } from '../../src/features/tape/open-recordings.ts'
import { publicTape } from '../../src/features/tape/tape-routes.ts'
import { Tournaments } from '../../src/features/tournaments/store.ts'
import { eachDatabase } from '../support/databases.ts'
import { info, U, u } from '../support/fixtures.ts'
import { TestWorld } from '../support/test-world.ts'

const LIVE = fixtureId(19_155_071)
const PLAN = { speed: 10, traders: 0, lossless: false, practice: true, demo: false, by: U(1) }

eachDatabase((open) => {
  it('[J14] what may have a provider’s payloads is open with the setting alone, replays of it included', async () => {
    const { db } = open()
    const world = new TestWorld()
    const audit = new AuditLog(db, world)
    const runs = new ReplayRuns(db, world, audit)
    const replayOf = async (recording: string): Promise<FixtureId> =>
      present((await runs.begin({ ...PLAN, recording })) ?? undefined, 'replay').matchId
    const tournaments = new Tournaments(db, { world, audit, runs })
    const [startsAt, endsAt] = [instant(world.now() + MINUTE_MS), instant(world.now() + 2 * MINUTE_MS)]
    await tournaments.schedule({ name: 'Cup', startsAt, endsAt, speed: 10, startingBalance: money(u(5_000)) }, U(1))
    world.pass(MINUTE_MS + SECOND_MS)
    await tournaments.begin()
    const cup = present(
      (await runs.unfinished()).find(({ tournament }) => tournament !== null),
      'cup',
    ).matchId

    let areAllOpen = false
    const routes = publicTape({
      tapes: {
        last: async () => null,
        lines: async function* () {},
        checkpoints: async () => [],
        keys: async () => [],
        proofOf: async () => null,
      },
      isRecordingOpen: openRecordings({ db, bundled: [{ name: 'goal-feast' }], areAllOpen: () => areAllOpen }),
      recordings: {
        list: async () => [],
        find: async (matchId) => info({ matchId, replay: matchId !== LIVE, settledAt: instant(0) }),
        lines: async function* () {},
        chart: async () => [],
      },
      watching: { delayMs: 0, shown: null, ended: async () => null },
      world,
      trustedProxies: 0,
    })
    const statusOf = async (id: FixtureId) =>
      (await routes.request(`/api/public/tape/${id}/recording`, { method: 'HEAD' })).status
    const own = [await replayOf('goal-feast'), cup]
    // An upload may be called as a tournament is.
    const others = [LIVE, ...(await Promise.all([`match-${LIVE}`, 'old-derby', 'tournament'].map(replayOf)))]
    for (const id of own) expect(await statusOf(id)).toBe(200)
    for (const id of others) expect(await statusOf(id)).toBe(404)
    areAllOpen = true
    for (const id of [...own, ...others]) expect(await statusOf(id)).toBe(200)
  })
})
