/** Matches as they stood a while ago, for people who are not signed in: what they see is too old to trade on. */
import type { z } from '@hono/zod-openapi'
import type { TradingRules } from '../../actors/kernel/limits.ts'
import { decimal } from '../../actors/kernel/micros.ts'
import type { FixtureId } from '../../actors/kernel/ids.ts'
import type { Instant, World } from '../../actors/kernel/world.ts'
import { isInPlay } from '../../actors/market/phase.ts'
import type { MatchInfo } from '../../actors/match/messages.ts'
import type { Listing } from '../../db/catalogue.ts'
import { matchEventsJson, matchJson, PPM_PER_PERCENT } from './json.ts'
import type { WatchedMatchBody } from './watched-match-schema.ts'

export type WatchedMatch = z.output<typeof WatchedMatchBody>

/** How they stood at an instant. */
export interface Standing {
  readonly at: Instant
  readonly matches: ReadonlyMap<FixtureId, WatchedMatch>
}

interface Options {
  readonly catalogue: {
    instruments(): Promise<readonly Listing[]>
    matches(): Promise<readonly MatchInfo[]>
  }
  readonly rules: () => TradingRules
  /** The setting `watch.delay_secs`, in ms. */
  readonly delayMs: () => number
  readonly world: Pick<World, 'now'>
}

/** The matches that can be watched at a time; of more, the first. */
const MATCHES_MAX = 100

export class DelayedMatches {
  readonly #options: Options
  /** The oldest first: the one to show, and all that are later. */
  #kept: readonly Standing[] = []

  constructor(options: Options) {
    this.#options = options
  }

  /** How far behind it shows them, in ms. */
  get delayMs(): number {
    return this.#options.delayMs()
  }

  /** How they stood `watch.delay_secs` ago. Null while this process has not kept them for so long. */
  get shown(): Standing | null {
    const until = this.#options.world.now() - this.delayMs
    return this.#kept.findLast(({ at }) => at <= until) ?? null
  }

  /** Keeps how they stand now. */
  async keep(): Promise<void> {
    const { catalogue, rules, world } = this.#options
    const [known, listings] = await Promise.all([catalogue.matches(), catalogue.instruments()])
    const at = world.now()
    const live = known.filter(({ phase }) => isInPlay(phase)).slice(0, MATCHES_MAX)
    const byMatch = Map.groupBy(listings, ({ match }) => match.matchId)
    const matches = live.map((match): [FixtureId, WatchedMatch] => {
      const { tradeWindow: _, ...shown } = matchJson(match, at, rules())
      const players = (byMatch.get(match.matchId) ?? []).map(playerJson)
      return [match.matchId, { ...shown, players, events: matchEventsJson(match).events }]
    })
    const { shown } = this
    const later = this.#kept.filter((one) => shown === null || one.at >= shown.at)
    this.#kept = [...later, { at, matches: new Map(matches) }]
  }
}

const playerJson = ({ instrument, price, changePpm }: Listing): WatchedMatch['players'][number] => ({
  name: instrument.name,
  position: instrument.role,
  side: instrument.side,
  price: decimal(price),
  changePct: changePpm / PPM_PER_PERCENT,
})
