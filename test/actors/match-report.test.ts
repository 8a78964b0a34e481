import { describe, expect, it } from 'vitest'
import { playerId } from '../../actors/kernel/ids.ts'
import { type FixtureSnapshot } from '../../actors/market/fixture.ts'
import { reconcile } from '../../actors/market/belief/reconcile.ts'
import { reportEvents } from '../../actors/market/match-report.ts'
import { GOAL, snapshot } from '../support/fixtures.ts'

const ahead = { id: 1, name: 'Harbour', goals: 1 }

/** What is shown after each of these snapshots. */
function shownAfter(...updates: readonly Partial<FixtureSnapshot>[]) {
  let incidents: ReturnType<typeof reconcile>['incidents'] = []
  let events: ReturnType<typeof reportEvents> = []
  return updates.map((over) => {
    const said = snapshot(over)
    incidents = reconcile(said, incidents, 0).incidents
    events = reportEvents(said, events, incidents, new Map())
    return events.map((event) => [event.id, event.retracted])
  })
}

describe('the report of a match', () => {
  it('keeps a goal that vanished, as retracted', () => {
    const goal = { events: [GOAL], home: ahead }
    expect(shownAfter(goal, { events: [] }, { events: [] })).toEqual([[[501, false]], [[501, true]], [[501, true]]])
  })

  it('shows a goal that is back as standing, and a rescinded card as retracted', () => {
    const goal = { events: [GOAL], home: ahead }
    expect(shownAfter(goal, { events: [] }, goal).at(-1)).toEqual([[501, false]])
    const card = { ...GOAL, id: 7, kind: 'red', rescinded: true } as const
    expect(shownAfter({ events: [card] })).toEqual([[[7, true]]])
  })

  it('keeps the list when the provider omits it', () => {
    expect(shownAfter({ events: [GOAL], home: ahead }, { events: null, home: ahead }).at(-1)).toEqual([[501, false]])
  })

  it('shows a goal that is listed twice once, and one of another player that does not count yet', () => {
    const again = { ...GOAL, id: 502 }
    expect(shownAfter({ events: [GOAL, again], home: ahead }).at(-1)).toEqual([[501, false]])
    const another = { ...GOAL, id: 503, playerId: playerId(999) }
    const both = shownAfter({ events: [GOAL, another], home: ahead }).at(-1)
    expect(both?.map(([id]) => id)).toEqual([501, 503])
  })
})
