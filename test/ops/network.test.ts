/**
 * The machines of chaos runs: what is lost there is lost without an error, and nothing of them remains. They run with
 * `TEST_NETWORKS=on` and by themselves: a browser gives up its requests whenever the host gets another interface.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Machine, Network } from '../../ops/rehearse/chaos/network.ts'

/** Opens a connection for each letter it is told, and prints the letter for each answer there, or what ended it. */
const CLIENT = `
  const [port, host] = process.argv.slice(-2)
  process.stdin.on('data', (name) => {
    const socket = require('node:net').connect(port, host)
    setInterval(() => socket.write('x'), 20)
    socket.on('data', () => process.stdout.write(name))
    for (const end of ['error', 'close']) socket.on(end, () => process.stdout.write(end))
  })`
/** Answers of the connection beside, in which one that passes anything would have some as well. */
const ANSWERS = 20

/** A client on a machine, and its server beside the stores. */
class Pair {
  readonly client: ChildProcess
  readonly #server: Server
  readonly ends: unknown[] = []
  said = ''

  private constructor(machine: Machine, server: Server) {
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const [file, ...args] = [...machine.runs, process.execPath, '-e', CLIENT, String(port), machine.storesAddress]
    this.client = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.client.stdout?.on('data', (data) => (this.said += String(data)))
    this.#server = server.on('connection', (socket) => {
      for (const end of ['error', 'close']) socket.on(end, (error) => this.ends.push(error))
      socket.on('data', (data) => socket.write(data))
    })
  }

  static async on(machine: Machine): Promise<Pair> {
    const server = createServer().listen(0, machine.storesAddress)
    await once(server, 'listening')
    return new Pair(machine, server)
  }

  connect(name: string): void {
    this.client.stdin?.write(name)
  }

  /** Resolves after this many answers on a connection from now on. */
  async answers(name: string, count = 1): Promise<void> {
    const before = this.#count(name)
    await vi.waitUntil(() => this.#count(name) >= before + count, { timeout: 20_000, interval: 10 })
  }

  close(): void {
    this.#server.close()
  }

  #count(name: string): number {
    return this.said.split(name).length - 1
  }
}

const network = process.env['TEST_NETWORKS'] === 'on' ? Network.open() : null

describe.skipIf(network === null)('a machine in a network namespace', () => {
  let pairs: Pair[] = []

  afterEach(() => {
    network?.close()
    for (const pair of pairs) pair.close()
    pairs = []
  })

  /** A machine to break, and one beside it that stays whole. */
  async function machines() {
    const machine = (network as Network).machine(0)
    const beside = (network as Network).machine(0)
    const [pair, other] = (pairs = [await Pair.on(machine), await Pair.on(beside)]) as [Pair, Pair]
    other.connect('o')
    const expectSilence = async (): Promise<void> => {
      await other.answers('o', ANSWERS) // one may be on its way
      const before = pair.said
      await other.answers('o', ANSWERS)
      expect(pair.said).toBe(before)
    }
    return { machine, pair, expectSilence }
  }

  it('loses every packet without an error on either side, and resumes where it was', async () => {
    const { machine, pair, expectSilence } = await machines()
    pair.connect('a')
    await pair.answers('a')
    machine.drop(['stores'])
    await expectSilence()
    pair.connect('b')
    await expectSilence()
    machine.mend()
    await Promise.all([pair.answers('a'), pair.answers('b')])
    expect([pair.said.replaceAll(/[ab]/g, ''), pair.ends]).toEqual(['', []])
  })

  it('forgets connections for ever, without an error, while new ones work', async () => {
    const { machine, pair, expectSilence } = await machines()
    // More often than it has addresses.
    for (let n = 0; n < 12; n++) machine.forget()
    pair.connect('a')
    await pair.answers('a')
    machine.forget()
    await expectSilence()
    const before = pair.said
    pair.connect('b')
    machine.mend()
    await pair.answers('b', ANSWERS)
    expect([pair.said.slice(before.length).replaceAll('b', ''), pair.ends]).toEqual(['', []])
  })

  it('leaves nothing behind, and ends what still runs', async () => {
    const { pair } = await machines()
    pair.connect('a')
    await pair.answers('a')
    const gone = once(pair.client, 'exit')
    network?.close()
    await gone
    const left = [
      ['netns', 'list'],
      ['-brief', 'link'],
    ].map((args) => execFileSync('ip', args, { encoding: 'utf8' }))
    expect(left.join('')).not.toContain(`tl${process.pid}m`)
  })
})
