/** Section 4.6: cross-origin requests. */
import assert from 'node:assert/strict'
import { type Check, into, says } from './check.ts'
import { ALLOWED_ORIGIN } from './trust.ts'

export const checks: Check[] = []
const check = into(checks)

const FOREIGN = 'https://elsewhere.example'
const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }

check(
  '4.6.1',
  'A preflight from an allowed origin returns 204 with an allow-origin header echoing the origin and `access-control-allow-credentials: true`.',
  'A preflight from an allowed origin is 204, echoes the origin, and allows credentials.',
  async (t) => {
    void t.trust // skips without it: it lists the allowed origins
    for (const path of ['/api/positions/open', '/api/auth/google', '/api/wallet']) {
      const reply = await t.visitor().ask('OPTIONS', path, { headers: { origin: ALLOWED_ORIGIN, ...preflight } })
      assert.equal(reply.status, 204)
      assert.equal(reply.headers.get('access-control-allow-origin'), ALLOWED_ORIGIN)
      assert.equal(reply.headers.get('access-control-allow-credentials'), 'true')
    }
  },
)

check(
  '4.6.2',
  'Allowed origins come from the comma-separated config `CORS_ORIGINS`.',
  'An answer to an allowed origin echoes it, with credentials.',
  async (t) => {
    void t.trust
    const reply = await t.visitor().ask('GET', '/api/flags', { headers: { origin: ALLOWED_ORIGIN } })
    says(reply, 200)
    assert.equal(reply.headers.get('access-control-allow-origin'), ALLOWED_ORIGIN)
    assert.equal(reply.headers.get('access-control-allow-credentials'), 'true')
  },
)

check(
  '4.6.3',
  'Allowed origins come from the comma-separated config `CORS_ORIGINS`.',
  'Another origin is allowed nothing, in a preflight or otherwise.',
  async (t) => {
    for (const origin of [FOREIGN, `${ALLOWED_ORIGIN}.evil.example`, ALLOWED_ORIGIN.replace('https', 'http'), 'null']) {
      const reply = await t.visitor().ask('OPTIONS', '/api/wallet', { headers: { origin, ...preflight } })
      assert.equal(reply.headers.get('access-control-allow-origin'), null, origin)
      const answer = await t.visitor().ask('GET', '/api/flags', { headers: { origin } })
      assert.equal(answer.headers.get('access-control-allow-origin'), null, origin)
    }
  },
)
