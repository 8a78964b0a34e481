/** Signed out is signed out: two processes of the real program, and a Redis that loses what it was told. */
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { OwnRedis } from '../../ops/rehearse/rig/redis.ts'
import { onServers } from '../support/data-place.ts'
import { killRemaining, PATIENCE, Program } from '../support/process.ts'
import { FeedClient } from '../rooms/realtime-rig.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

afterEach(killRemaining)

const post = (url: string, cookie: string, body?: object) =>
  fetch(url, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

/** The cookies of a new session. */
async function signIn(url: string, displayName = 'Ada'): Promise<string> {
  const response = await post(`${url}/api/auth/dev`, '', { displayName })
  expect(response.status).toBe(200)
  return response.headers
    .getSetCookie()
    .map((set) => set.slice(0, set.indexOf(';')))
    .join('; ')
}

const Socket = z.object({ token: z.string(), wsUrl: z.string() })
const statusAt = async (url: string, cookie: string) =>
  (await fetch(`${url}/api/wallet`, { headers: { cookie } })).status

onServers((settle) => {
  it('[S4] a token stays dead in two processes while the fast store is emptied, restarted and away', async () => {
    const place = await settle()
    onTestFinished(() => place.remove())
    const folder = scratchFolder()
    const redis = await OwnRedis.start(folder)
    onTestFinished(() => redis.kill())
    const env = { ...place.env, REDIS_URL: redis.url, DEMO_REPLAY: 'none' }
    const { url: here } = await new Program(env).listening
    const { url: there } = await new Program(env).listening

    const misfortunes = {
      emptied: () => redis.flush(),
      restarted: async () => {
        await redis.kill()
        await redis.start()
      },
      away: () => redis.kill(),
    }
    for (const [what, strike] of Object.entries(misfortunes)) {
      const [gone, stays] = [await signIn(here), await signIn(there)]
      const { token, wsUrl } = Socket.parse(await (await post(`${there}/api/ws/token`, gone)).json())
      for (const url of [here, there]) {
        expect([await statusAt(url, gone), await statusAt(url, stays)], what).toEqual([200, 200])
      }
      expect((await post(`${here}/api/auth/logout`, gone)).status, what).toBe(200)
      await strike()
      for (const url of [there, here, there]) {
        expect([await statusAt(url, gone), await statusAt(url, stays)], what).toEqual([401, 200])
        expect((await post(`${url}/api/auth/refresh`, gone)).status, what).toBe(401)
        expect((await post(`${url}/api/ws/token`, gone)).status, what).toBe(401)
      }
      const socket = new FeedClient(`${wsUrl}/?token=${token}`)
      await socket.opened.catch(() => undefined) // refused, or opened to be told why
      expect(await socket.closed, what).not.toBe(1000)
      expect(socket.said, what).toEqual([])
    }
  })

  it('[S11] ending a session elsewhere closes its sockets within a second without the bus', async () => {
    const place = await settle()
    onTestFinished(() => place.remove())
    const env = { ...place.env, DEMO_REPLAY: 'none' }
    const { url } = await new Program(env).listening
    const cookie = await signIn(url)
    const { token, wsUrl } = Socket.parse(await (await post(`${url}/api/ws/token`, cookie)).json())
    const feed = new FeedClient(`${wsUrl}/?token=${token}`)
    await feed.opened
    // What another process writes, and cannot announce.
    await place.look(({ db }) => db.updateTable('sessions').set({ ended_at: new Date() }).execute())
    await vi.waitUntil(() => feed.ws.readyState === feed.ws.CLOSED, PATIENCE)
    expect(await statusAt(url, cookie)).toBe(401)
  })

  it('[S11] freezing, demotion and deletion in one process close sockets in the other', async () => {
    const place = await settle()
    onTestFinished(() => place.remove())
    const env = { ...place.env, DEMO_REPLAY: 'none', ADMIN_EMAILS: 'desk@synthetic.invalid' }
    const { url: here } = await new Program(env).listening
    const { url: there } = await new Program(env).listening
    const desk = await signIn(here, 'Desk')
    const sent = async (method: string, path: string, cookie: string, body: object): Promise<void> => {
      const headers = { cookie, 'content-type': 'application/json' }
      const answer = await fetch(`${here}${path}`, { method, headers, body: JSON.stringify(body) })
      expect(answer.status, `${method} ${path}: ${await answer.text()}`).toBe(200)
    }
    const Me = z.looseObject({ userId: z.string() })
    const adminPath = async (cookie: string): Promise<string> => {
      const me = Me.parse(await (await fetch(`${here}/api/me`, { headers: { cookie } })).json())
      return `/api/admin/users/${me.userId}`
    }
    const happenings = {
      Frozen: async (cookie: string) =>
        sent('PUT', `${await adminPath(cookie)}/status`, desk, { status: 'frozen', reason: 'a test' }),
      Demoted: async (cookie: string) => sent('PUT', `${await adminPath(cookie)}/role`, desk, { role: 'user' }),
      Deleted: (cookie: string) => sent('DELETE', '/api/me', cookie, { confirm: 'deleted' }),
    }
    for (const [name, happen] of Object.entries(happenings)) {
      let cookie = await signIn(there, name)
      if (name === 'Demoted') {
        await sent('PUT', `${await adminPath(cookie)}/role`, desk, { role: 'admin' })
        cookie = await signIn(there, name)
      }
      const { token, wsUrl } = Socket.parse(await (await post(`${there}/api/ws/token`, cookie)).json())
      const feed = new FeedClient(`${wsUrl}/?token=${token}`)
      await feed.opened
      await happen(cookie)
      await vi.waitUntil(() => feed.ws.readyState === feed.ws.CLOSED, PATIENCE)
      for (const url of [there, here]) await vi.waitUntil(async () => (await statusAt(url, cookie)) === 401, PATIENCE)
    }
  })

  it('[S18] a key that is deleted in one process is dead in the other, with its sockets', async () => {
    const place = await settle()
    onTestFinished(() => place.remove())
    const env = { ...place.env, DEMO_REPLAY: 'none' }
    const { url: here } = await new Program(env).listening
    const { url: there } = await new Program(env).listening
    const cookie = await signIn(here)
    const made = await post(`${here}/api/keys`, cookie, { name: 'Bot', scopes: ['read'] })
    const { key, secret } = z.object({ key: z.object({ id: z.string() }), secret: z.string() }).parse(await made.json())
    const headers = { authorization: `Bearer ${secret}` }
    const statuses = () =>
      Promise.all([here, there].map(async (url) => (await fetch(`${url}/api/wallet`, { headers })).status))
    expect(await statuses()).toEqual([200, 200])
    const issued = await fetch(`${there}/api/ws/token`, { method: 'POST', headers })
    const { token, wsUrl } = Socket.parse(await issued.json())
    const feed = new FeedClient(`${wsUrl}/?token=${token}`)
    await feed.opened
    expect((await fetch(`${here}/api/keys/${key.id}`, { method: 'DELETE', headers: { cookie } })).status).toBe(200)
    expect(await statuses()).toEqual([401, 401])
    await vi.waitUntil(() => feed.ws.readyState === feed.ws.CLOSED, PATIENCE)
    expect([await statusAt(here, cookie), await statusAt(there, cookie)]).toEqual([200, 200])
  })
})
