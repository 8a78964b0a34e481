/**
 * A session of a client, the same for every language. A program of that language signs in with a key, follows a player
 * and trades. Its socket is lost while others trade, and it must resume with nothing missed and nothing twice. Then it
 * closes its position, and ends.
 *
 * The program gets the server's address and a player as arguments, and the key in `TOUCHLINE_KEY`. It says `frame
 * <flags> <epoch> <seq> <previous price> <price>`, `account <marker> <type>`, `state <state>`, `opened <id>`, `closed
 * <by>` and `refused <code>`, each on a line, and hears `open <lots>`, `close` and `end`.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, vi } from 'vitest'
import { freePort } from '../../ops/rehearse/rig/ports.ts'
import { Relay } from '../../ops/rehearse/chaos/relay.ts'
import { ComposedServer } from '../support/composed-server.ts'
import { embeddedPlace } from '../support/data-place.ts'
import { pick } from '../support/http-client.ts'
import { personalKey } from '../support/personal-key.ts'

const PATIENCE = { timeout: 30_000, interval: 20 }
/** Longer than the hold of 180 seconds. */
const HOLD_SECS = 181
const [SNAPSHOT, REPLAY] = [1, 2]

/** Runs the program against a server of its own; throws if anything was missed or repeated. */
export async function liveSession(command: string, args: readonly string[]): Promise<void> {
  const wsPort = await freePort()
  const relay = await Relay.to(`ws://127.0.0.1:${wsPort}`)
  const settings = { WS_PORT: String(wsPort), PUBLIC_WS_URL: relay.url.replace(/\/$/, '') }
  const server = await ComposedServer.open(await embeddedPlace(), settings)
  const others = await server.user('Others')
  const { id: player } = pick(await others.instruments(), (i) => i.position === 'FWD')
  const orderNow = async () => ({
    instrumentId: player,
    lotSize: 0.5,
    clientPrice: (await others.instrument(player)).currentPrice,
  })

  const TOUCHLINE_KEY = await personalKey(server.url, 'Client', ['trade'])
  const program = spawn(command, [...args, server.url, player], {
    env: { ...process.env, TOUCHLINE_KEY },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((resolve) => program.once('close', resolve))
  const lines: string[] = []
  let complaints = ''
  program.stderr.on('data', (data) => (complaints += String(data)))
  createInterface(program.stdout).on('line', (line) => lines.push(line))
  const said = (what: string) =>
    lines.filter((line) => line.startsWith(`${what} `)).map((line) => line.slice(what.length + 1).split(' '))
  const until = async (condition: () => boolean | Promise<boolean>) => {
    try {
      await vi.waitUntil(() => {
        if (program.exitCode !== null) throw new Error('the program has ended')
        return condition()
      }, PATIENCE)
    } catch (error) {
      throw new Error(`the program said:\n${lines.join('\n')}\n${complaints}`, { cause: error })
    }
  }
  const frames = () =>
    said('frame').map((words) => {
      const [flags = 0, epoch = 0, seq = 0, previous = 0, price = 0] = words.map(Number)
      return { flags, epoch, seq, previous, price }
    })
  const hasLatest = async () => frames().at(-1)?.price === (await others.instrument(player)).currentPrice

  try {
    await until(() => frames().length > 0 && said('account').length > 0)
    program.stdin.write('open 0.1\n')
    await until(() => said('account').some(([, type]) => type === 'opened'))
    expect(said('opened')).toHaveLength(1)
    // From a move on, and not from a snapshot, a client can resume.
    await others.opens({ ...(await orderNow()), direction: 'long' })
    await until(hasLatest)

    relay.cut()
    await until(() => said('state').at(-1)?.[0] === 'waiting')
    program.stdin.write('open 0.2\n')
    await until(() => said('opened').length === 2)
    await others.opens({ ...(await orderNow()), direction: 'long' })
    await others.opens({ ...(await orderNow()), direction: 'long' })
    relay.mend()
    await until(hasLatest)
    await until(() => said('account').filter(([, type]) => type === 'opened').length === 2)

    // The last of the missed moves may be published only after the client is back.
    expect(frames().filter(({ flags }) => (flags & REPLAY) !== 0)).not.toHaveLength(0)
    const [first, ...later] = frames()
    expect(first?.flags).toBe(SNAPSHOT)
    for (const [n, frame] of later.entries()) expect(frame.previous).toBe(frames()[n]?.price)
    const seqs = frames().map(({ seq }) => seq)
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
    const markers = said('account').flatMap(([marker, type]) => (type === 'snapshot' ? [] : [Number(marker)]))
    expect(markers).toEqual([...new Set(markers)].toSorted((a, b) => a - b))

    await server.play(HOLD_SECS)
    for (let tries = 1; said('closed').length === 0; tries++) {
      program.stdin.write('close\n')
      await until(() => said('closed').length + said('refused').length === tries)
      // A suspended market opens again as the match goes on.
      if (said('closed').length === 0) await server.play(10)
    }
    expect(said('closed')).toEqual([['user']])
    program.stdin.end('end\n')
    expect([await ended, complaints]).toEqual([0, ''])
  } finally {
    program.kill()
    await relay.close()
    await server.close()
  }
}
