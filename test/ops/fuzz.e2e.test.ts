import { describe, expect, it } from 'vitest'
import { chanceFrom } from '../../actors/replay/chance.ts'
import { folderPlace } from '../../ops/rehearse/rig/data-place.ts'
import { Program } from '../../ops/rehearse/rig/program.ts'
import { Campaign } from '../../ops/rehearse/fuzz/campaign.ts'
import { KnownValues } from '../../ops/rehearse/fuzz/known-values.ts'
import { curl, requestMaker } from '../../ops/rehearse/fuzz/requests.ts'
import { freePort } from '../../ops/rehearse/rig/ports.ts'
import { inspectable, Inspector } from '../../ops/rehearse/rig/inspector.ts'
import { apiJudge } from '../http/http-rig.ts'

const REQUESTS = 2_500
const BUSY_MACHINE_MS = 240_000

describe('requests made from the API description', () => {
  it('are equal for equal seeds, cover every route, and can be repeated by hand', async () => {
    const { document } = await apiJudge()
    const made = (seed: number) => {
      const make = requestMaker(document, new KnownValues())
      return Array.from({ length: 25_000 }, (_, n) => make(chanceFrom(seed * 1_000_003 + n)))
    }
    // Unknown ids are made up.
    const plain = (requests: ReturnType<typeof made>) => requests.map(({ method, headers }) => ({ method, headers }))
    expect(plain(made(1))).toEqual(plain(made(1)))
    expect(plain(made(1))).not.toEqual(plain(made(2)))
    const asked = new Set(made(3).map(({ path }) => path.split('?')[0]))
    const literal = Object.keys(document.paths).filter((path) => !path.includes('{'))
    expect(literal.filter((path) => !asked.has(path))).toEqual([])
    const request = { method: 'POST', path: '/api/a', headers: { Cookie: 'a=b' }, body: `{"a":"it's"}` }
    expect(curl('http://h', request)).toBe(
      `curl -si -X POST -H 'Cookie: a=b' --data-raw '{"a":"it'\\''s"}' 'http://h/api/a'`,
    )
  })

  it(
    'cause no fault, undescribed answer, unbalanced books or growing heap in the real program',
    { timeout: BUSY_MACHINE_MS },
    async () => {
      const place = await folderPlace()
      const port = await freePort()
      const program = new Program({
        ...place.env,
        ...inspectable(port),
        TRUSTED_PROXIES: '1',
        DEMO_TRADERS: '5',
        ADMIN_EMAILS: Campaign.ADMINS.map((name) => `${name.toLowerCase()}@synthetic.invalid`).join(','),
      })
      const campaign = new Campaign({ seed: 7, atOnce: 16 })
      try {
        const { url } = await program.listening
        const inspector = await Inspector.connect(port)
        const found = await campaign.run({ url, requests: REQUESTS, inspector, program, say: () => undefined })
        inspector.close()
        expect(found.failures).toEqual([])
        expect(found.requests).toBe(REQUESTS)
        expect(found.sockets.received).toBeGreaterThan(0)
        expect(found.statuses.get(200) ?? 0).toBeGreaterThan(REQUESTS / 10)
      } finally {
        await program.stop()
        await place.remove()
      }
    },
  )
})
