/** Fields that are told in another form, or in a place that contradicts the rest. */
import { describe, expect, it } from 'vitest'
import { counts, details, fed, goal, lineups, type Row, type Said, scored, STATS } from '../support/fed-polls.ts'

describe('fields in another form', () => {
  it.each<[string, (value: unknown, type: number) => Row]>([
    ['in the row', (value, type) => ({ type_id: type, value })],
    ['without an object', (value, type) => ({ type_id: type, data: value })],
    ['as a total', (value, type) => ({ type_id: type, data: { value: { total: value } } })],
    ['of all', (value, type) => ({ type_id: type, data: { value: { all: { count: value } } } })],
    ['with its type included', (value, type) => ({ type: { id: type }, data: { value } })],
  ])('[P21] a statistic is one wherever its value is: %s', (_, form) => {
    const rows = Object.entries(counts).map(([type, value]) => form(value, Number(type)))
    const told = (of: unknown): Said => ({ over: { lineups: lineups({ 4: { details: of } }) } })
    expect(fed(told(rows)).bases()).toEqual(fed(told(details(counts))).bases())
  })

  it('[P21] a statistic that is nested without end is none', () => {
    const deep = JSON.parse(`${'{"value":'.repeat(5_000)}1${'}'.repeat(5_000)}`) as unknown
    const told: Said = { over: { lineups: lineups({ 4: { details: [{ type_id: 80, data: deep }] } }) } }
    expect(fed(told).bases()).toEqual(fed({}).bases())
  })

  it('[P24] a number that is only in what the provider includes is the same', () => {
    const included = (row: Row): Row => ({ ...row, player_id: null, player: { id: row['player_id'] } })
    const rows = lineups({ 4: { details: details({ ...STATS, 52: 1 }) } }).map(included)
    const said: Said = { ...scored, over: { events: [included(goal)], lineups: rows } }
    expect(fed(said).bases()).toEqual(fed(scored).bases())
  })
})
