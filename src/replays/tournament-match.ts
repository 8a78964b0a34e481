/**
 * The match of a tournament. It follows from a secret seed and the time at which it begins, so another process can
 * continue it, and anyone can make it again once the seed is published.
 */
import { createHmac } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Instant } from '../../actors/kernel/world.ts'
import { type Chance, chanceOf } from '../../actors/replay/chance.ts'
import { leagueDraw, REVIEW_WITHIN_SECS } from '../../actors/replay/generator/league.ts'
import { anchorsOf, type MatchPlan, payloads } from '../../actors/replay/generator/match-sim.ts'
import { STEP_SECS } from '../../actors/replay/generator/match-state.ts'
import { clubNames } from '../../actors/replay/generator/squads.ts'
import type { Recording } from '../../actors/replay/recording.ts'
import { sharing } from '../../actors/replay/sharing.ts'

export interface TournamentSeed {
  /** 64 hexadecimal digits. */
  readonly seed: string
  readonly startsAt: Instant
}

/** Some 5 ms of work. */
const FRAMES_A_TURN = 8
/** The same in every tournament: a number that depended on the seed would be known before the match. */
const FIXTURE = 1

/** Makes the whole match, in turns with whatever else there is to do. Equal seeds, equal matches. */
export async function tournamentMatch(from: TournamentSeed): Promise<Recording> {
  const plan = tournamentPlan(from)
  const frames: unknown[] = []
  for (const frame of payloads(plan)) {
    frames.push(sharing(frames.at(-1), frame))
    if (frames.length % FRAMES_A_TURN === 0) await nextTurn()
  }
  const fixtureName = `${plan.home.name} vs ${plan.away.name}`
  return { name: 'tournament', title: fixtureName, fixtureName, anchors: anchorsOf(plan), frames }
}

/** What a seed decides before kick-off: a league match, on which no price is wrong beforehand. */
export function tournamentPlan({ seed, startsAt }: TournamentSeed): MatchPlan {
  const chance = secretChance(seed, 'plan')
  const { home, away } = clubNames(chance)
  const reviewAfterSecs = STEP_SECS * (1 + chance.below(REVIEW_WITHIN_SECS / STEP_SECS))
  const { expectedGoals, ...drawn } = leagueDraw(chance, reviewAfterSecs)
  return {
    ...drawn,
    chances: () => ({
      match: secretChance(seed, 'match'),
      names: secretChance(seed, 'names'),
      referee: secretChance(seed, 'referee'),
    }),
    fixtureId: FIXTURE,
    kickOff: startsAt,
    league: 'Tournament',
    home: { ...home, expectedGoals: expectedGoals.home },
    away: { ...away, expectedGoals: expectedGoals.away },
  }
}

const TWO_32 = 4_294_967_296
const NUMBER_BYTES = 4

/**
 * HMAC-SHA-256 with the whole seed as its key, in counter mode. Who has seen any number of draws knows nothing of the
 * next ones or of the seed, unless they try all 2^256 seeds.
 */
function secretChance(seed: string, stream: string): Chance {
  let [block, at, counter] = [Buffer.alloc(0), 0, 0]
  return chanceOf(() => {
    if (at === block.length) {
      block = createHmac('sha256', seed).update(`${stream} ${counter}`).digest()
      ;[at, counter] = [0, counter + 1]
    }
    at += NUMBER_BYTES
    return block.readUInt32BE(at - NUMBER_BYTES) / TWO_32
  })
}
