/** Checks that processes answer at their addresses and accept a token signed with our key. */
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { sessionId, userId } from '../../../actors/kernel/ids.ts'
import type { Config } from '../../../src/config.ts'
import { loadOrCreateKeys } from '../../../src/auth/keys.ts'
import { createTokens } from '../../../src/auth/tokens.ts'
import { systemWorld } from '../../../src/system-world.ts'
import { failed, type Finding, ok, warned } from './finding.ts'

const PATIENCE_MS = 5_000
const SKEW_MS = 1_000
const Ready = z.object({ checks: z.record(z.string(), z.string()) })
const Pong = z.object({ type: z.literal('pong'), serverTime: z.string() })

/** `http(s)://`: `/health` and `/ready`. `ws(s)://`: a handshake, one message, and the clock of the process. */
export function checkAddress(address: string, config: Config): Promise<readonly Finding[]> {
  return /^wss?:/.test(address) ? checkSocket(address, config) : checkHttp(address)
}

async function checkHttp(address: string): Promise<readonly Finding[]> {
  const ask = (path: string) =>
    fetch(`${address.replace(/\/$/, '')}${path}`, { signal: AbortSignal.timeout(PATIENCE_MS) })
  const health = await ask('/health')
  if (!health.ok) return [failed(address, `/health is ${health.status}`)]
  const ready = await ask('/ready')
  if (ready.status === 404) return [warned(address, 'is up, but hides /ready from the page and the probe')]
  const { checks } = Ready.parse(await ready.json())
  const away = Object.entries(checks).filter(([, state]) => state !== 'ok')
  return [
    ready.ok
      ? ok(address, `is up and ready: ${Object.keys(checks).join(', ')}`)
      : failed(address, `is up but not ready: ${away.map(([name]) => name).join(', ')} failed`),
  ]
}

async function checkSocket(address: string, { jwt, dataDir }: Config): Promise<readonly Finding[]> {
  const world = systemWorld()
  const tokens = createTokens({
    keys: await loadOrCreateKeys({ dataDir, keyId: jwt.keyId, privateKeyPem: jwt.privateKeyPem?.reveal() ?? null }),
    lifetimes: jwt,
    world,
  })
  // The token's user does not exist: it may follow prices, and has no account to touch.
  const token = await tokens.issueWs({ userId: userId(world.newId()), sid: sessionId(world.newId()) })
  const ws = new WebSocket(`${address.replace(/\/$/, '')}/?token=${token}`, 'feed.v1', {
    handshakeTimeout: PATIENCE_MS,
  })
  try {
    await once(ws, 'open')
    const refused = once(ws, 'close').then(([code, reason]) => {
      throw new Error(`closed our connection: ${code} ${String(reason)}`)
    })
    refused.catch(() => undefined)
    const askedAt = Date.now()
    ws.send(JSON.stringify({ type: 'ping', id: 1 }))
    const [message] = await Promise.race([once(ws, 'message', { signal: AbortSignal.timeout(PATIENCE_MS) }), refused])
    const answeredAt = Date.now()
    const { serverTime } = Pong.parse(JSON.parse(String(message)))
    const skewMs = Math.abs(Date.parse(serverTime) - (askedAt + answeredAt) / 2)
    const says = `lets our token in, answers in ${answeredAt - askedAt} ms`
    return [
      skewMs > SKEW_MS ? warned(address, `${says}; its clock is off by ${Math.round(skewMs)} ms`) : ok(address, says),
    ]
  } finally {
    ws.terminate()
  }
}
