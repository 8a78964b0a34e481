/**
 * The conformance suite on the composed server, in this process: the checks that neither need the server to themselves
 * nor wait for a time to pass nor follow a match through its states. `npm run ops -- conformance` makes all checks, on
 * any deployment.
 */
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type Check, Skip } from '../../ops/rehearse/conformance/check.ts'
import { CheckContext } from '../../ops/rehearse/conformance/context.ts'
import { allChecks } from '../../ops/rehearse/conformance/sections.ts'
import { startTrust } from '../../ops/rehearse/conformance/trust.ts'
import { compose } from '../../src/compose/index.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/observe/log.ts'
import { systemWorld } from '../../src/system-world.ts'
import { embeddedPlace } from '../support/data-place.ts'

const SECTIONS = /^(1|2\.\d|3\.[123]|[456]\.\d|7|8|10\.[1246])$/
const checks = allChecks.filter(
  ({ section, alone = false, takes = 0 }) => SECTIONS.test(section) && !alone && takes === 0,
)
const waitsOf = ({ waits = {} }: Check): string => JSON.stringify(waits)

let shared: CheckContext
const cleanUp: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  const place = await embeddedPlace()
  cleanUp.push(() => place.remove())
  const trust = await startTrust()
  cleanUp.push(() => trust.stop())
  const world = systemWorld()
  const log = createLog({ level: 'error', world, readable: false, write: (line) => void process.stderr.write(line) })
  const settings = { ...place.env, ...trust.environment, DEMO_REPLAY: 'none', PORT: '0', WS_PORT: '0' }
  const touchline = await compose(readConfig(settings), { world, log })
  cleanUp.push(() => touchline.stop())
  const { url, wsUrl } = await touchline.start()
  shared = new CheckContext({ urls: [url], wsUrls: [wsUrl], production: false, trust, stores: null })
  cleanUp.push(() => shared.clear())
})
afterAll(async () => {
  for (const step of cleanUp.toReversed()) await step()
})

describe.each([...Map.groupBy(checks, waitsOf).values()].map((group) => ({ group, waits: group[0]?.waits ?? {} })))(
  'with the waits $waits',
  ({ group, waits }) => {
    let before: typeof waits = {}
    beforeAll(async () => {
      if (Object.keys(waits).length === 0) return
      before = await shared.waits()
      await shared.set(waits)
    })
    afterAll(async () => {
      if (Object.keys(before).length > 0) await shared.set(before)
    })

    it.concurrent.for(group)('$id $claim', async ({ run }, { skip }) => {
      const context = shared.forNextCheck()
      try {
        await run(context)
      } catch (error) {
        if (!(error instanceof Skip)) throw error
        skip(error.message)
      } finally {
        await context.clear()
      }
    })
  },
)
