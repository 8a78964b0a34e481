/** One process of the bus benchmark: publishes or receives prices, asks or answers commands. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { present } from '../../actors/kernel/assert.ts'
import { Bus, type PubSub } from '../../rooms/cluster/bus.ts'
import { PROTOCOL } from '../../rooms/cluster/protocol.ts'
import {
  type BusCommand,
  connected,
  type Done,
  MATCH,
  ORDER,
  OWNER,
  PRICES,
  PROGRESS,
  PULSE,
  REPORT_EVERY,
  TRADED,
  UNDER_WAY_MAX,
} from './bus-order.ts'
import { spreadOf } from './report.ts'

/** Publications whose answers are waited for together. */
const BURST = 64
const COMMAND_MS = 5_000
const ASK_EVERY_MS = 1

const report = (event: string, error: unknown): void => console.error(event, error)

let received = 0
let cpu = process.cpuUsage()

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage(cpu)
  cpu = process.cpuUsage()
  return (user + system) / 1e6
}

/** The work of a command, timed. */
async function timed(work: () => Promise<Pick<Done, 'messages'> & Partial<Done>>): Promise<Done> {
  cpuSeconds()
  const from = performance.now()
  const result = await work()
  return { seconds: (performance.now() - from) / 1_000, cpuSeconds: cpuSeconds(), p50Ms: 0, bytes: 0, ...result }
}

const WORK: { readonly [K in BusCommand['kind']]: (command: Extract<BusCommand, { kind: K }>) => Promise<unknown> } = {
  listen: async ({ at, clients }) => {
    const ends = await Promise.all(Array.from({ length: clients }, () => connected(at)))
    const [first] = ends
    for (const end of ends) {
      await end.subscribe(PRICES, () => {
        received++
        if (received % (REPORT_EVERY * clients) === 0) void first?.publish(PROGRESS, Buffer.from('.'))
      })
    }
    cpuSeconds()
    return {}
  },

  publish: ({ at, bytes, ms }) =>
    timed(async () => {
      const end = await connected(at)
      let taken = 0
      await end.subscribe(PROGRESS, () => (taken += REPORT_EVERY))
      const message = Buffer.alloc(bytes, 1)
      let sent = 0
      for (const until = performance.now() + ms; performance.now() < until;) {
        const burst = Array.from({ length: BURST - 1 }, () => end.publish(PRICES, message))
        await Promise.all([...burst, end.send(PRICES, message)])
        sent += BURST
        while (sent - taken > UNDER_WAY_MAX) await pause(0)
      }
      await end.close()
      return { messages: sent }
    }),

  received: async () => {
    // What is under way arrives.
    for (let before = -1; before !== received; await pause(100)) before = received
    const result: Done = { messages: received, seconds: 0, cpuSeconds: cpuSeconds(), p50Ms: 0, bytes: 0 }
    received = 0
    return result
  },

  serve: async ({ at }) => {
    const pubSub = await connected(at)
    const bus = new Bus({ pubSub, processId: OWNER, protocol: PROTOCOL, report })
    await pubSub.subscribe(PULSE, () => undefined)
    bus.serve('command', async () => {
      received++
      return TRADED
    })
    await bus.open()
    cpuSeconds()
    return {}
  },

  trade: async ({ at, underWay, ms }) => {
    const pubSub = new Counted(await connected(at))
    const bus = new Bus({ pubSub, processId: 'asker', protocol: PROTOCOL, report })
    await bus.open()
    const result = await timed(async () => {
      const times: number[] = []
      const until = performance.now() + ms
      const line = async (): Promise<void> => {
        while (performance.now() < until) {
          const from = performance.now()
          const reply = await bus.ask(
            OWNER,
            'command',
            { matchId: MATCH, command: ORDER, leftMs: COMMAND_MS },
            COMMAND_MS,
          )
          if (reply.kind !== 'answered') throw new Error(`a command is ${reply.kind}`)
          times.push(performance.now() - from)
        }
      }
      await Promise.all(Array.from({ length: underWay }, line))
      return { messages: times.length, p50Ms: spreadOf(times).median, bytes: pubSub.bytes / times.length }
    })
    await bus.close()
    return result
  },

  watch: async ({ at }) => {
    const end = await connected(at)
    while ((await end.send(PULSE, Buffer.from('?'))) !== 0) await pause(ASK_EVERY_MS)
    await end.close()
    return {}
  },

  echo: async () => {
    const server = createServer((socket) => {
      socket.setNoDelay(true).pipe(socket)
      socket.on('error', () => undefined)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    cpuSeconds()
    const address = server.address()
    return { port: typeof address === 'object' ? present(address, 'address').port : 0 }
  },

  hear: async ({ port, bytes, underWay, ms }) => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true)
    await once(socket, 'connect')
    let heard = 0
    let resume = (): void => undefined
    socket.on('data', (data) => {
      heard += data.length
      resume()
    })
    const result = await timed(async () => {
      const message = Buffer.alloc(bytes, 1)
      const until = performance.now() + ms
      let sent = 0
      for (; performance.now() < until; sent += underWay) {
        for (let n = 0; n < underWay; n++) socket.write(message)
        while (heard < (sent + underWay) * bytes) await new Promise<void>((resolve) => (resume = resolve))
      }
      return { messages: sent }
    })
    socket.destroy()
    return result
  },
}

/** Counts the bytes of what is sent and received. */
class Counted implements PubSub {
  bytes = 0
  readonly #inner: PubSub

  constructor(inner: PubSub) {
    this.#inner = inner
  }

  publish(channel: string, message: Buffer): Promise<void> {
    this.bytes += message.length
    return this.#inner.publish(channel, message)
  }

  send(channel: string, message: Buffer): ReturnType<PubSub['send']> {
    this.bytes += message.length
    return this.#inner.send(channel, message)
  }

  subscribe(channel: string, onMessage: (message: Buffer) => void): Promise<void> {
    return this.#inner.subscribe(channel, (message) => {
      this.bytes += message.length
      onMessage(message)
    })
  }

  unsubscribe(channel: string): Promise<void> {
    return this.#inner.unsubscribe(channel)
  }

  onGap(listener: () => void): void {
    this.#inner.onGap(listener)
  }

  reconnect(): void {
    this.#inner.reconnect()
  }

  close(): Promise<void> {
    return this.#inner.close()
  }
}

const work = (command: BusCommand): Promise<unknown> =>
  (WORK[command.kind] as (command: BusCommand) => Promise<unknown>)(command)

process.on('message', (command: BusCommand) => {
  void work(command).then((answer) => process.send?.(answer))
})
process.on('disconnect', () => process.exit())
