/**
 * Derives the base prices of a match again from what it heard, with the game's own rules and the provider's parser and
 * nothing else of the server. Users' orders are not needed: no order moves a base.
 */
import { fixtureId, type InstrumentId, type PlayerId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, type TradingRules } from '../../actors/kernel/limits.ts'
import type { Price } from '../../actors/kernel/micros.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import type { ScoringModel } from '../../actors/market/pricing.ts'
import { proceed } from '../../actors/match/decide.ts'
import type { FeedTerms } from '../../actors/match/feed-updates.ts'
import type { MatchEvent, SystemCommand } from '../../actors/match/messages.ts'
import { Draft, MatchState, type MatchView, newMatch } from '../../actors/match/state.ts'
import { instrumentIdFor } from '../../src/provider/instrument-ids.ts'
import { parseFixture } from '../../src/provider/snapshot.ts'
import { type Line, modesOf, type Payload, readLine, type Update } from './journal-line.ts'

/** One move of a base. */
export interface BaseMove {
  readonly instrumentId: InstrumentId
  readonly base: Price
  readonly at: number
}

/** A match that hears its journal again. */
export class Rederivation {
  readonly #matchId: number
  #state: MatchState | null = null
  #rules: TradingRules = DEFAULT_RULES
  #model: ScoringModel | null = null
  /** By namespace and player: deriving an id costs more than pricing the player. */
  readonly #ids = new Map<string, InstrumentId>()
  /** The model of the last update that this owner priced. */
  #priced: ScoringModel | null = null
  #epoch: number | null = null

  constructor(matchId: number) {
    this.#matchId = matchId
  }

  /** The base of each player now. */
  get bases(): ReadonlyMap<InstrumentId, Price> {
    return new Map([...(this.#state?.instruments() ?? [])].map(({ id, base }) => [id, base]))
  }

  /** The match now; null before its first update. */
  get state(): MatchView | null {
    return this.#state
  }

  /** Those in force. */
  get rules(): TradingRules {
    return this.#rules
  }

  /** The number of the last update. */
  get feedSeq(): number {
    return this.#state?.info.feedSeq ?? 0
  }

  /** What the next entry of an owner does to the bases. Throws when it cannot be read. */
  hear(line: unknown, epoch: number): readonly BaseMove[] {
    // A new owner continues from what is stored, and has priced nothing yet.
    if (this.#epoch !== epoch) this.#priced = null
    this.#epoch = epoch
    return this.#hear(readLine(line))
  }

  #hear(line: Line): readonly BaseMove[] {
    if (line.kind === 'rules') {
      // The journal is the server's own, and its numbers were validated when they were set.
      this.#rules = { ...DEFAULT_RULES, ...line.rules, modes: modesOf(line.rules['modes']) }
      this.#model = line.model as unknown as ScoringModel
      return []
    }
    if (this.#model === null) throw new Error('the journal does not begin with the rules')
    const command = this.#commandOf(line)
    if (command.kind === 'feed_update') {
      this.#state ??= new MatchState(newMatch(command.snapshot, { replay: line.kind === 'update' && isReplay(line) }))
    }
    if (this.#state === null) throw new Error('the journal has no update before the first clock')
    const draft = new Draft(this.#state)
    proceed(draft, command, this.#termsOf(line))
    for (const event of draft.events) this.#apply(this.#state, event)
    if (command.kind === 'feed_update') this.#priced = this.#model
    return draft.events.flatMap((event): BaseMove[] =>
      event.kind === 'price_moved' ? [{ instrumentId: event.instrumentId, base: event.quote.base, at: event.at }] : [],
    )
  }

  /** Positions that are still leaving delay a settlement, and are not known here. So the journal says when it ends. */
  #apply(state: MatchState, event: MatchEvent): void {
    if (event.kind === 'instrument_settled') return
    if (event.kind !== 'match_updated') return state.apply(event)
    state.apply({ ...event, info: { ...event.info, settling: null, settledAt: null } })
  }

  #termsOf(line: Line): FeedTerms {
    const model = this.#model as ScoringModel
    const histories = line.kind === 'update' ? new Map(Object.entries(line.histories)) : new Map()
    const newId = (): never => {
      throw new Error('a derivation makes no ids')
    }
    return { at: line.at, rules: this.#rules, model, priorModel: this.#priced ?? model, newId, histories }
  }

  #commandOf(line: Exclude<Line, { kind: 'rules' }>): SystemCommand {
    if (line.kind === 'clock') return { kind: 'clock' }
    if (line.kind === 'end') return { kind: 'end_match', ending: line.ending }
    const { seq, speed } = line
    const snapshot = 'snapshot' in line ? line.snapshot : this.#snapshotOf(line)
    return { kind: 'feed_update', seq, speed, snapshot }
  }

  #snapshotOf({ payload, players, startsAt, sourceAt, expectedGoals }: Payload): FixtureSnapshot {
    const parsed = parseFixture(payload, {
      instrumentIdOf: (player) => this.#idOf(players, player),
      receivedAt: startsAt,
    })
    if (!parsed.ok) throw new Error(`the payload of an update cannot be read: ${parsed.reason}`)
    return { ...parsed.snapshot, fixtureId: fixtureId(this.#matchId), sourceAt, expectedGoals }
  }

  #idOf(players: string, player: PlayerId): InstrumentId {
    const key = `${players}/${player}`
    const id = this.#ids.get(key) ?? instrumentIdFor(players, player)
    this.#ids.set(key, id)
    return id
  }
}

/** No base depends on it, so a journal that begins with a snapshot, which does not say it, is taken for live. */
const isReplay = (update: Update): boolean => 'players' in update && update.players.startsWith('replay/')
