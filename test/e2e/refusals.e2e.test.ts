/** Every route and a trade on a Redis that refuses what it is asked, in all the words that are known. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { OpenApi, Operation } from '../../ops/rehearse/fuzz/judge.ts'
import { operations } from '../http/api-document.ts'
import { onServers } from '../support/data-place.ts'
import { P } from '../support/fixtures.ts'
import type { HttpClient } from '../support/http-client.ts'
import { PATIENCE } from '../support/process.ts'
import { inScript62, REFUSALS } from '../support/refusals.ts'
import { type Refusal, RefusingRedis } from '../support/refusing-redis.ts'
import { ServerRig } from '../support/server-rig.ts'

const WRITES = /^(OOM|READONLY|NOREPLICAS|MISCONF) /
const CONNECTIONS = /^(NOAUTH|WRONGPASS|ERR max)/

const refusals = REFUSALS.flatMap((message): Refusal[] => {
  if (CONNECTIONS.test(message)) return [{ message, of: 'connections' }]
  return [
    { message, of: WRITES.test(message) ? 'writes' : 'commands' },
    { message: inScript62(message), of: 'commands' },
  ]
})

/** Boards are kept there alone, and a match that runs nowhere is looked for among all processes. */
const NEEDS_REDIS = /\/(leaderboard|districts\/standings|ready$|admin\/matches\/\{id\}\/end)/
const AT_ONCE = 10
/** They end the session that asks. */
const LAST = /logout|auth\/sessions|^delete \/api\/me$/

onServers((settle) => {
  let redis: RefusingRedis
  let rig: ServerRig
  let routes: readonly (readonly [string, Operation])[]
  let ending: typeof routes
  let caller: HttpClient

  beforeAll(async () => {
    const place = await settle()
    redis = await RefusingRedis.before(place.env['REDIS_URL'] ?? '')
    rig = await ServerRig.open({
      ...place,
      env: { ...place.env, REDIS_URL: redis.url, ADMIN_EMAILS: 'ann@synthetic.invalid' },
    })
    caller = await rig.user('Ann')
    const document = (await (await fetch(`${rig.url}/api/openapi.json`)).json()) as OpenApi
    const all = [...operations(document)]
    routes = all.filter(([name]) => !LAST.test(name))
    ending = all.filter(([name]) => LAST.test(name))
  })
  afterAll(async () => {
    redis.refuse(null)
    // The server says what Redis refused, and that is all it complains of.
    await rig.close(
      /"wallet_cache_failed"|"ready_check_failed"|"task":"board-refresh"|"request_failed"|"bus_(publish|request|answer)_failed"/,
    )
    await redis.close()
  })

  it.each(refusals)('[X6] no route fails and trades go on while Redis says "$message"', async (refusal) => {
    redis.refuse(refusal)
    const admin = await rig.user('Ann')
    const answers: Awaited<ReturnType<typeof ask>>[] = []
    // All at once would be a crowd, in which a command may pass its deadline.
    for (let n = 0; n < routes.length; n += AT_ONCE) {
      answers.push(...(await Promise.all(routes.slice(n, n + AT_ONCE).map((route) => ask(admin, route)))))
    }
    for (const route of ending) answers.push(await ask(admin, route))
    expect(answers.filter(({ status }) => status === 500)).toEqual([])
    expect(answers.filter(({ name, status }) => status === 503 && !NEEDS_REDIS.test(name))).toEqual([])

    const { status, body } = await caller.request('GET', '/ready')
    expect({ status, body }).toMatchObject({ status: 503, body: { checks: { database: 'ok', fastStore: 'failed' } } })
    const { currentPrice } = await caller.instrument(P(11))
    const order = { instrumentId: P(11), direction: 'long', lotSize: 0.1, clientPrice: currentPrice } as const
    await caller.opens(order)

    redis.refuse(null)
    await vi.waitUntil(async () => (await caller.request('GET', '/ready')).status === 200, PATIENCE)
  })

  async function ask(as: HttpClient, [name, operation]: readonly [string, Operation]) {
    const [method = '', described = ''] = name.split(' ')
    const path = (operation.parameters ?? [])
      .filter((parameter) => parameter.in === 'path')
      .reduce((at, { name: each, example }) => at.replace(`{${each}}`, encodeURIComponent(String(example))), described)
    // Computes for seconds, without Redis.
    const example = path.endsWith('/what-if') ? {} : operation.requestBody?.content['application/json']?.example
    const response = await fetch(rig.url + path, {
      method: method.toUpperCase(),
      headers: {
        cookie: `game_access=${as.cookie('game_access')}; game_refresh=${as.cookie('game_refresh')}`,
        ...(example === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(example === undefined ? {} : { body: JSON.stringify(example) }),
    })
    const said = response.status === 503 ? await response.text() : await response.body?.cancel()
    return { name, status: response.status, said }
  }
})
