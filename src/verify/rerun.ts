/**
 * Runs a match again from what its tape and its recording say that it was asked, with the game's own rules. What
 * follows must be what the tape says that followed, to the micro.
 */
import {
  fixtureId,
  type InstrumentId,
  instrumentId,
  leagueId,
  playerId,
  type PlayerId,
  positionId,
  userId,
} from '../../actors/kernel/ids.ts'
import { lots, price } from '../../actors/kernel/micros.ts'
import type { Outcome } from '../../actors/kernel/outcome.ts'
import { oneOf } from '../../actors/kernel/read.ts'
import { proceed } from '../../actors/match/decide.ts'
import type { FeedTerms } from '../../actors/match/feed-updates.ts'
import { continueStep, findStep, leavingOf, type SharedStep } from '../../actors/match/shared-step.ts'
import { Draft, MatchState, newMatch } from '../../actors/match/state.ts'
import type { Heard, HeardAfter, MatchRecord } from '../../actors/match/store.ts'
import { changeLevels, close, open } from '../../actors/match/trading.ts'
import type { Allowed } from '../../actors/match/terms.ts'
import { leaguePrice } from '../../actors/position/fills.ts'
import { byAge, DIRECTIONS, type Position } from '../../actors/position/position.ts'
import { triggerAt } from '../../actors/position/triggers.ts'
import { sharing } from '../../actors/replay/sharing.ts'
import { factsOf, type Standing } from '../../actors/tape/facts.ts'
import { commitsOf, Flaw, type Positions, type TapeLine } from '../../actors/tape/read-tape.ts'
import { Listener } from '../provider/listener.ts'
import { type HeardLine, type Line, readLine, type Update } from '../provider/recording-line.ts'

/** Told how many lines are proved. */
export type Progress = (done: number, all: number) => Promise<void>

/** About 30 ms of work. */
const COMMITS_A_TURN = 20

const noPause = (): Promise<void> => Promise.resolve()

/** What is asked by a line of a tape, rather than follows. */
const isAsked = ({ kind, by, reason }: TapeLine): boolean =>
  kind === 'hear' ||
  kind === 'open' ||
  kind === 'levels' ||
  kind === 'reduce' ||
  kind === 'forget' ||
  (kind === 'close' && (by === 'user' || reason === 'operator'))

export class Rerun {
  readonly #lines: readonly TapeLine[]
  readonly #positions: Positions
  readonly #heard: Iterator<HeardLine>
  readonly #listener: Listener
  /** Players that the tape lists; the others are held by another match, which no rerun needs to know. */
  readonly #players: ReadonlyMap<PlayerId, InstrumentId>
  readonly #strangers = new Set<string>()
  /** By pseudonym: an id that sorts positions of one moment as they were closed, as their own ids did. */
  readonly #ids: ReadonlyMap<string, string>
  readonly #names: ReadonlyMap<string, string>
  #state: MatchState | null = null
  #standing: Standing = null
  #epoch: unknown = null
  #isInClosingOrder = false
  #before: unknown = null

  constructor(lines: readonly TapeLine[], positions: Positions, heard: Iterable<HeardLine>) {
    this.#lines = lines
    this.#positions = positions
    this.#heard = heard[Symbol.iterator]()
    const listed = lines.filter(({ kind }) => kind === 'listed')
    this.#players = new Map(
      listed.map((one) => [playerId(Number(one['playerId'])), instrumentId(String(one['player']))]),
    )
    const closed = lines.flatMap(({ kind, id }) => (kind === 'close' && id !== undefined ? [id] : []))
    const opened = lines.flatMap(({ kind, id }) => (kind === 'open' && id !== undefined ? [id] : []))
    this.#ids = new Map([...new Set([...closed, ...opened])].map((id, n) => [id, String(n).padStart(12, '0')]))
    this.#names = new Map([...this.#ids].map(([name, id]) => [id, name]))
    this.#listener = new Listener(Number(lines[0]?.['matchId']), (_, player) => {
      const known = this.#players.get(player)
      if (known === undefined) this.#strangers.add(`held/${player}`)
      return known ?? instrumentId(`held/${player}`)
    })
  }

  /** Throws a Flaw with the first line that does not follow. */
  async run(progress: Progress): Promise<void> {
    for (const [index, commit] of commitsOf(this.#lines).entries()) {
      if (index % COMMITS_A_TURN === 0) await progress(commit[0].n, this.#lines.length)
      await this.#commit(commit).catch((error: unknown) => {
        if (error instanceof Flaw) throw error
        const why = error instanceof Error ? error.message : String(error)
        throw new Flaw(commit[0].n, `what follows cannot be run: ${why}`)
      })
    }
  }

  async #commit([head, ...lines]: readonly [TapeLine, ...TapeLine[]]): Promise<void> {
    const { epoch, at, room } = head
    if (epoch !== this.#epoch) this.#takeOver()
    this.#epoch = epoch
    const terms = (histories?: Update['histories']): FeedTerms => this.#listener.termsAt(Number(at), noId, histories)
    const heard: HeardAfter[] = []
    let draft = this.#state === null ? null : new Draft(this.#state, Number(room))
    let isUpdated = false
    const asked = lines.filter(isAsked)
    for (const line of asked) {
      if (line.kind !== 'hear') {
        this.#order(present(draft, line), line, terms())
        continue
      }
      const found = this.#hear(line, at)
      const after = draft?.events.length ?? 0
      heard.push({ after, heard: { kind: found.kind } as Heard })
      if (found.kind === 'rules') {
        this.#listener.follow(found)
        continue
      }
      const command = this.#listener.commandOf(found)
      isUpdated ||= command.kind === 'feed_update'
      if (draft === null && command.kind === 'feed_update') {
        const first = newMatch(command.snapshot, { replay: Boolean(this.#lines[0]?.['replay']), purse: this.#purse() })
        this.#state = new MatchState(first)
        draft = new Draft(this.#state, Number(room))
      }
      proceed(present(draft, line), command, terms(found.kind === 'update' ? this.#held(found) : undefined))
    }
    // A commit without a request continues a step.
    if (asked.every(({ what }) => what === 'rules') && draft !== null) await this.#step(draft, lines, terms())
    if (draft !== null) this.#compare(head, lines, draft, heard)
    if (isUpdated) this.#listener.priced()
  }

  #purse() {
    return oneOf(['main', 'practice'])(this.#lines[0]?.['purse'], 'purse')
  }

  /** What the recording has at this place. */
  #hear({ n, digest, what }: TapeLine, at: unknown): Line {
    const next = this.#heard.next()
    if (next.done === true) throw new Flaw(n, 'the recording ends before it')
    if (next.value.digest !== digest) throw new Flaw(n, 'the recording has something else at this place')
    const line = readLine(this.#read(next.value.text))
    if (line.kind !== what) throw new Flaw(n, `the recording has ${line.kind} at this place`)
    if (line.at !== at) throw new Flaw(n, `it was heard at ${line.at}, not with its commit`)
    return line
  }

  /** Equal parts of payloads are kept once, which lets the parser read them once. */
  #read(text: string): unknown {
    const parsed: unknown = JSON.parse(text)
    if (!text.startsWith('{"kind":"update"')) return parsed
    return (this.#before = sharing(this.#before, parsed))
  }

  /** Players that the tape never lists were held by other matches. */
  #held({ histories }: Update): Update['histories'] {
    const held = { last: null, anchor: null, past: null, heldBy: fixtureId(0) }
    return { ...histories, ...Object.fromEntries([...this.#strangers].map((id) => [id, held])) }
  }

  #order(draft: Draft, line: TapeLine, terms: FeedTerms): void {
    const { n, id: name = '' } = line
    const id = positionId(this.#ids.get(name) ?? name)
    const own = { userId: userId(id), positionId: id }
    const levels = this.#positions.levels.get(n) ?? { stopLoss: null, takeProfit: null }
    let outcome: Outcome<Allowed> | null = null
    if (line.kind === 'open') {
      const player = instrumentId(String(line['player']))
      const isLeague = line['league'] === true
      const seen = draft.instrument(player)
      const order = {
        kind: 'open_position',
        userId: userId(id),
        instrumentId: player,
        direction: oneOf(DIRECTIONS)(line['direction'], 'direction'),
        lots: lots(Number(line['lots'])),
        // Which price the owner saw is between them and the server.
        clientPrice: seen === undefined ? price(1) : isLeague ? leaguePrice(seen) : seen.published,
        idempotency: null,
        ...(isLeague ? { league: SOME_LEAGUE } : {}),
        ...levels,
      } as const
      outcome = open(draft, order, { ...terms, newId: () => id })
    } else if (line.kind === 'levels') {
      // One that was kept is not judged: the shown price may have passed it.
      const before = draft.position(id)
      const stopLoss = levels.stopLoss === before?.stopLoss ? undefined : levels.stopLoss
      const takeProfit = levels.takeProfit === before?.takeProfit ? undefined : levels.takeProfit
      outcome = changeLevels(draft, { kind: 'change_levels', ...own, stopLoss, takeProfit }, terms)
    } else if (line.kind === 'reduce') {
      const part = { lots: lots(Number(line['lots'])), idempotency: null }
      outcome = close(draft, { kind: 'close_part', ...own, ...part }, { ...terms, newId: () => `${id}/${n}` })
    } else if (line.kind === 'close' && line['by'] === 'user') {
      outcome = close(draft, { kind: 'close_position', ...own, idempotency: null }, terms)
    } else proceed(draft, { kind: 'void_position', positionId: id }, terms)
    if (outcome?.ok === false) throw new Flaw(n, `the rules refuse it: ${outcome.refusal.code}`)
  }

  /** Continues to close the positions that leave together. Which of them a commit closes is the tape's to say. */
  async #step(draft: Draft, lines: readonly TapeLine[], terms: FeedTerms): Promise<void> {
    const leaving = leavingOf(draft)
    if (leaving === null) return
    const step = await findStep(draft, leaving.instrument, leaving.from, noPause)
    const order = lines.flatMap(({ kind, id = '' }) => (kind === 'close' ? [this.#ids.get(id) ?? id] : []))
    continueStep(draft, inOrder(step, order, draft.room), terms)
  }

  #compare(head: TapeLine, lines: readonly TapeLine[], draft: Draft, heard: readonly HeardAfter[]): void {
    const { at, epoch, room } = head
    const commit = { at: Number(at), epoch: Number(epoch), room: Number(room), heard, events: draft.events }
    const nameOf = (id: string): string => this.#names.get(id) ?? ''
    const { told, standing } = factsOf(commit, this.#standing, nameOf)
    for (const [n, line] of [head, ...lines].entries()) {
      const one = told[n]
      const { n: number, prev: _, hash: __, id, owner: ___, levels: ____, key: _____, digest: ______, ...said } = line
      const follows = one === undefined ? 'nothing' : JSON.stringify(one.fact)
      if (follows !== JSON.stringify(said)) throw new Flaw(number, `${follows} follows`)
      const name = one?.position === null || one === undefined ? undefined : nameOf(one.position.id)
      if (name !== id) throw new Flaw(number, `it is about position ${name ?? 'none'}`)
    }
    const missing = told[lines.length + 1]
    if (missing !== undefined) throw new Flaw(lines.at(-1)?.n ?? head.n, `${JSON.stringify(missing.fact)} follows it`)
    this.#standing = standing
    for (const event of draft.events) present(this.#state, head).apply(event)
    const isSettling = this.#state !== null && this.#state.info.settling !== null
    if (isSettling && !this.#isInClosingOrder) this.#rebuild((a, b) => (a.id < b.id ? -1 : 1))
    this.#isInClosingOrder = isSettling
  }

  /** A new owner has loaded the match, in this order. */
  #takeOver(): void {
    this.#standing = null
    this.#listener.newOwner()
    if (!this.#isInClosingOrder) this.#rebuild(byAge)
  }

  #rebuild(order: (a: Position, b: Position) => number): void {
    if (this.#state === null) return
    const record = recordOf(this.#state)
    this.#state = new MatchState({
      ...record,
      instruments: record.instruments.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      openPositions: record.openPositions.toSorted(order),
    })
  }
}

/** A step that closes these positions first, in this order, with as many warnings as there is room for. */
function inOrder(step: SharedStep, ids: readonly string[], room: number): SharedStep {
  const due = new Map(step.due.map((one) => [one.position.id as string, one]))
  const first = ids.flatMap((id) => due.get(id) ?? [])
  const isWarning = ({ position, exit }: SharedStep['due'][number]): boolean => triggerAt(position, exit) === null
  const rest = step.due
    .filter((one) => !first.includes(one))
    .toSorted((a, b) => Number(isWarning(b)) - Number(isWarning(a)))
  return { ...step, due: [...first.slice(0, room), ...rest] }
}

/** The tape does not say which. All trade alike. */
const SOME_LEAGUE = leagueId('00000000-0000-4000-8000-000000000000')

const recordOf = (state: MatchState): MatchRecord => ({
  info: state.info,
  pricing: state.pricing,
  instruments: [...state.instruments()],
  openPositions: [...state.openPositions()],
  movableCloses: [...state.movableCloses()],
})

function present<T>(value: T | null, line: TapeLine): T {
  if (value === null) throw new Flaw(line.n, 'the match has heard no update by then')
  return value
}

const noId = (): never => {
  throw new Error('a rerun makes no ids')
}
