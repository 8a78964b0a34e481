import { createServer } from 'node:net'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { compose } from '../../src/compose/index.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/observe/log.ts'
import { systemWorld } from '../../src/system-world.ts'
import { HttpClient } from '../support/http-client.ts'
import { killRemaining, PATIENCE, Program } from '../support/process.ts'
import { listen } from '../../ops/rehearse/conformance/listen.ts'
import { freePort } from '../../ops/rehearse/rig/ports.ts'
import { embeddedPlace, type DataPlace } from '../support/data-place.ts'

afterEach(killRemaining)

async function settle(): Promise<DataPlace> {
  const place = await embeddedPlace()
  onTestFinished(() => place.remove())
  return place
}

/** A port of this machine that another server uses. */
async function takenPort(): Promise<string> {
  const neighbour = createServer()
  onTestFinished(() => new Promise((resolve) => neighbour.close(() => resolve())))
  return String(await listen(neighbour, 0))
}

it('does not start on a data folder in use: one line names the folder, and the exit code is 1', async () => {
  const place = await settle()
  const first = new Program({ ...place.env, DEMO_REPLAY: 'none' })
  await first.listening
  const { code, stderr } = await new Program(place.env).ended
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Touchline cannot start: .* is in use by process \d+; stop it.* DATA_DIR\n$/)
  expect(stderr).toContain(place.env['DATA_DIR'])
})

it('does not start on a port in use or without its database', async () => {
  const port = await takenPort()
  const place = await settle()
  for (const taken of [{ PORT: port }, { WS_PORT: port }]) {
    const { code, stderr } = await new Program({ ...place.env, ...taken }).ended
    expect(code).toBe(1)
    expect(stderr).toMatch(new RegExp(`^Touchline cannot start: .*127\\.0\\.0\\.1:${port}; .* PORT and WS_PORT\n$`))
  }
  const nowhere = { ...place.env, DATABASE_URL: 'postgres://user@127.0.0.1:1/missing' }
  const { code, stderr } = await new Program(nowhere).ended
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Touchline cannot start: .*127\.0\.0\.1:1; .* DATABASE_URL .*\n$/)
})

it('does not start on an address of another machine', async () => {
  const place = await settle()
  const { code, stderr } = await new Program({ ...place.env, HOST: '203.0.113.1' }).ended
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Touchline cannot start: .*203\.0\.113\.1.*; HOST must be .*\n$/)
})

it('does not start with an unknown demo recording or without its Redis', async () => {
  const place = await settle()
  const unknown = await new Program({ ...place.env, DEMO_REPLAY: 'goal-fest' }).ended
  expect(unknown.code).toBe(1)
  expect(unknown.stderr).toMatch(/^The configuration .*\n  DEMO_REPLAY: must be one of cup-night, .*, or none\n$/)
  const alone = await new Program({ ...place.env, REDIS_URL: 'redis://127.0.0.1:1' }).ended
  expect(alone.code).toBe(1)
  expect(alone.stderr).toMatch(/^Touchline cannot start: Redis at 127\.0\.0\.1:1 does not answer .* REDIS_URL.*\n$/)
})

it('has the players of its demo from its first answer on', async () => {
  const place = await settle()
  const port = String(await freePort())
  const program = new Program({ ...place.env, PORT: port })
  const url = `http://127.0.0.1:${port}`
  const isUp = () =>
    fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    )
  await vi.waitUntil(isUp, PATIENCE)
  const user = await HttpClient.of(url, 'Ada')
  expect(await user.instruments()).not.toEqual([])
  expect(await program.stop()).toMatchObject({ code: 0 })
})

it('on SIGTERM /ready fails first, and requests are served until load balancers have noticed', async () => {
  const place = await settle()
  const program = new Program({ ...place.env, DEMO_REPLAY: 'none', DRAIN_SECS: '2' })
  const { url } = await program.listening
  const ready = async () => {
    const answer = await fetch(`${url}/ready`)
    return { status: answer.status, body: await answer.json() }
  }
  expect(await ready()).toMatchObject({ status: 200, body: { checks: { accepting: 'ok' } } })
  const ended = program.stop()
  await program.logs('"event":"shutdown_started"')
  expect(await ready()).toMatchObject({ status: 503, body: { checks: { accepting: 'failed', database: 'ok' } } })
  expect((await fetch(`${url}/health`)).status).toBe(200)
  expect(await ended).toMatchObject({ code: 0, stderr: '' })
})

it('keeps serving when the reader of its log is gone', async () => {
  const place = await settle()
  const program = new Program({ ...place.env, DEMO_REPLAY: 'none' })
  const { url } = await program.listening
  program.stopReading()
  // Each of these requests writes a line to the log.
  for (let n = 0; n < 3; n++) expect((await fetch(`${url}/health`)).status).toBe(200)
  expect(await program.stop()).toMatchObject({ code: 0 })
})

it('on SIGTERM during the start it finishes starting and exits with 0', async () => {
  const place = await settle()
  // Without its tables.
  await (await PGlite.create({ dataDir: join(place.env['DATA_DIR'] ?? '', 'pg') })).close()
  const program = new Program(place.env)
  await program.logs('"event":"schema_migrated"')
  expect(await program.stop()).toMatchObject({ code: 0, stderr: '' })
  const again = new Program(place.env)
  await again.listening
  expect(await again.stop()).toMatchObject({ code: 0, stderr: '' })
})

it('a part that fails to stop does not keep the others running, and is reported', async () => {
  const place = await settle()
  const config = readConfig({ ...place.env, DEMO_REPLAY: 'none', PORT: '0', WS_PORT: '0' })
  const log = createLog({ level: 'silent', world: systemWorld() })
  const broken = await compose(config, { log })
  const { url } = await broken.start()
  const stop = broken.realTime.stop.bind(broken.realTime)
  broken.realTime.stop = async () => {
    await stop()
    throw new Error('stuck')
  }
  await expect(broken.stop()).rejects.toMatchObject({ errors: [new Error('stuck')] })
  await expect(fetch(url)).rejects.toThrow('fetch failed')
  const next = await compose(config, { log }) // the folder is free
  await next.stop()
  await next.stop()
})
