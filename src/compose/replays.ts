/** The gameplay bot with the bundled recordings, and the parts of a replay that real time asks for. */
import { join } from 'node:path'
import { type FixtureId, type InstrumentId, playerId } from '../../actors/kernel/ids.ts'
import { microsNearest, type Price, price } from '../../actors/kernel/micros.ts'
import type { World } from '../../actors/kernel/world.ts'
import type { SaidFixture } from '../../actors/market/fixture.ts'
import type { Recording } from '../../actors/replay/recording.ts'
import { setAnchors } from '../../db/anchors.ts'
import type { SqlLeases } from '../../db/leases.ts'
import { Recordings } from '../../db/recordings.ts'
import { ReplayRuns } from '../../db/replays.ts'
import type { RealTime } from '../../rooms/boot.ts'
import { playersOf } from '../../rooms/sources/replay-player.ts'
import { type Config, ConfigError } from '../config.ts'
import { instrumentIdFor } from '../provider/instrument-ids.ts'
import { parseFixture } from '../provider/snapshot.ts'
import { type BotOptions, GameplayBot } from '../replays/gameplay-bot.ts'
import { RecordingLibrary } from '../replays/library.ts'
import { listRecordings } from '../replays/recordings.ts'
import type { Base } from './base.ts'
import type { Market } from './market.ts'
import type { Stores } from './stores.ts'

const RECORDINGS = join(import.meta.dirname, '../../ops/replays')

/** The recordings that can be played. Throws ConfigError when the configured demo is not a bundled one. */
export async function openLibrary({ config }: Base, { db }: Pick<Stores, 'db'>): Promise<RecordingLibrary> {
  const bundled = await listRecordings(RECORDINGS)
  const names = bundled.map(({ name }) => name)
  const { replay } = config.demo
  if (replay !== null && !names.includes(replay)) {
    throw new ConfigError([`DEMO_REPLAY: must be one of ${names.join(', ')}, or none`])
  }
  return new RecordingLibrary({
    bundled,
    ended: new Recordings(db),
  })
}

interface BotParts {
  readonly stores: Stores
  readonly market: Market
  readonly realTime: RealTime
  readonly library: RecordingLibrary
  readonly ownership: Pick<SqlLeases, 'ownerOf'>
}

export function createBot(
  { config, world, log, processId }: Base,
  { stores, market, realTime, library, ownership }: BotParts,
): GameplayBot {
  return new GameplayBot({
    plays: config.roles.includes('rooms'),
    library,
    runs: new ReplayRuns(stores.db, world, market.audit),
    replays: realTime.replays,
    isElsewhere: async (matchId) => ![null, processId].includes(await ownership.ownerOf(matchId)),
    clock: world.steady,
    endMatch: (matchId, ending) => realTime.desk.ask('end', { matchId, ending }),
    parse: parserOfReplays(world),
    cast: (recording, cast) => setAnchors(stores.db, anchorsOf(recording, cast)),
    demo: demoOf(config),
    practiceByDefault: () => market.settings.value('replays.practice'),
    onMainPurse:
      config.production && config.provider !== null
        ? ({ id, recording, matchId }) => log.warn('replay_pays_main_purse', { replay: id, recording, matchId })
        : null,
  })
}

/**
 * Reads a recorded payload as a snapshot of the match it is played into. Instruments belong to the cast, not to
 * players.
 */
export const parserOfReplays =
  (world: Pick<World, 'now'>) =>
  (payload: unknown, matchId: FixtureId, cast: string): SaidFixture | null => {
    const parsed = parseFixture(payload, {
      instrumentIdOf: (player) => instrumentIdFor(playersOf(cast), player),
      receivedAt: world.now(),
    })
    return parsed.ok ? { ...parsed.snapshot, fixtureId: matchId } : null
  }

const demoOf = ({ demo }: Config): BotOptions['demo'] =>
  demo.replay === null ? null : { recording: demo.replay, speed: demo.speed, traders: demo.traders }

/** The prices of a cast's players before their first trade. */
function anchorsOf({ anchors }: Recording, cast: string): Map<InstrumentId, Price> {
  return new Map(
    Object.entries(anchors).map(([player, units]) => [
      instrumentIdFor(playersOf(cast), playerId(Number(player))),
      price(microsNearest(units)),
    ]),
  )
}
