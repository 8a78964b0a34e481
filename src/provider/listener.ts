/** Turns the lines of a recording into what its match heard, with the rules in force, for a rerun of the match. */
import { fixtureId, type InstrumentId, instrumentId, type PlayerId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, type TradingRules } from '../../actors/kernel/limits.ts'
import { instant } from '../../actors/kernel/world.ts'
import type { SaidFixture } from '../../actors/market/fixture.ts'
import type { ScoringModel } from '../../actors/market/pricing.ts'
import type { FeedTerms } from '../../actors/match/feed-updates.ts'
import type { SystemCommand } from '../../actors/match/messages.ts'
import { type Line, modesOf, type Payload, type Update } from './recording-line.ts'
import { parseFixture } from './snapshot.ts'

/** The id of a player's instrument, by the namespace of the recording. */
export type IdOf = (players: string, player: PlayerId) => InstrumentId

export class Listener {
  readonly #matchId: number
  readonly #idOf: IdOf
  #rules: TradingRules = DEFAULT_RULES
  #model: ScoringModel | null = null
  /** The model of the last update that this owner priced. */
  #priced: ScoringModel | null = null

  constructor(matchId: number, idOf: IdOf) {
    this.#matchId = matchId
    this.#idOf = idOf
  }

  /** Those in force. */
  get rules(): TradingRules {
    return this.#rules
  }

  /** A new owner continues from what is stored, and has priced nothing yet. */
  newOwner(): void {
    this.#priced = null
  }

  /** An update was priced by the model in force. */
  priced(): void {
    this.#priced = this.#model
  }

  /** Puts rules and model in force. A server's own: they were validated when they were set. */
  follow({ rules, model }: Extract<Line, { kind: 'rules' }>): void {
    this.#rules = { ...DEFAULT_RULES, ...rules, modes: modesOf(rules['modes']) }
    this.#model = model as unknown as ScoringModel
  }

  /** What the match is asked by a line. Throws when its payload cannot be read. */
  commandOf(line: Exclude<Line, { kind: 'rules' }>): SystemCommand {
    if (line.kind === 'clock') return { kind: 'clock' }
    if (line.kind === 'end') return { kind: 'end_match', ending: line.ending }
    const { seq, speed } = line
    const snapshot = 'snapshot' in line ? line.snapshot : this.#snapshotOf(line)
    return { kind: 'feed_update', seq, speed, snapshot }
  }

  /** The inputs of a decision at this time. Throws before the first rules. */
  termsAt(at: number, newId: () => string, histories: Update['histories'] = {}): FeedTerms {
    const model = this.#model
    if (model === null) throw new Error('the recording does not begin with the rules')
    const known = new Map(Object.entries(histories).map(([id, one]) => [instrumentId(id), one]))
    return { at: instant(at), rules: this.#rules, model, priorModel: this.#priced ?? model, newId, histories: known }
  }

  #snapshotOf({ payload, players, startsAt, sourceAt, expectedGoals }: Payload): SaidFixture {
    const parsed = parseFixture(payload, {
      instrumentIdOf: (player) => this.#idOf(players, player),
      receivedAt: sourceAt,
    })
    if (!parsed.ok) throw new Error(`the payload of an update cannot be read: ${parsed.reason}`)
    return { ...parsed.snapshot, fixtureId: fixtureId(this.#matchId), startsAt, sourceAt, expectedGoals }
  }
}
