/** A client of the provider's HTTP API: bounds the size and time of answers, and has one kind of error. */
import { z } from 'zod'
import type { FixtureId } from '../../actors/kernel/ids.ts'
import { type Instant, SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { SaidFixture } from '../../actors/market/fixture.ts'
import type { Allowance } from '../../actors/market/polling.ts'
import type { UpdateSource } from '../../actors/match/messages.ts'
import type { Provider, ProviderAnswer, UnreadableFixture } from '../../rooms/sources/provider.ts'
import { flag, listIn } from './fields.ts'
import { instrumentIdFor } from './instrument-ids.ts'
import { type Parsed, parseFixture } from './snapshot.ts'

export interface ProviderOptions {
  /** Root of the API, with or without the version: `https://api.sportmonks.com/v3/football`. */
  readonly url: string
  /** Sent in a header only: addresses are logged on both sides. */
  readonly token: string
  /** For a whole answer, to its last byte. */
  readonly timeoutMs: number
  readonly world: Pick<World, 'now'>
}

/** All that a match update needs. Team statistics come with their names, which are shown unchanged. */
const INCLUDE =
  'state;league;participants;scores;periods;detailedPeriods;events;statistics.type;lineups.details;lineups.player'
/** The calendar needs an outline. It alone has the odds: live scores come without them. */
const OUTLINE = 'state;league;participants;scores'
/** The odds of the full-time result, instead of some thousand rows of other markets. */
const ODDS = { include: `${OUTLINE};odds`, filters: 'markets:1' } as const
/** The namespace of the instruments of real players. */
const PLAYERS = 'provider'
const DEFAULT_PATH = '/v3/football'
/** A busy Saturday is about 5 MiB. */
const BODY_MAX_BYTES = 64 * 1024 * 1024
/** Fixtures per page where we say so, and pages per list: more than the fixtures of the world in nine days. */
const PAGE = 50
const PAGES_MAX = 200
/** Fixtures per request by id. */
const IDS_MAX = 50
/** The status with which the provider refuses what the plan does not include. */
const FORBIDDEN = 403
/** The provider's own number for a spent quota; it comes with any status. */
const QUOTA_SPENT = 5005
/** How the provider says that there is nothing: with status 200 or 404, and without data. */
const NOTHING_FOUND = /^no result/i
/** Characters of the provider's error text that are repeated in ours. */
const WORDS_MAX = 200

/** The provider did not answer, or sent something else than requested. The same request may succeed later. */
export class ProviderTrouble extends Error {
  override name = 'ProviderTrouble'
  /** The pause that the provider asks for. */
  readonly retryAfterMs: number | null
  /** The status of its answer; null when there was none. */
  readonly status: number | null

  constructor(
    message: string,
    options: { readonly retryAfterMs?: number | null; readonly status?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.retryAfterMs = options.retryAfterMs ?? null
    this.status = options.status ?? null
  }
}

/** A number, maybe as text. Absent is not 0: 0 calls left means a pause of an hour. */
const numeric = z.preprocess((value) => (typeof value === 'string' ? Number(value.trim() || NaN) : value), z.number())
const count = numeric.pipe(z.int().nonnegative())
/** A quota is renewed each hour: more seconds are something else, such as milliseconds. */
const HOUR_SECS = 3_600
const rateLimit = z
  .object({ remaining: count, resets_in_seconds: count })
  .transform(({ remaining, resets_in_seconds: secs }): Allowance => ({
    remaining,
    resetsInSecs: Math.min(HOUR_SECS, secs),
  }))
  .nullable()
  .catch(null)
const envelope = z.object({
  data: z.unknown().optional(),
  message: z.string().trim().min(1).optional().catch(undefined),
  error: z.unknown().optional(),
  errors: z.unknown().optional(),
  code: numeric.nullable().catch(null).default(null),
  rate_limit: rateLimit.default(null),
  pagination: z
    .object({
      has_more: z.unknown().transform((value) => flag(value, '', {}) === true),
      next_cursor: z.string().nullable().catch(null),
    })
    .nullable()
    .catch(null)
    .default(null),
})
type Envelope = z.output<typeof envelope>

interface Reply {
  readonly status: number
  readonly retryAfterMs: number | null
  readonly text: string
}

/** The fixtures of the provider as snapshots. Its methods throw ProviderTrouble. */
export function createProvider(options: ProviderOptions): Provider {
  const base = baseOf(options.url)
  const ask = (path: string, query: Readonly<Record<string, string>> = {}): Promise<Envelope> =>
    request(addressOf(base, path, { include: INCLUDE, ...query }), options)
  const teams = new KnownTeams()
  const answer = (replies: readonly Envelope[]): ProviderAnswer => {
    const receivedAt = options.world.now()
    const sources = new Map<SaidFixture, UpdateSource>()
    const unreadable: UnreadableFixture[] = []
    const refused = new Map<FixtureId, readonly string[]>()
    const parse = (payload: unknown): Parsed =>
      parseFixture(payload, { instrumentIdOf: (id) => instrumentIdFor(PLAYERS, id), receivedAt })
    for (const said of replies.flatMap(({ data }) => fixturesIn(data))) {
      try {
        const first = parse(said)
        const payload = first.ok ? said : teams.completed(said)
        const parsed = payload === said ? first : parse(payload)
        if (parsed.ok) {
          teams.remember(payload)
          sources.set(parsed.snapshot, { payload, players: PLAYERS })
          const names = Object.keys(parsed.skipped)
          if (names.length > 0) refused.set(parsed.snapshot.fixtureId, names.toSorted())
        } else unreadable.push({ matchId: fixtureIn(said), detail: parsed.reason })
      } catch (error) {
        // One fixture must never cost the others their update, whatever it holds.
        unreadable.push({ matchId: fixtureIn(said), detail: `the payload cannot be read: ${String(error)}` })
      }
    }
    return {
      fixtures: [...sources.keys()],
      sources,
      unreadable,
      refused,
      allowance: replies.at(-1)?.rate_limit ?? null,
    }
  }
  /** Whether each page of the last calendar had fixtures: known ones are gone when two calendars say so. */
  let isWhole = true
  let hasOdds = true
  /**
   * A plan without odds refuses the whole request: it is repeated without them, and they are never asked for again.
   */
  const askWithOdds = async (path: string, query: Readonly<Record<string, string>>): Promise<Envelope> => {
    if (!hasOdds) return ask(path, { include: OUTLINE, ...query })
    try {
      return await ask(path, { ...ODDS, ...query })
    } catch (error) {
      if (!(error instanceof ProviderTrouble) || error.status !== FORBIDDEN) throw error
      // Without odds it is answered, so it was the odds that were refused.
      const reply = await ask(path, { include: OUTLINE, ...query })
      hasOdds = false
      return reply
    }
  }
  return {
    inPlay: async () => {
      const troubles: ProviderTrouble[] = []
      const askPage = (page: Page): Promise<Envelope> => ask('livescores/inplay', page)
      const replies = await pagesOf(askPage, (trouble) => troubles.push(trouble))
      const [incomplete] = troubles
      return { ...answer(replies), ...(incomplete === undefined ? {} : { incomplete }) }
    },
    fixtures: async (ids) => {
      const replies: Envelope[] = []
      for (const some of chunksOf(ids)) {
        const path = `fixtures/multi/${some.join(',')}`
        replies.push(...(await pagesOf((page) => ask(path, { per_page: String(PAGE), ...page }))))
      }
      return answer(replies)
    },
    calendar: async (from, to) => {
      const path = `fixtures/between/${dayOf(from)}/${dayOf(to)}`
      const replies = await pagesOf((page) => askWithOdds(path, { per_page: String(PAGE), ...page }))
      const wasWhole = isWhole
      isWhole = replies.every(({ data }) => fixturesIn(data).length > 0)
      if (!isWhole && wasWhole) throw new ProviderTrouble('a page of the calendar names no fixture')
      return answer(replies)
    },
  }
}

/** Fixtures whose teams are remembered: more than are in play at once. */
const TEAMS_MAX = 2_000

/** The teams of the fixtures that were read last: a list of them that is empty for a while changes nothing. */
class KnownTeams {
  readonly #byFixture = new Map<unknown, unknown>()

  remember(payload: unknown): void {
    const id = String(idIn(payload))
    this.#byFixture.delete(id)
    this.#byFixture.set(id, participantsIn(payload))
    const [oldest] = this.#byFixture.keys()
    if (this.#byFixture.size > TEAMS_MAX) this.#byFixture.delete(oldest)
  }

  /** The payload with the teams that its fixture had. */
  completed(payload: unknown): unknown {
    const participants = this.#byFixture.get(String(idIn(payload)))
    return participants === undefined || typeof payload !== 'object' ? payload : { ...payload, participants }
  }
}

const participantsIn = (payload: unknown): unknown =>
  typeof payload === 'object' && payload !== null && 'participants' in payload ? payload.participants : undefined

type Page = Readonly<Record<string, string>>

/**
 * All pages of a list: a match on a page that is not read would never start. One that brings no fixture which an
 * earlier one has not brought is the last: some lists have no pages, and yet say that there are more.
 * @param onBroken told when a page after the first fails; without it the whole list does.
 */
async function pagesOf(
  ask: (page: Page) => Promise<Envelope>,
  onBroken?: (trouble: ProviderTrouble) => void,
): Promise<readonly Envelope[]> {
  const replies: Envelope[] = []
  const seen = new Set<unknown>()
  for (let page: Page | null = {}; page !== null;) {
    if (replies.length === PAGES_MAX) throw new ProviderTrouble(`the provider's list has more than ${PAGES_MAX} pages`)
    let reply: Envelope
    try {
      reply = await ask(page)
    } catch (error) {
      if (replies.length === 0 || onBroken === undefined || !(error instanceof ProviderTrouble)) throw error
      onBroken(error)
      return replies
    }
    replies.push(reply)
    const known = seen.size
    for (const payload of fixturesIn(reply.data)) seen.add(idIn(payload))
    page = seen.size === known ? null : nextPage(reply, replies.length)
  }
  return replies
}

/** The next page, by cursor or else by number; null after the last. */
function nextPage({ pagination }: Envelope, read: number): Page | null {
  if (pagination === null || !pagination.has_more) return null
  return pagination.next_cursor === null ? { page: String(read + 1) } : { cursor: pagination.next_cursor }
}

function* chunksOf(ids: readonly FixtureId[]): Generator<readonly FixtureId[]> {
  for (let from = 0; from < ids.length; from += IDS_MAX) yield ids.slice(from, from + IDS_MAX)
}

/** One fixture comes as an object, several as a list, none as neither. */
const fixturesIn = (data: unknown): readonly unknown[] =>
  listIn(data) ?? (data === undefined || data === null ? [] : [data])

const idIn = (payload: unknown): unknown =>
  typeof payload === 'object' && payload !== null && 'id' in payload ? payload.id : null

/** The fixture that a payload is about, for people; null where it does not say. */
function fixtureIn(payload: unknown): number | null {
  const id = idIn(payload)
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? id : null
}

function baseOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname === '/' ? DEFAULT_PATH : pathname.replace(/\/+$/, '')}`
}

function addressOf(base: string, path: string, query: Readonly<Record<string, string>>): string {
  return `${base}/${path}?${new URLSearchParams(query).toString()}`
}

const dayOf = (at: Instant): string => new Date(at).toISOString().slice(0, 10)

/**
 * Asks once. Only an answer that says so is "nothing found": an error must never look like a day without matches,
 * whatever its status is.
 */
async function request(address: string, options: ProviderOptions): Promise<Envelope> {
  const { status, retryAfterMs, text } = await fetchText(address, options)
  const body = parseBody(text)
  if (body !== null && (status === 200 || status === 404) && isNothingFound(body)) return { ...body, data: null }
  if (status === 200 && body === null)
    throw new ProviderTrouble(`the provider sent ${text.length} characters that are not a valid answer`)
  if (status === 200 && body !== null && body.code === null && isListing(body)) return body
  const words = body?.message?.slice(0, WORDS_MAX) ?? 'no message'
  const isSpent = status === 429 || body?.code === QUOTA_SPENT
  const code = status === 200 && typeof body?.code === 'number' ? ` (code ${body.code})` : ''
  throw new ProviderTrouble(`the provider answered ${status}: ${words}${code}`, {
    retryAfterMs: isSpent ? (retryAfterMs ?? resetMs(body)) : retryAfterMs,
    status,
  })
}

const isNothingFound = ({ data, message }: Envelope): boolean =>
  fixturesIn(data).length === 0 && message !== undefined && NOTHING_FOUND.test(message)

/** What an answer without an error holds: a list, one fixture, or null where there is none. Without any, no words. */
const isListing = ({ data, ...words }: Envelope): boolean =>
  (data === null || listIn(data) !== null || (typeof data === 'object' && 'id' in data)) &&
  (fixturesIn(data).length > 0 || [words.message, words.error, words.errors].every(isNone))

const isNone = (said: unknown): boolean =>
  typeof said === 'object' && said !== null ? Object.keys(said).length === 0 : !said

async function fetchText(address: string, { token, timeoutMs, world }: ProviderOptions): Promise<Reply> {
  try {
    const response = await fetch(address, {
      headers: { authorization: token, accept: 'application/json' },
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error', // the token must not reach another host
    })
    const retryAfterMs = pauseAsked(response.headers, world.now())
    return { status: response.status, retryAfterMs, text: await boundedText(response) }
  } catch (error) {
    if (error instanceof ProviderTrouble) throw error
    const late = error instanceof Error && error.name === 'TimeoutError'
    throw new ProviderTrouble(late ? `the provider took longer than ${timeoutMs} ms` : 'the provider is unavailable', {
      cause: error,
    })
  }
}

/**
 * `Retry-After` in either legal form, seconds or a date; null where there is none, or nonsense. A date is by the clock
 * of the answer's own `Date`, which may differ from ours.
 */
function pauseAsked(headers: Headers, now: Instant): number | null {
  const header = headers.get('retry-after')
  if (header === null) return null
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return Number(header) * SECOND_MS
  const [until, sent] = [Date.parse(header), Date.parse(headers.get('date') ?? '')]
  return Number.isNaN(until) ? null : Math.max(0, until - (Number.isNaN(sent) ? now : sent))
}

async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > BODY_MAX_BYTES) throw new ProviderTrouble(`the provider sent more than ${BODY_MAX_BYTES} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** Reads an object with any fields; null for anything else. */
function parseBody(text: string): Envelope | null {
  const read = jsonIn(text) ?? (text.length <= MENDED_MAX ? jsonIn(withoutNoNumbers(text)) : null)
  const parsed = envelope.safeParse(read)
  return parsed.success ? parsed.data : null
}

/** Characters of an answer that is read a second time: each mark of it takes time and memory. */
const MENDED_MAX = 8 * 1024 * 1024

/** The ends of texts, what is escaped in them, and what is no number. */
const MARK = /\\.|"|-?\b(?:NaN|Infinity)\b/gs

/** NaN and Infinity, outside of texts, become null: one of them must not make the other fixtures unreadable. */
function withoutNoNumbers(text: string): string {
  let isText = false
  return text.replace(MARK, (mark) => {
    if (mark === '"') isText = !isText
    return isText || mark === '"' || mark.startsWith('\\') ? mark : 'null'
  })
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const resetMs = (body: Envelope | null): number | null =>
  body === null || body.rate_limit === null ? null : body.rate_limit.resetsInSecs * SECOND_MS
