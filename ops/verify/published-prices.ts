/**
 * The prices that recordings have had, as a release published them, so that the next one can be held against them.
 * Matches are played with the game's own rules and the provider's parser, without traders: no order moves a base.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { z } from 'zod'
import { playerId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { decimal, microsNearest, type Price } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { DEFAULT_MODEL, type ScoringModel } from '../../actors/market/pricing.ts'
import { MODEL_VERSION } from '../../actors/market/scoring.ts'
import { plainRules } from '../../actors/match/heard.ts'
import { FRAME_MS, type Recording } from '../../actors/replay/recording.ts'
import { instrumentIdFor } from '../../src/provider/instrument-ids.ts'
import { parseFixture } from '../../src/provider/snapshot.ts'
import { Rederivation } from './rederive.ts'

const bytes = z.base64().transform((text): Uint8Array => Buffer.from(text, 'base64'))
const Published = z.object({
  name: z.string(),
  /** Digest of the payloads and start prices: equal for the same match. */
  input: z.string(),
  /** Digest of all prices. */
  digest: z.string(),
  /** The ids of the players, in the order of their rows in `spans`. */
  players: z.array(z.int()),
  /** Two bytes of digest for all prices after each update. */
  updates: bytes,
  /** Updates in a span. */
  every: z.int().positive(),
  /** One byte of digest for the prices of a player in a span, row by row. */
  spans: bytes,
})
export type Published = z.output<typeof Published>

/** The published prices of one version of the model. */
export const PublishedFile = z.object({ modelVersion: z.int().positive(), recordings: z.array(Published) })
export type PublishedFile = z.output<typeof PublishedFile>

/** As text, for PublishedFile to read. */
export function textOf({ modelVersion, recordings }: PublishedFile): string {
  const base64 = (data: Uint8Array): string => Buffer.from(data).toString('base64')
  const rows = recordings.map((one) => ({ ...one, updates: base64(one.updates), spans: base64(one.spans) }))
  return JSON.stringify({ modelVersion, recordings: rows })
}

/** A recording with its price after each update. */
export interface Played {
  readonly name: string
  readonly input: string
  /** By player, in micros; undefined before the update that listed them. */
  readonly paths: ReadonlyMap<number, { readonly name: string; readonly prices: readonly (Price | undefined)[] }>
  readonly updates: number
}

const MATCH = 1

/** Plays a recording from its start prices. */
export function play(recording: Recording, model: ScoringModel = DEFAULT_MODEL): Played {
  const { name, anchors, frames } = recording
  const players = `replay/${name}`
  const ids = new Map(Object.keys(anchors).map((id) => [instrumentIdFor(players, playerId(Number(id))), Number(id)]))
  const histories = Object.fromEntries(
    [...ids].map(([id, player]) => {
      return [id, { last: null, anchor: microsNearest(anchors[player] ?? 0), past: null, heldBy: null }]
    }),
  )
  const match = new Rederivation(MATCH)
  match.hear({ kind: 'rules', at: 0, rules: plainRules(DEFAULT_RULES), model }, 1)
  const paths = new Map<number, { name: string; prices: (Price | undefined)[] }>()
  const input = createHash('sha256').update(JSON.stringify(anchors))
  for (const [n, payload] of frames.entries()) {
    input.update(JSON.stringify(payload))
    const at = (n + 1) * FRAME_MS
    const parsed = parseFixture(payload, {
      instrumentIdOf: (player) => instrumentIdFor(players, player),
      receivedAt: instant(at),
    })
    // A payload that makes no sense moves no price, as in a live match.
    if (parsed.ok) {
      const snapshot = { ...parsed.snapshot, fixtureId: MATCH }
      match.hear({ kind: 'update', at, seq: n + 1, speed: 1, histories, snapshot }, 1)
    }
    for (const { playerId: id, name: player, base } of match.state?.instruments() ?? []) {
      const path = paths.get(id) ?? { name: player, prices: [] }
      path.prices[n] = base
      paths.set(id, path)
    }
  }
  return { name, input: input.digest('hex'), paths, updates: frames.length }
}

/** What is published of it. A player's prices are kept by spans of `every` updates: 1 names each difference exactly. */
export function publish({ name, input, paths, updates }: Played, every: number): Published {
  const rows = [...paths].toSorted(([a], [b]) => a - b)
  const all = createHash('sha256')
  const perUpdate = Array.from({ length: updates }, (_, n) => {
    const text = rows.map(([id, { prices }]) => `${id}:${prices[n] ?? ''}`).join(' ')
    all.update(`${text}\n`)
    return createHash('sha256').update(text).digest().subarray(0, 2)
  })
  const spans = rows.flatMap(([, { prices }]) => {
    return Array.from({ length: Math.ceil(updates / every) }, (_, n) => {
      const text = Array.from({ length: every }, (__, m) => prices[n * every + m] ?? '').join(' ')
      return createHash('sha256').update(text).digest()[0] ?? 0
    })
  })
  const players = rows.map(([id]) => id)
  return {
    name,
    input,
    digest: all.digest('hex'),
    players,
    updates: Buffer.concat(perUpdate),
    every,
    spans: Uint8Array.from(spans),
  }
}

/** How a recording differs from what was published; `kind` is `input` if it is another match by now. */
type Difference =
  | { readonly kind: 'input'; readonly text: string }
  | {
      readonly kind: 'price'
      readonly text: string
      readonly update: number | null
      readonly players: readonly number[]
    }

/** The first difference, or null. Updates count from 1. */
function difference(published: Published, played: Played): Difference | null {
  const { name, every } = published
  if (published.input !== played.input) {
    return { kind: 'input', text: `${name}: the recording is not the one that was published` }
  }
  const now = publish(played, every)
  if (now.digest === published.digest) return null
  const at = now.updates.findIndex((byte, n) => byte !== published.updates[n])
  const update = at === -1 ? null : Math.floor(at / 2)
  const width = Math.ceil(played.updates / every)
  const players =
    update === null
      ? []
      : now.players.filter((id, row) => {
          const before = published.players.indexOf(id)
          const span = Math.floor(update / every)
          return before === -1 || now.spans[row * width + span] !== published.spans[before * width + span]
        })
  const shown = players.slice(0, SHOWN).map((id) => described(played, id, update ?? 0))
  const more = players.length > SHOWN ? ` and ${players.length - SHOWN} more` : ''
  const where = update === null ? 'some update' : `update ${update + 1} of ${played.updates}`
  const within = every === 1 ? '' : ` (within ${every} updates)`
  const text = `${name}, ${where}: the prices differ of ${shown.join(', ') || 'some player'}${more}${within}`
  return { kind: 'price', text, update: update === null ? null : update + 1, players }
}

/** Players that a difference names. */
const SHOWN = 3

function described({ paths }: Played, id: number, update: number): string {
  const path = paths.get(id)
  const base = path?.prices[update]
  return `${path?.name ?? 'player'} (${id}, ${base === undefined ? 'not listed' : `now ${decimal(base)}`})`
}

export const PUBLISHED_PATH = join(import.meta.dirname, 'published-prices.json.br')

/** Reads what was published. Throws if the file is missing or damaged. */
export async function readPublished(): Promise<PublishedFile> {
  return PublishedFile.parse(JSON.parse(brotliDecompressSync(await readFile(PUBLISHED_PATH)).toString('utf8')))
}

export interface Checked {
  /** One line for each recording that differs, or was not published. */
  readonly flaws: readonly string[]
  /** Published matches with another price. */
  readonly moved: number
  /** Recordings that were played. */
  readonly played: number
}

/** Plays recordings and holds each against what was published. `onPlayed` gets each of them. */
export async function check(
  { modelVersion, recordings }: PublishedFile,
  past: AsyncIterable<Recording> | Iterable<Recording>,
  onPlayed: (played: Played) => void = () => undefined,
  model: ScoringModel = DEFAULT_MODEL,
): Promise<Checked> {
  const flaws: string[] = []
  let [moved, played] = [0, 0]
  if (modelVersion !== MODEL_VERSION) {
    flaws.push(`the published prices are of model version ${modelVersion}, the model is of version ${MODEL_VERSION}`)
  }
  for await (const recording of past) {
    const now = play(recording, model)
    played++
    onPlayed(now)
    const published = recordings.find(({ name }) => name === recording.name)
    const found = published === undefined ? null : difference(published, now)
    if (found?.kind === 'price') moved++
    if (published === undefined) flaws.push(`${recording.name}: nothing is published about it`)
    else if (found !== null) flaws.push(found.text)
  }
  return { flaws, moved, played }
}
