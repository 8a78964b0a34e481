/** The other processes of the one-match benchmark: those that send orders, and those that follow prices. */
import { present } from '../../actors/kernel/assert.ts'
import { refused } from '../../actors/kernel/outcome.ts'
import { instant } from '../../actors/kernel/world.ts'
import { Bus } from '../../rooms/cluster/bus.ts'
import { Peers } from '../../rooms/cluster/peers.ts'
import { type ClusterBus, priceTopic, PROTOCOL } from '../../rooms/cluster/protocol.ts'
import { systemWorld } from '../../src/system-world.ts'
import { connected } from './bus-order.ts'
import {
  COMMAND_MS,
  cpuSeconds,
  loaded,
  MATCH,
  nextOrder,
  type Orders,
  type OthersCommand,
  OWNER,
  type Pressure,
  signed,
  type Traded,
} from './one-match-order.ts'

const world = systemWorld()
const reported = new Set<string>()
/** Each case once: what they led to is counted. */
const report = (event: string, error: unknown): void => {
  if (reported.has(event)) return
  reported.add(event)
  console.error(event, error)
}

/** What a process of the version before speaks. */
const BEFORE = { ...PROTOCOL, versions: { oldest: 1, newest: 2 } }

let joined: { readonly bus: ClusterBus; readonly peers: Peers }[] = []
let followed = { messages: 0, bytes: 0 }

async function member(command: Extract<OthersCommand, { kind: 'join' }>, n: number) {
  const protocol = command.isOld ? BEFORE : PROTOCOL
  const bus: ClusterBus = new Bus({ pubSub: await signed(command.at), processId: `asker-${n}`, protocol, report })
  await bus.open()
  return { bus, peers: new Peers({ bus, ownership: { ownerOf: async () => OWNER }, world }) }
}

async function trade(orders: Orders, pressure: Pressure): Promise<Traded> {
  cpuSeconds()
  let unknown = 0
  const load = await loaded(pressure, async () => {
    const { peers } = present(joined[world.randomInt(joined.length)], 'process')
    const deadline = instant(world.now() + COMMAND_MS)
    const answer = await peers.submit(MATCH, nextOrder(orders), { deadline, what: 'instrument' })
    const outcome = 'outcome' in answer ? answer.outcome : refused(answer.refusal)
    if (outcome.ok) return
    if (outcome.refusal.code !== 'unknown_outcome') throw new Error(`refused: ${JSON.stringify(outcome.refusal)}`)
    unknown++
  })
  return { ...load, cpuSeconds: cpuSeconds(), unknown }
}

async function carryOut(command: OthersCommand): Promise<unknown> {
  switch (command.kind) {
    case 'follow': {
      const ends = await Promise.all(Array.from({ length: command.connections }, () => connected(command.at)))
      for (const end of ends) {
        // The channels of the bus; the seals of the messages are not checked, which would be the work of 100 machines.
        for (const topic of [priceTopic(MATCH), 'accounts']) {
          await end.subscribe(`topic:${topic}`, (message) => {
            followed.messages++
            followed.bytes += message.length
          })
        }
      }
      return {}
    }
    case 'followed': {
      const result = { ...followed, cpuSeconds: cpuSeconds() }
      followed = { messages: 0, bytes: 0 }
      return result
    }
    case 'join':
      joined = await Promise.all(Array.from({ length: command.processes }, (_, n) => member(command, n)))
      return {}
    case 'trade':
      return trade(command.orders, command.pressure)
    case 'leave':
      await Promise.all(joined.splice(0).map(({ bus }) => bus.close()))
      return {}
  }
}

process.on('message', (command: OthersCommand) => {
  void carryOut(command).then((result) => process.send?.(result))
})
process.on('disconnect', () => process.exit())
