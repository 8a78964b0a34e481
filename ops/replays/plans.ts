/** The matches that are bundled as replays: what is fixed about each, and the seed of everything else. */
import { type Instant, instant } from '../../actors/kernel/world.ts'
import { chancesFrom, type MatchPlan } from '../../actors/replay/generator/match-sim.ts'

export interface BundledReplay {
  readonly name: string
  readonly title: string
  readonly seed: number
  readonly plan: MatchPlan
}

const utc = (text: string): Instant => instant(Date.parse(text))

export const BUNDLED: readonly BundledReplay[] = [
  {
    name: 'goal-feast',
    title: 'Goal feast with a red card',
    seed: 31,
    plan: {
      chances: chancesFrom(31),
      fixtureId: 990_101,
      kickOff: utc('2026-04-11T14:00:00Z'),
      league: 'Meridian League',
      home: { name: 'Port Ellery', shortCode: 'PEL', expectedGoals: 2.6 },
      away: { name: 'Valdoro Athletic', shortCode: 'VAL', expectedGoals: 2.4 },
      moments: [{ kind: 'red_card', minute: 58, side: 'away' }],
    },
  },
  {
    name: 'slow-burner',
    title: 'A dull draw that livens up, with a goal taken back',
    seed: 18,
    plan: {
      chances: chancesFrom(18),
      fixtureId: 990_202,
      kickOff: utc('2026-04-18T16:30:00Z'),
      league: 'Meridian League',
      home: { name: 'Northmere Rovers', shortCode: 'NOR', expectedGoals: 1.2 },
      away: { name: 'Brightwater City', shortCode: 'BRI', expectedGoals: 1.1 },
      tempo: [
        { fromMinute: 0, factor: 0.45 },
        { fromMinute: 60, factor: 1.5 },
        { fromMinute: 75, factor: 2.2 },
      ],
      moments: [{ kind: 'goal_disallowed', minute: 68, side: 'home' }],
    },
  },
  {
    name: 'cup-night',
    title: 'Cup night: extra time and penalties',
    seed: 32,
    plan: {
      chances: chancesFrom(32),
      fixtureId: 990_303,
      kickOff: utc('2026-05-06T19:00:00Z'),
      league: 'Meridian Cup',
      home: { name: 'Kestrel Vale', shortCode: 'KES', expectedGoals: 1.3 },
      away: { name: 'Castellan United', shortCode: 'CAS', expectedGoals: 1.4 },
      knockout: true,
    },
  },
]
