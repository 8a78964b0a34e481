import { expect, it } from 'vitest'
import { ASSUMED, MEASURED, planFor } from '../../ops/tools/capacity/model.ts'

it('a capacity plan never needs less for more load, and lists the fullest resource first', () => {
  let before = planFor({ ...ASSUMED, users: 1 })
  for (const users of [1_000, 100_000, 1_000_000, 10_000_000]) {
    const plan = planFor({ ...ASSUMED, users })
    expect(plan.apiProcesses).toBeGreaterThanOrEqual(before.apiProcesses)
    expect(plan.roomsProcesses).toBeGreaterThanOrEqual(before.roomsProcesses)
    expect(plan.apiProcesses * MEASURED.socketsPerProcess).toBeGreaterThanOrEqual(plan.sockets)
    expect(plan.loads.map(({ full }) => full)).toEqual(plan.loads.map(({ full }) => full).toSorted((a, b) => b - a))
    before = plan
  }
})

it('the numbers of a plan add up', () => {
  const plan = planFor({ ...ASSUMED, users: 180_000, online: 0.5, tradesPerHour: 4, burst: 2 })
  expect(plan).toMatchObject({
    sockets: 90_000,
    tradesPerSecond: 100,
    burstTradesPerSecond: 200,
    requestsPerSecond: 1_200,
  })
  expect(plan.apiProcesses).toBe(9)
})

it('every ceiling names what lifts it and what measures it; with more users other ceilings come first', () => {
  const { loads } = planFor({ ...ASSUMED, users: 10_000_000 })
  for (const { lift, measuredBy } of loads) expect([lift.engine, lift.change, measuredBy]).not.toContain('')
  const full = (what: RegExp, users: number, over: object = {}): number =>
    planFor({ ...ASSUMED, users, ...over }).loads.find((load) => what.test(load.what))?.full ?? 0
  // A second of the busiest match's process.
  const trades = ((1_000_000 * 0.2 * 10) / 3_600) * 10 * 0.5
  expect(full(/process of the busiest match/, 1_000_000)).toBeCloseTo(
    (trades * MEASURED.microsPerTrade.match) / 1e6 / 0.6,
  )
  // Every process with sockets is sent the prices of every match.
  const calm = full(/bytes/, 10_000_000, { tradesPerHour: 0 })
  expect(full(/bytes/, 10_000_000, { tradesPerHour: 0, matches: 80 })).toBeCloseTo(2 * calm)
  // And the news of every trade.
  const news = ((10_000_000 * 0.2 * 10) / 3_600) * 10 * MEASURED.bytesPerNews * 200
  expect((full(/bytes/, 10_000_000) - calm) * 0.6 * 1.25e9).toBeGreaterThan(news)
})
