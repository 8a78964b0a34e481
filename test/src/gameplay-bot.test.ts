import { describe, expect, it } from 'vitest'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { instant, MINUTE_MS } from '../../actors/kernel/world.ts'
import type { ReplayPlan, ReplayRun } from '../../db/replays.ts'
import type { ReplayOrder, ReplayStatus } from '../../rooms/sources/replay-player.ts'
import { type BotOptions, GameplayBot } from '../../src/replays/gameplay-bot.ts'
import { RecordingLibrary } from '../../src/replays/library.ts'
import { snapshot, U } from '../support/fixtures.ts'
import { shortFiles } from '../support/short-recordings.ts'

const library = new RecordingLibrary({
  bundled: await shortFiles(),
  ended: { find: async () => null, lines: async function* () {} },
})
/** That of an older version. */
const lacking = new RecordingLibrary({ bundled: [], ended: { find: async () => null, lines: async function* () {} } })
const DEMO = { recording: 'goal-feast', speed: 10, traders: 0 }

/** A database of runs and a process that plays them, both in memory; the database can be unavailable. */
class Venue {
  readonly rows = new Map<string, ReplayRun & { readonly finished: boolean }>()
  readonly playing = new Map<string, ReplayOrder>()
  readonly concluded: string[] = []
  readonly warned: string[] = []
  isAway = false
  /** By the steady clock. */
  now = 0
  /** Whether another process runs all matches. */
  isElsewhere = false
  /** A recording that cannot be cast. */
  broken: string | null = null
  /** The setting `replays.practice`. */
  practice = false
  readonly #bots: BotOptions

  constructor(demo: BotOptions['demo']) {
    const asked =
      <Args extends unknown[], T>(work: (...args: Args) => T) =>
      async (...args: Args): Promise<T> => {
        if (this.isAway) throw new Error('away')
        return work(...args)
      }
    const unfinished = () => [...this.rows.values()].filter((run) => !run.finished)
    this.#bots = {
      plays: true,
      library,
      demo,
      parse: () => snapshot(),
      cast: asked(({ name }) => {
        if (name === this.broken) throw new Error(`${name} is broken`)
      }),
      isElsewhere: asked(() => this.isElsewhere),
      clock: { now: () => instant(this.now) },
      endMatch: async (matchId, ending) => void this.concluded.push(`${matchId} ${ending}`),
      practiceByDefault: () => this.practice,
      onMainPurse: ({ id }) => void this.warned.push(id),
      runs: {
        unfinished: asked(unfinished),
        latestDemo: asked(() => [...this.rows.values()].findLast((run) => run.demo) ?? null),
        begin: asked((plan) => this.begin(plan)),
        end: asked((id, ending) => {
          const ended = unfinished().filter((run) => id === null || run.id === id)
          for (const run of ended) this.rows.set(run.id, { ...run, ending })
          return ended.map((run) => run.id)
        }),
        finish: asked((id) => this.change(id, { finished: true })),
      },
      replays: {
        has: (id) => this.playing.has(id),
        start: async (order) => {
          this.playing.set(order.id, order)
          return statusOf(order)
        },
        stop: async (id) => Number(id !== undefined && this.playing.delete(id)),
        conclude: (id, ending) => void this.concluded.push(`${id} ${ending}`),
        status: () => [...this.playing.values()].map(statusOf),
      },
    }
  }

  /** A newly started process. */
  bot(over: Partial<BotOptions> = {}): GameplayBot {
    return new GameplayBot({ ...this.#bots, ...over })
  }

  change(id: string, over: Partial<ReplayRun & { finished: boolean }>): void {
    const run = this.rows.get(id)
    if (run !== undefined) this.rows.set(id, { ...run, ...over })
  }

  begin({ recording, speed, traders, demo, lossless, practice }: ReplayPlan): ReplayRun {
    const n = this.rows.size + 1
    const matchId = fixtureId(4_000_000_000 + n)
    const run = {
      id: `run ${n}`,
      recording,
      slot: 0,
      matchId,
      speed,
      traders,
      demo,
      lossless,
      practice,
      tournament: null,
      ending: null,
      startedAt: instant(0),
    }
    this.rows.set(run.id, { ...run, match: null, finished: false })
    return { ...run, match: null }
  }
}

const statusOf = ({ id, recording, matchId, speed, traders }: ReplayOrder): ReplayStatus => ({
  id,
  recording: recording.name,
  matchId,
  minute: null,
  speed,
  traders,
  state: 'playing',
})

const PLAN = { speed: 1, traders: 0, lossless: false, practice: false, demo: false, by: U(1) }
const SETTLED = { minute: 90, frames: 600, settled: true }

describe('the gameplay bot', () => {
  it('continues the demo although the database was unavailable when its match ended', async () => {
    const venue = new Venue(DEMO)
    const bot = venue.bot()
    await bot.look()
    expect([...venue.playing.keys()]).toEqual(['run 1'])
    venue.change('run 1', { match: SETTLED })
    venue.isAway = true
    await expect(bot.look()).rejects.toThrow('away')
    venue.isAway = false
    await bot.look()
    await bot.look()
    expect([...venue.playing.keys()]).toEqual(['run 2'])
    expect(venue.rows.get('run 1')).toMatchObject({ finished: true })
  })

  it('a replay that cannot be played does not delay the others', async () => {
    const venue = new Venue(null)
    const bot = venue.bot()
    venue.broken = 'goal-feast'
    venue.begin({ ...PLAN, recording: 'goal-feast' })
    venue.begin({ ...PLAN, recording: 'cup-night' })
    await bot.look() // the start of the process waits for this one
    expect([...venue.playing.keys()]).toEqual(['run 2'])
    await expect(bot.look()).rejects.toThrow('goal-feast is broken')
  })

  it('[V6] a replay whose recording is gone ends, and can be stopped', async () => {
    const venue = new Venue(null)
    const bot = venue.bot()
    for (let n = 0; n < 3; n++) venue.begin({ ...PLAN, recording: 'lost' })
    const match = { ...SETTLED, settled: false }
    venue.change('run 2', { match })
    venue.change('run 3', { match, ending: 'void' })
    venue.begin({ ...PLAN, recording: 'cup-night' })
    expect(await bot.status()).toMatchObject([
      { progress: null },
      { progress: null },
      { progress: null },
      { progress: 0 },
    ])
    await bot.look()
    venue.now += MINUTE_MS
    venue.concluded.length = 0
    await bot.look()
    await bot.look()
    expect([...venue.playing.keys()]).toEqual(['run 4'])
    expect(venue.rows.get('run 1')).toMatchObject({ finished: true })
    expect(venue.concluded).toEqual(['4000000003 void', '4000000002 full_time', '4000000003 void'])
  })

  it('[V6] a replay whose recording cannot be read ends, and says why', async () => {
    const venue = new Venue(null)
    const flawed = new RecordingLibrary({
      bundled: [],
      ended: { find: async () => null, lines: async function* () {} },
    })
    flawed.add({ list: async () => [], find: async () => ({ id: 'one', data: Buffer.from('nonsense') }) })
    const bot = venue.bot({ library: flawed })
    await bot.look()
    venue.begin({ ...PLAN, recording: 'flawed' })
    // Another process may read it, and play it.
    venue.isElsewhere = true
    for (const passed of [0, 2 * MINUTE_MS]) {
      venue.now += passed
      await expect(bot.look()).rejects.toThrow('it cannot be unpacked')
    }
    expect(venue.rows.get('run 1')).toMatchObject({ ending: null })
    venue.isElsewhere = false
    venue.now += MINUTE_MS
    await expect(bot.look()).rejects.toThrow('it cannot be unpacked')
    await bot.look()
    expect(venue.rows.get('run 1')).toMatchObject({ ending: 'full_time', finished: true })
  })

  it('[V6] a process that lacks a recording ends no replay that another plays, or may play within a minute', async () => {
    const venue = new Venue(null)
    const [player, older] = [venue.bot(), venue.bot({ library: lacking })]
    venue.begin({ ...PLAN, recording: 'goal-feast' })
    venue.isElsewhere = true
    await older.look()
    venue.now += 2 * MINUTE_MS
    await older.look()
    venue.isElsewhere = false // its process stops, and another takes the match
    venue.now += MINUTE_MS - 1
    await older.look()
    await player.look()
    expect(venue.rows.get('run 1')).toMatchObject({ ending: null })
    expect([...venue.playing.keys()]).toEqual(['run 1'])
    venue.playing.clear() // it has died
    venue.now += 1
    await older.look()
    expect(venue.rows.get('run 1')).toMatchObject({ ending: 'full_time' })
  })

  it.each([false, true])('leaves a stopped demo stopped, until the next start (resumed: %s)', async (resumed) => {
    const venue = new Venue(DEMO)
    const first = venue.bot()
    await first.look()
    const bot = resumed ? venue.bot() : first
    await bot.look()
    venue.change('run 1', { match: { ...SETTLED, settled: false } })
    await bot.stop({ id: 'run 1', ending: 'void', by: U(1) })
    await bot.look()
    expect(venue.concluded).toContain('run 1 void')
    venue.change('run 1', { match: SETTLED })
    await bot.look()
    await bot.look()
    expect([...venue.playing.keys()]).toEqual([])
    await venue.bot().look()
    expect([...venue.playing.keys()]).toEqual(['run 2'])
  })

  it('[R15] a replay is practice if its starter or else the setting says so, and one that is not is told', async () => {
    const venue = new Venue(null)
    const bot = venue.bot()
    const order = { fixtureId: 'goal-feast', speed: 1, traders: 0, lossless: false, by: U(1) }
    await bot.start(order)
    await bot.start({ ...order, practice: true })
    venue.practice = true
    await bot.start(order)
    await bot.start({ ...order, practice: false })
    expect((await bot.status()).map(({ practice }) => practice)).toEqual([false, true, true, false])
    expect(venue.warned).toEqual(['run 1', 'run 4'])
    expect(bot.mainPurseIsLive).toBe(true)
  })

  it('[G6] every process plays the same match of a tournament, as another recording than all others', async () => {
    const venue = new Venue(null)
    const plan = {
      recording: 'tournament',
      speed: 10,
      traders: 0,
      lossless: true,
      practice: true,
      demo: false,
      by: null,
    }
    venue.begin(plan)
    venue.change('run 1', { tournament: { seed: 'ab'.repeat(32), startsAt: instant(0) } })
    const orders = []
    for (const bot of [venue.bot(), venue.bot()]) {
      await bot.look()
      orders.push(venue.playing.get('run 1'))
      venue.playing.clear() // its process has died
    }
    expect(orders[0]).toMatchObject({ cast: 'tournament/run 1', lossless: true, practice: true })
    expect(JSON.stringify(orders[1])).toBe(JSON.stringify(orders[0]))
    expect(await venue.bot().status()).toMatchObject([{ fixtureId: 'tournament', progress: null }])
  })

  it('ends the demo of another recording, then plays its own', async () => {
    const venue = new Venue(DEMO)
    await venue.bot().look()
    venue.change('run 1', { recording: 'cup-night', match: { ...SETTLED, settled: false } })
    const bot = venue.bot()
    await bot.look()
    await bot.look()
    expect(venue.concluded).toContain('run 1 full_time')
    venue.change('run 1', { match: SETTLED })
    await bot.look()
    await bot.look()
    expect([...venue.playing.values()].map(({ recording }) => recording.name)).toEqual(['goal-feast'])
  })

  it('[V6] a replay stopped before its first frame leaves no match', async () => {
    const venue = new Venue(null)
    const bot = venue.bot()
    await bot.start({ fixtureId: 'goal-feast', speed: 1, traders: 0, lossless: false, by: U(1) })
    await bot.look()
    await bot.stop({ id: null, ending: 'full_time', by: U(1) })
    await bot.look()
    expect([venue.playing.size, venue.concluded]).toEqual([0, []])
    expect(await bot.status()).toEqual([])
    expect(await bot.start({ fixtureId: '../main', speed: 1, traders: 0, lossless: false, by: U(1) })).toEqual({
      kind: 'unknown',
    })
  })
})
