/** Matches as they stood `watch.delay_secs` ago, for visitors who are not signed in: too old to trade on. */
import type { z } from '@hono/zod-openapi'
import type { TradingRules } from '../../actors/kernel/limits.ts'
import { decimal, type Price } from '../../actors/kernel/micros.ts'
import type { FixtureId } from '../../actors/kernel/ids.ts'
import type { Instant, World } from '../../actors/kernel/world.ts'
import type { Instrument } from '../../actors/market/instrument.ts'
import type { MatchInfo } from '../../actors/match/messages.ts'
import type { Catalogue } from '../../db/catalogue.ts'
import { matchEventsJson, matchJson, PPM_PER_PERCENT } from './json.ts'
import type { WatchedMatchBody } from './watched-match-schema.ts'

export type WatchedMatch = z.output<typeof WatchedMatchBody>

/** The live matches at one instant. */
export interface Standing {
  readonly at: Instant
  readonly matches: ReadonlyMap<FixtureId, WatchedMatch>
}

interface Options {
  readonly catalogue: Pick<Catalogue, 'instruments' | 'underWay' | 'match' | 'outcomes'>
  readonly rules: () => TradingRules
  /** The setting `watch.delay_secs`, in ms. */
  readonly delayMs: () => number
  readonly world: Pick<World, 'now'>
}

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

  /** How they stood `watch.delay_secs` ago. Null while this process has not kept them for that long. */
  get shown(): Standing | null {
    const until = this.#options.world.now() - this.delayMs
    return this.#kept.findLast(({ at }) => at <= until) ?? null
  }

  /** Keeps how they stand now. */
  async keep(): Promise<void> {
    const { catalogue, world } = this.#options
    const [live, listings] = await Promise.all([catalogue.underWay(), catalogue.instruments()])
    const at = world.now()
    const byMatch = Map.groupBy(listings, ({ match }) => match.matchId)
    const matches = live.map((match): [FixtureId, WatchedMatch] => {
      const listed = byMatch.get(match.matchId) ?? []
      const players = listed.map(({ instrument, price, changePpm: moved }) => playerJson(instrument, price, moved))
      return [match.matchId, this.#matchJson(match, at, players)]
    })
    const { shown } = this
    // Those ahead of a clock that was put back would be kept until it has caught up.
    const later = this.#kept.filter((one) => one.at <= at && (shown === null || one.at >= shown.at))
    this.#kept = [...later, { at, matches: new Map(matches) }]
  }

  /** How a match ended that was settled `watch.delay_secs` ago or earlier, and when that was. Null for any other. */
  async ended(id: FixtureId): Promise<{ readonly at: Instant; readonly match: WatchedMatch } | null> {
    const { catalogue, world } = this.#options
    const match = await catalogue.match(id)
    const at = match?.settledAt ?? null
    if (match === null || at === null || at > world.now() - this.delayMs) return null
    const found = await catalogue.outcomes(match)
    const outcomes = new Map(found.map((outcome) => [outcome.instrumentId, outcome]))
    const players = match.squad.flatMap((player) => {
      const outcome = outcomes.get(player.instrumentId)
      if (outcome === undefined) return []
      return [playerJson({ ...player, role: player.role ?? 'MID' }, outcome.to, outcome.changePpm)]
    })
    return { at, match: this.#matchJson(match, at, players) }
  }

  #matchJson(match: MatchInfo, at: Instant, players: WatchedMatch['players']): WatchedMatch {
    const { tradeWindow: _, ...shown } = matchJson(match, at, this.#options.rules())
    return { ...shown, players, events: matchEventsJson(match).events }
  }
}

type Listed = Pick<Instrument, 'playerId' | 'name' | 'role' | 'side' | 'jersey' | 'starter'>

const playerJson = (player: Listed, price: Price, movedPpm: number): WatchedMatch['players'][number] => ({
  playerId: player.playerId,
  name: player.name,
  position: player.role,
  side: player.side,
  jerseyNumber: player.jersey,
  starter: player.starter,
  price: decimal(price),
  changePct: movedPpm / PPM_PER_PERCENT,
})
