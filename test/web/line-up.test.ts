/** Who is on the pitch, who has left it and who waits, from a squad and the events of the match. */
import { expect, it } from 'vitest'
import type { MatchEvent, Squad } from '../../src/web/client/wire.ts'
import { carriedBy, lineUp } from '../../src/web/line-up.ts'

const player = (playerId: number, starter: boolean): Squad['players'][number] => ({
  playerId,
  instrumentId: `i${playerId}`,
  name: `Player ${playerId}`,
  position: 'MID',
  jerseyNumber: playerId,
  starter,
  stats: {},
})
const squad: Squad = {
  team: { id: 1, name: 'Harbour', side: 'home' },
  players: [player(1, true), player(2, true), player(3, true), player(12, false), player(13, false)],
}
const event = (id: number, facts: Partial<MatchEvent>): MatchEvent => ({
  id,
  type: 'substitution',
  minute: 60,
  extraMinute: null,
  team: 'home',
  playerId: null,
  playerName: null,
  relatedPlayerName: null,
  result: null,
  retracted: false,
  ...facts,
})
const change = event(1, { playerId: 12, relatedPlayerName: 'Player 2' })
const numbers = (events: readonly MatchEvent[], closed: readonly string[] = []) => {
  const { playing, off, bench } = lineUp('home', squad.players, events, ({ instrumentId }) =>
    closed.includes(instrumentId),
  )
  return {
    playing: playing.map(({ playerId }) => playerId),
    off: off.map(({ playerId, why, minute }) => `${playerId} ${why} ${minute}`),
    bench: bench.map(({ playerId }) => playerId),
  }
}

it('starters play until a substitution or a dismissal', () => {
  expect(numbers([])).toEqual({ playing: [1, 2, 3], off: [], bench: [12, 13] })
  expect(numbers([change])).toEqual({ playing: [1, 3, 12], off: ['2 takenOff 60'], bench: [13] })
  const red = event(2, { type: 'second_yellow', minute: 70, playerId: 12 })
  expect(numbers([change, red])).toEqual({
    playing: [1, 3],
    off: ['2 takenOff 60', '12 sentOff 70'],
    bench: [13],
  })
})

it('what was called off, or concerns the other team, changes nothing', () => {
  const nothing = numbers([])
  expect(numbers([{ ...change, retracted: true }])).toEqual(nothing)
  expect(numbers([{ ...change, team: 'away' }])).toEqual(nothing)
})

it('a starter whose trading is closed has gone, also if the event names them in another way', () => {
  expect(numbers([event(1, { playerId: 12, relatedPlayerName: 'P. Two' })], ['i2', 'i13'])).toEqual({
    playing: [1, 3, 12],
    off: ['2 takenOff null'],
    bench: [13],
  })
})

it('a shirt carries the goals and cards of its player that stand', () => {
  const events = [
    change,
    event(2, { type: 'goal', playerId: 3 }),
    event(3, { type: 'goal', playerId: 3, retracted: true }),
    event(4, { type: 'yellow', playerId: 3 }),
    event(5, { type: 'red', playerId: 1 }),
    event(6, { type: 'var', playerId: 3 }),
  ]
  expect(carriedBy(3, events).map(({ id }) => id)).toEqual([2, 4])
  expect(carriedBy(12, events)).toEqual([])
})
