/** A match that is fed payloads, without a database: what each is read as, stored as, and read again. */
import { instrumentId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { decimal } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { readPricing } from '../../actors/market/read-pricing.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import { update } from '../../actors/match/feed-updates.ts'
import { readMatchInfo } from '../../actors/match/read-match-info.ts'
import { Draft, MatchState, newMatch } from '../../actors/match/state.ts'
import { parseFixture } from '../../src/provider/snapshot.ts'

const POLL_MS = 10_000

export class FedMatch {
  #state: MatchState | null = null
  #polls = 0

  /** The next poll. Returns false where the payload is not a fixture. Throws when what is stored cannot be read. */
  poll(payload: unknown): boolean {
    this.#polls += 1
    const at = instant(1_780_000_000_000 + this.#polls * POLL_MS)
    const parsed = parseFixture(payload, { instrumentIdOf: (id) => instrumentId(`i-${id}`), receivedAt: at })
    if (!parsed.ok) return false
    const { snapshot } = parsed
    this.#state ??= new MatchState(newMatch(snapshot, { replay: false }))
    const draft = new Draft(this.#state)
    const terms = { at, rules: DEFAULT_RULES, model: DEFAULT_MODEL, newId: () => 'id', histories: new Map() }
    update(draft, { kind: 'feed_update', seq: this.#polls, snapshot }, terms)
    const stored: unknown = JSON.parse(JSON.stringify({ info: draft.info, pricing: draft.pricing }))
    const { info, pricing } = stored as { info: unknown; pricing: unknown }
    this.#state = new MatchState({
      info: readMatchInfo(info, 'info'),
      pricing: readPricing(pricing, 'pricing'),
      instruments: [...draft.instruments()],
      openPositions: [],
    })
    return true
  }

  get state(): MatchState {
    if (this.#state === null) throw new Error('no payload has been a fixture')
    return this.#state
  }

  /** The base of a player, or null while they are not listed. */
  base(player: number): number | null {
    const found = [...this.state.instruments()].find((one) => one.playerId === player)
    return found === undefined ? null : decimal(found.base)
  }

  bases(): Readonly<Record<number, number>> {
    return Object.fromEntries([...this.state.instruments()].map(({ playerId, base }) => [playerId, decimal(base)]))
  }

  /** Who plays. */
  playing(): readonly number[] {
    return [...(this.state.info.onPitch ?? [])].toSorted((a, b) => a - b)
  }

  /** The events as users see them. */
  events(): readonly (readonly [id: number, player: number | null, retracted: boolean])[] {
    return this.state.info.events.map(({ id, playerId, retracted }) => [id, playerId, retracted])
  }
}
