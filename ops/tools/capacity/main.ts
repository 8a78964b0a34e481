/**
 * Resources for N users, and the first bottleneck: `npm run ops -- capacity [--users 100000,10000000] [--online 0.2]
 * [--trades-per-hour 10] [--burst 10] [--matches 40] [--in-one-match 0.5] [--writes-per-second 4]`.
 */
import { parseArgs } from 'node:util'
import { ASSUMED, planFor } from './model.ts'

const { values } = parseArgs({
  options: {
    users: { type: 'string', default: '100000,10000000' },
    online: { type: 'string', default: String(ASSUMED.online) },
    'trades-per-hour': { type: 'string', default: String(ASSUMED.tradesPerHour) },
    burst: { type: 'string', default: String(ASSUMED.burst) },
    matches: { type: 'string', default: String(ASSUMED.matches) },
    'in-one-match': { type: 'string', default: String(ASSUMED.inOneMatch) },
    'writes-per-second': { type: 'string', default: String(ASSUMED.writesPerSecond) },
  },
})

const positive = (text: string): number => {
  const number = Number(text)
  if (!(number > 0)) throw new Error(`${text} is not a number above 0`)
  return number
}
const count = (value: number): string =>
  value < 10 ? value.toFixed(value < 1 ? 2 : 1) : Math.round(value).toLocaleString('en-US')

for (const users of values.users.split(',').map(positive)) {
  const plan = planFor({
    ...ASSUMED,
    users,
    online: positive(values.online),
    tradesPerHour: positive(values['trades-per-hour']),
    burst: positive(values.burst),
    matches: positive(values.matches),
    inOneMatch: positive(values['in-one-match']),
    writesPerSecond: positive(values['writes-per-second']),
  })
  console.log(`\n${count(users)} users, ${count(plan.sockets)} of them online at the busiest moment`)
  const lines = [
    ['trades a second', `${count(plan.tradesPerSecond)}, after a goal ${count(plan.burstTradesPerSecond)}`],
    ['requests a second then', count(plan.requestsPerSecond)],
    ['writes to sockets a second', count(plan.writesPerSecond)],
    ['processes', `${plan.apiProcesses} api, ${plan.roomsProcesses} rooms, a core each`],
    ['memory for sockets', `${count(plan.socketGigabytes)} GB`],
    ['disk a week', `${count(plan.gigabytesPerWeek)} GB`],
  ] as const
  for (const [what, needed] of lines) console.log(`  ${what.padEnd(28)}${needed}`)
  console.log('  parts that exist once, the fullest first; above 1.0 one is not enough')
  for (const { what, needed, oneDoes, full, lift, measuredBy } of plan.loads) {
    console.log(`    ${full.toFixed(2).padStart(6)}  ${what}: ${count(needed)} of ${count(oneDoes)} (${measuredBy})`)
    console.log(`            ${lift.engine}: ${lift.change}`)
  }
}
