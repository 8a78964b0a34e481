/** All badges, as data. A badge is earned when a count of the career reaches its target. */
import { decimal } from '../kernel/micros.ts'
import { type Career, levelOf } from './career.ts'

export interface Badge {
  /** Never changes: earned badges are stored under it. */
  readonly id: string
  readonly name: string
  readonly description: string
  /** The count, in the unit that users see. A void or a correction may take it back, and the badge with it. */
  readonly count: (career: Career) => number
  readonly target: number
}

export const BADGES: readonly Badge[] = [
  {
    id: 'first_whistle',
    name: 'First whistle',
    description: 'Open your first position',
    count: (c) => c.opened,
    target: 1,
  },
  { id: 'regular', name: 'Regular', description: 'Open 25 positions', count: (c) => c.opened, target: 25 },
  { id: 'stalwart', name: 'Stalwart', description: 'Open 250 positions', count: (c) => c.opened, target: 250 },
  {
    id: 'ever_present',
    name: 'Ever present',
    description: 'Open 2,500 positions',
    count: (c) => c.opened,
    target: 2_500,
  },
  {
    id: 'off_the_mark',
    name: 'Off the mark',
    description: 'Close a position in profit',
    count: (c) => c.main.wins,
    target: 1,
  },
  {
    id: 'in_form',
    name: 'In form',
    description: 'Close 25 positions in profit',
    count: (c) => c.main.wins,
    target: 25,
  },
  {
    id: 'top_scorer',
    name: 'Top scorer',
    description: 'Close 250 positions in profit',
    count: (c) => c.main.wins,
    target: 250,
  },
  {
    id: 'screamer',
    name: 'Screamer',
    description: 'Win 250 units with one position',
    count: (c) => decimal(c.bestWin),
    target: 250,
  },
  {
    id: 'goal_of_the_season',
    name: 'Goal of the season',
    description: 'Win 1,000 units with one position',
    count: (c) => decimal(c.bestWin),
    target: 1_000,
  },
  {
    id: 'silverware',
    name: 'Silverware',
    description: 'Win 10,000 units in all',
    count: (c) => decimal(c.won),
    target: 10_000,
  },
  {
    id: 'big_signing',
    name: 'Big signing',
    description: 'Trade a position of 10 lots or more',
    count: (c) => decimal(c.largestLots),
    target: 10,
  },
  {
    id: 'contrarian',
    name: 'Contrarian',
    description: 'Win 10 short positions',
    count: (c) => c.shortWins,
    target: 10,
  },
  {
    id: 'clinical',
    name: 'Clinical',
    description: 'Take profit at your own target 10 times',
    count: (c) => c.takeProfits,
    target: 10,
  },
  {
    id: 'disciplined',
    name: 'Disciplined',
    description: 'Be stopped out at your own stop-loss 10 times',
    count: (c) => c.stopLosses,
    target: 10,
  },
  {
    id: 'relegated',
    name: 'Relegated',
    description: 'Lose a whole stake to a washout',
    count: (c) => c.washouts,
    target: 1,
  },
  {
    id: 'full_time_fan',
    name: 'Full-time fan',
    description: 'Hold 10 positions to full time',
    count: (c) => c.settled,
    target: 10,
  },
  { id: 'week_in', name: 'Week in', description: 'Trade on 7 different days', count: (c) => c.days, target: 7 },
  {
    id: 'season_ticket',
    name: 'Season ticket',
    description: 'Trade on 38 different days',
    count: (c) => c.days,
    target: 38,
  },
  {
    id: 'scout',
    name: 'Scout',
    description: 'Bring a friend who trades',
    count: (c) => c.referrals,
    target: 1,
  },
  { id: 'agent', name: 'Agent', description: 'Bring 10 friends who trade', count: (c) => c.referrals, target: 10 },
  { id: 'captain', name: 'Captain', description: 'Reach level 10', count: (c) => levelOf(c.xp), target: 10 },
]

/** The badges that this career has earned, awarded or not. */
export const earnedBadges = (career: Career): readonly Badge[] =>
  BADGES.filter((badge) => badge.count(career) >= badge.target)
