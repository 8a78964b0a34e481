/**
 * Derives the base prices of a match again from what it heard, with the game's own rules and the provider's parser and
 * nothing else of the server. Users' orders are not needed: no order moves a base.
 */
import type { InstrumentId, PlayerId } from '../../actors/kernel/ids.ts'
import type { TradingRules } from '../../actors/kernel/limits.ts'
import type { Price } from '../../actors/kernel/micros.ts'
import { proceed } from '../../actors/match/decide.ts'
import type { MatchEvent } from '../../actors/match/messages.ts'
import { Draft, MatchState, type MatchView, newMatch } from '../../actors/match/state.ts'
import { instrumentIdFor } from '../../src/provider/instrument-ids.ts'
import { type Line, readLine, type Update } from '../../src/provider/recording-line.ts'
import { Listener } from '../../src/provider/listener.ts'

/** One move of a base. */
export interface BaseMove {
  readonly instrumentId: InstrumentId
  readonly base: Price
  readonly at: number
}

/** A match that hears its journal again. */
export class Rederivation {
  readonly #listener: Listener
  #state: MatchState | null = null
  /** By namespace and player: deriving an id costs more than pricing the player. */
  readonly #ids = new Map<string, InstrumentId>()
  #epoch: number | null = null

  constructor(matchId: number) {
    this.#listener = new Listener(matchId, (players, player) => this.#idOf(players, player))
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
    return this.#listener.rules
  }

  /** The number of the last update. */
  get feedSeq(): number {
    return this.#state?.info.feedSeq ?? 0
  }

  /** What the next entry of an owner does to the bases. Throws when it cannot be read. */
  hear(line: unknown, epoch: number): readonly BaseMove[] {
    if (this.#epoch !== epoch) this.#listener.newOwner()
    this.#epoch = epoch
    return this.#hear(readLine(line))
  }

  #hear(line: Line): readonly BaseMove[] {
    if (line.kind === 'rules') {
      this.#listener.follow(line)
      return []
    }
    const histories = line.kind === 'update' ? line.histories : {}
    const terms = this.#listener.termsAt(line.at, noId, histories)
    const command = this.#listener.commandOf(line)
    if (command.kind === 'feed_update') {
      this.#state ??= new MatchState(newMatch(command.snapshot, { replay: line.kind === 'update' && isReplay(line) }))
    }
    if (this.#state === null) throw new Error('the journal has no update before the first clock')
    const draft = new Draft(this.#state)
    proceed(draft, command, terms)
    for (const event of draft.events) this.#apply(this.#state, event)
    if (command.kind === 'feed_update') this.#listener.priced()
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

  #idOf(players: string, player: PlayerId): InstrumentId {
    const key = `${players}/${player}`
    const id = this.#ids.get(key) ?? instrumentIdFor(players, player)
    this.#ids.set(key, id)
    return id
  }
}

const noId = (): never => {
  throw new Error('a derivation makes no ids')
}

/** No base depends on it, so a journal that begins with a snapshot, which does not say it, is taken for live. */
const isReplay = (update: Update): boolean => 'players' in update && update.players.startsWith('replay/')
