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
