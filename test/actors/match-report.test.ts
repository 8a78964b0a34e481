import { describe, expect, it } from 'vitest'
import { type FixtureSnapshot } from '../../actors/market/fixture.ts'
import { reconcile } from '../../actors/market/incidents.ts'
import { reportEvents, reportSquad } from '../../actors/market/match-report.ts'
import { GOAL, player, snapshot } from '../support/fixtures.ts'

const ahead = { id: 1, name: 'Harbour', goals: 1 }

/** What is shown after each of these snapshots. */
function shownAfter(...updates: readonly Partial<FixtureSnapshot>[]) {
  let incidents: ReturnType<typeof reconcile>['incidents'] = []
  let events: ReturnType<typeof reportEvents> = []
  return updates.map((over) => {
    const said = snapshot(over)
    incidents = reconcile(said, incidents).incidents
    events = reportEvents(said, events, incidents)
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
    expect(shownAfter({ events: [GOAL], home: ahead }, { events: null }).at(-1)).toEqual([[501, false]])
  })

  it('keeps the players of a squad that an update omits', () => {
    const before = reportSquad({ players: [player(1, { details: { 86: 1 } }), player(2)] }, [])
    const after = reportSquad({ players: [player(1, { details: null, jersey: 9 }), player(3)] }, before)
    expect(after).toEqual([player(1, { details: { 86: 1 }, jersey: 9 }), player(2), player(3)])
  })
})
