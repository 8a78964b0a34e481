/** The gameplay bot with the bundled recordings, and the parts of a replay that real time asks for. */
import { join } from 'node:path'
import { type FixtureId, type InstrumentId, playerId } from '../../actors/kernel/ids.ts'
import { microsNearest, type Price, price } from '../../actors/kernel/micros.ts'
import type { World } from '../../actors/kernel/world.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import type { Recording } from '../../actors/replay/recording.ts'
import { setAnchors } from '../../db/anchors.ts'
import { Recordings } from '../../db/recordings.ts'
import { ReplayRuns } from '../../db/replays.ts'
import { Uploads } from '../../db/uploads.ts'
import type { RealTime } from '../../rooms/boot.ts'
import { playersOf } from '../../rooms/sources/replay-player.ts'
import { type Config, ConfigError } from '../config.ts'
import { instrumentIdFor } from '../provider/instrument-ids.ts'
import { parseFixture } from '../provider/snapshot.ts'
import { type BotOptions, GameplayBot } from '../replays/gameplay-bot.ts'
import { RecordingLibrary } from '../replays/library.ts'
import { listRecordings } from '../replays/recordings.ts'
import { UploadDesk } from '../replays/upload-desk.ts'
import type { UploadedRecordings } from '../http/ports.ts'
import type { Base } from './base.ts'
import type { Market } from './market.ts'
import type { Stores } from './stores.ts'

interface LibraryParts {
  readonly stores: Stores
  readonly market: Market
}

const RECORDINGS = join(import.meta.dirname, '../../ops/replays')

/** The recordings that can be played. Throws ConfigError when the configured demo is not a bundled one. */
export async function openLibrary(
  { config, world }: Base,
  { stores, market }: LibraryParts,
): Promise<RecordingLibrary> {
  const bundled = await listRecordings(RECORDINGS)
  const names = bundled.map(({ name }) => name)
  const { replay } = config.demo
  if (replay !== null && !names.includes(replay)) {
    throw new ConfigError([`DEMO_REPLAY: must be one of ${names.join(', ')}, or none`])
  }
  return new RecordingLibrary({
    bundled,
    uploads: new Uploads(stores.db, world, market.audit),
    ended: new Recordings(stores.db),
  })
}

interface BotParts extends LibraryParts {
  readonly realTime: RealTime
  readonly library: RecordingLibrary
}

export function createBot({ config, world }: Base, { stores, market, realTime, library }: BotParts): GameplayBot {
  return new GameplayBot({
    plays: config.roles.includes('rooms'),
    library,
    runs: new ReplayRuns(stores.db, world, market.audit),
    replays: realTime.replays,
    parse: parserOfReplays(world),
    cast: (recording, cast) => setAnchors(stores.db, anchorsOf(recording, cast)),
    demo: demoOf(config),
  })
}

/**
 * Reads a recorded payload as a snapshot of the match it is played into. Instruments belong to the cast, not to
 * players.
 */
export const parserOfReplays =
  (world: Pick<World, 'now'>) =>
  (payload: unknown, matchId: FixtureId, cast: string): FixtureSnapshot | null => {
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

/** Uploads by operators. */
export function uploadsPort(
  { world }: Base,
  { stores, market, library }: LibraryParts & { readonly library: RecordingLibrary },
): UploadedRecordings {
  const uploads = new Uploads(stores.db, world, market.audit)
  const desk = new UploadDesk({ uploads, bundled: library.bundled })
  return {
    list: () => uploads.list(),
    find: (name) => uploads.find(name),
    remove: (name, by) => uploads.remove(name, by),
    add: (upload) => desk.add(upload),
  }
}
