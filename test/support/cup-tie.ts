/** A cup tie with everything in it: a goal that VAR takes back, a red card, extra time, and penalties. */
import { instant } from '../../actors/kernel/world.ts'
import { anchorsOf, chancesFrom, type MatchPlan, simulateMatch } from '../../actors/replay/generator/match-sim.ts'
import type { Recording } from '../../actors/replay/recording.ts'

const PLAN: MatchPlan = {
  chances: chancesFrom(7), // goes to penalties
  fixtureId: 990_404,
  kickOff: instant(Date.UTC(2026, 4, 6, 19)),
  league: 'Meridian Cup',
  home: { name: 'Kestrel Vale', shortCode: 'KES', expectedGoals: 1.3 },
  away: { name: 'Castellan United', shortCode: 'CAS', expectedGoals: 1.4 },
  knockout: true,
  moments: [
    { kind: 'goal_disallowed', minute: 68, side: 'home' },
    { kind: 'red_card', minute: 58, side: 'away' },
  ],
}

let made: Recording | null = null

/** The same one for all, which takes a second to make. */
export function cupTie(): Recording {
  const fixtureName = `${PLAN.home.name} vs ${PLAN.away.name}`
  made ??= {
    name: 'cup-tie',
    title: fixtureName,
    fixtureName,
    anchors: anchorsOf(PLAN),
    frames: simulateMatch(PLAN),
  }
  return made
}
