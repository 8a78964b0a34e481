/**
 * Checks an uploaded recording: every payload can be read, all are of one match, and the match can be played to its
 * end with the game's own rules.
 */
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { present } from '../../../actors/kernel/assert.ts'
import { type InstrumentId } from '../../../actors/kernel/ids.ts'
import { DEFAULT_RULES, STARTING_BALANCE } from '../../../actors/kernel/limits.ts'
import { decimal } from '../../../actors/kernel/micros.ts'
import { instant, MINUTE_MS } from '../../../actors/kernel/world.ts'
import { firstBelief } from '../../../actors/market/belief/believe.ts'
import { DEFAULT_MODEL } from '../../../actors/market/pricing.ts'
import { FRAME_MS, type Recording } from '../../../actors/replay/recording.ts'
import type { PricePath } from '../../../db/recordings.ts'
import type { RecordingSummary } from './store.ts'
import { MatchRun } from '../../match-run/match-run.ts'
import { recordedMatch, RUN_STARTS_AT } from '../../match-run/recorded-match.ts'
import { readStored } from '../../replays/library.ts'
import { RecordingFlaw } from '../../replays/recordings.ts'

export interface Checked {
  /** Its chart has the prices under the default settings. */
  readonly summary: RecordingSummary
  /** The recording, written again and compressed with brotli. */
  readonly data: Uint8Array
}

const UPDATES_MIN = 2
const UPDATES_MAX = 5_000
const PLAYERS_MAX = 200
const PACKED_MAX_BYTES = 4 * 1024 * 1024
const [PATHS, POINTS] = [3, 48]
/** Updates after the last one, so that full time is confirmed and settles. */
const AFTER_FULL_TIME = 12

const countFlaw = (updates: number): string => `it has ${updates} updates; it may have ${UPDATES_MIN} to ${UPDATES_MAX}`

/** Throws a RecordingFlaw that says what is wrong. */
export async function checkRecording(uploaded: Recording): Promise<Checked> {
  if (uploaded.frames.length > UPDATES_MAX) throw new RecordingFlaw(countFlaw(uploaded.frames.length))
  const data = await packed(uploaded)
  // Written out, it may be too large to be read, or be read differently. What is checked is what will be played.
  const recording = await readStored({ name: uploaded.name, bytes: data, packing: 'brotli' })
  const { frames, title, fixtureName } = recording
  if (frames.length < UPDATES_MIN || frames.length > UPDATES_MAX) {
    throw new RecordingFlaw(countFlaw(frames.length))
  }
  const { snapshots, histories, unread } = recordedMatch(recording, 'upload')
  if (unread !== null) throw new RecordingFlaw(`update ${unread.index + 1} cannot be read: ${unread.reason}`)
  const [first, last] = [present(snapshots[0], 'update'), firstBelief(present(snapshots.at(-1), 'update'))]
  const stranger = snapshots.findIndex(({ fixtureId }) => fixtureId !== first.fixtureId)
  if (stranger >= 0) throw new RecordingFlaw(`update ${stranger + 1} is of another match than the first`)
  const players = Math.max(...snapshots.map((one) => one.players.length))
  if (players === 0 || players > PLAYERS_MAX) {
    throw new RecordingFlaw(`it has ${players} players; it may have 1 to ${PLAYERS_MAX}`)
  }
  const chart = await pathsOf(snapshots, histories)
  return {
    summary: {
      title,
      fixtureName: fixtureName.slice(0, NAME_MAX_CHARS),
      home: sideOf(last.home),
      away: sideOf(last.away),
      events: last.events?.length ?? 0,
      minutes: Math.ceil((frames.length * FRAME_MS) / MINUTE_MS),
      players,
      updates: frames.length,
      chart,
    },
    data,
  }
}

async function packed({ title, anchors, frames }: Recording): Promise<Uint8Array> {
  const head = JSON.stringify({ recording: { title, anchors } })
  const text = [head, ...frames.map((frame) => JSON.stringify(frame))].join('\n')
  const data = await promisify(brotliCompress)(text, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 22 },
  })
  if (data.length > PACKED_MAX_BYTES) {
    throw new RecordingFlaw(`it is too large: packed, it may have ${PACKED_MAX_BYTES} bytes`)
  }
  return data
}

const NAME_MAX_CHARS = 120
const sideOf = ({ name, goals }: { readonly name: string; readonly goals: number | null }) => ({
  name: name.slice(0, NAME_MAX_CHARS),
  goals,
})

type Played = ReturnType<typeof recordedMatch>

/** Plays the match without traders. */
async function pathsOf(snapshots: Played['snapshots'], histories: Played['histories']): Promise<readonly PricePath[]> {
  const run = new MatchRun({
    first: { ...present(snapshots[0], 'update'), sourceAt: RUN_STARTS_AT },
    histories,
    rules: () => DEFAULT_RULES,
    model: () => DEFAULT_MODEL,
    balance: STARTING_BALANCE,
  })
  const last = snapshots.length - 1
  const paths = new Map<InstrumentId, { readonly name: string; readonly prices: number[] }>()
  for (let index = 0; index <= last + AFTER_FULL_TIME; index++) {
    run.passTo(instant(RUN_STARTS_AT + index * FRAME_MS))
    await run.update(present(snapshots[Math.min(index, last)], 'update'), index + 1)
    if (index % Math.ceil(snapshots.length / POINTS) > 0 || index > last) continue
    for (const { id, name, base } of run.view.instruments()) {
      const known = paths.get(id) ?? { name: name.slice(0, NAME_MAX_CHARS), prices: [] }
      known.prices.push(decimal(base))
      paths.set(id, known)
    }
  }
  await run.conclude()
  await run.end()
  return [...paths.values()].toSorted((a, b) => moveOf(b) - moveOf(a)).slice(0, PATHS)
}

const moveOf = ({ prices }: PricePath): number => Math.abs(Math.log((prices.at(-1) ?? 1) / (prices[0] ?? 1)))
