/**
 * Network namespaces: each process of a run is a machine of its own, with one link to clients and one to the stores.
 * Its packets can be lost on either, as behind a switch without power: each side then sends to an unused hardware
 * address. No packet arrives, and neither side gets an error. It needs root and `ip`, and no other package.
 */
import { execFileSync } from 'node:child_process'
import { assert } from '../../../actors/kernel/assert.ts'

const PREFIXES_TRIED = 16
/** Of the 256 addresses of a run. */
const ADDRESSES_A_MACHINE = 32
const MACHINES_MAX = 8
/** The addresses that a machine may have towards the stores, one after another. */
const SOURCES = 11

const HOST_MAC = '02:00:00:00:00:01'
const MACHINE_MAC = '02:00:00:00:00:02'
const UNUSED_MAC = '02:00:00:00:00:03'

/** For the packets of connections that the network has forgotten. */
const LOST_TABLE = 9

type Link = 'clients' | 'stores'
const LINKS: readonly Link[] = ['clients', 'stores']

function ip(args: readonly string[], lines: readonly string[] = []): string {
  const options = { encoding: 'utf8', stdio: 'pipe', input: lines.join('\n') } as const
  return execFileSync('ip', args, options)
}

/** Carries out these commands of `ip` on the host, and those in the namespace. */
function batch(host: readonly string[], namespace: string, inside: readonly string[]): void {
  if (host.length > 0) ip(['-batch', '-'], host)
  if (inside.length > 0) ip(['-netns', namespace, '-batch', '-'], inside)
}

export class Machine {
  /** Put before a command, it makes it run on this machine. */
  readonly runs: readonly string[]
  /** Where clients reach it. */
  readonly address: string
  /** Where it reaches the stores. */
  readonly storesAddress: string
  readonly #name: string
  readonly #devices: Readonly<Record<Link, string>>
  readonly #base: string
  readonly #first: number
  /** Where its new connections to the stores come from. */
  #source = 0
  /** Where the forgotten ones came from. */
  readonly #former = new Set<string>()

  constructor(owner: number, prefix: string, number: number) {
    this.#name = nameOf(owner, number)
    this.#devices = { clients: `${this.#name}c`, stores: `${this.#name}s` }
    this.#base = prefix
    this.#first = number * ADDRESSES_A_MACHINE
    this.runs = ['ip', 'netns', 'exec', this.#name]
    this.address = this.#at(2)
    this.storesAddress = this.#at(17)
    ip(['netns', 'add', this.#name])
    batch([...this.#linkLines('clients', this.#at(1)), ...this.#linkLines('stores', this.storesAddress)], this.#name, [
      'link set lo up',
      'link set clients up',
      'link set stores up',
      `addr add ${this.address}/28 dev clients`,
      `addr add ${this.#sourceAt(0)}/28 dev stores`,
      // What goes to this address arrives nowhere.
      neighbour(this.#at(30), UNUSED_MAC, 'stores'),
      `route add default via ${this.#at(30)} dev stores table ${LOST_TABLE}`,
    ])
    this.mend()
  }

  /** From now on every packet of these links is lost, in both directions, without an error. */
  drop(links: readonly Link[]): void {
    this.#aim(links, UNUSED_MAC, UNUSED_MAC)
  }

  /** Packets arrive again, except those of connections that are forgotten. */
  mend(): void {
    this.#aim(LINKS, HOST_MAC, MACHINE_MAC)
  }

  /**
   * Every packet of its present connections to the stores is lost for ever, as by a firewall that has lost its state.
   * New connections work: they come from another address.
   */
  forget(): void {
    const former = this.#sourceAt(this.#source)
    this.#source = (this.#source + 1) % SOURCES
    const next = this.#sourceAt(this.#source)
    const { stores } = this.#devices
    batch([neighbour(former, UNUSED_MAC, stores), neighbour(next, MACHINE_MAC, stores)], this.#name, [
      // After the last address the first is taken again; its connections have ended by then.
      this.#former.delete(next) ? `rule del from ${next} table ${LOST_TABLE}` : `addr add ${next}/28 dev stores`,
      `rule add from ${former} table ${LOST_TABLE}`,
      `route replace ${this.#at(16)}/28 dev stores src ${next}`,
    ])
    this.#former.add(former)
  }

  remove(): void {
    removeMachine(this.#name)
  }

  #linkLines(link: Link, address: string): readonly string[] {
    const device = this.#devices[link]
    return [
      `link add ${device} address ${HOST_MAC} type veth peer name ${link} address ${MACHINE_MAC} netns ${this.#name}`,
      `addr add ${address}/28 dev ${device}`,
      `link set ${device} up`,
    ]
  }

  /** Sets the hardware addresses to which the machine and the host send. Permanent, so that nothing asks for them. */
  #aim(links: readonly Link[], hostMac: string, machineMac: string): void {
    const targets = { clients: [this.#at(1), this.address], stores: [this.storesAddress, this.#sourceAt(this.#source)] }
    const lines = (mac: string, side: 0 | 1): readonly string[] =>
      links.map((link) => neighbour(targets[link][side] ?? '', mac, side === 0 ? link : this.#devices[link]))
    batch(lines(machineMac, 1), this.#name, lines(hostMac, 0))
  }

  #sourceAt(n: number): string {
    return this.#at(18 + n)
  }

  #at(offset: number): string {
    return `${this.#base}.${this.#first + offset}`
  }
}

const neighbour = (address: string, mac: string, device: string): string =>
  `neigh replace ${address} lladdr ${mac} dev ${device} nud permanent`

/** The name of an interface has 15 letters at most; these have 12. */
const nameOf = (owner: number, number: number): string => `tl${owner}m${number}`
const NAME = /^tl(\d+)m\d+$/

/** Also ends the processes in it: a namespace lives on while one runs. */
function removeMachine(name: string): void {
  const pids = ipOrNothing('netns', 'pids', name).split('\n').filter(Boolean)
  for (const pid of pids) signal(Number(pid), 'SIGKILL')
  for (const link of ['c', 's']) ipOrNothing('link', 'del', `${name}${link}`)
  ipOrNothing('netns', 'del', name)
}

/** Nothing where the machine, or a part of it, was never made or is gone. */
function ipOrNothing(...args: readonly string[]): string {
  try {
    return ip(args)
  } catch {
    return ''
  }
}

export class Network {
  readonly #prefix: string
  readonly #machines = new Map<number, Machine>()

  private constructor(prefix: string) {
    this.#prefix = prefix
    process.once('exit', () => this.close())
  }

  /** Null where none can be made: without root, without `ip`, or not on Linux. Removes what a killed run has left. */
  static open(): Network | null {
    if (process.getuid?.() !== 0) return null
    try {
      removeLeftOver()
      const network = new Network(freePrefix())
      const first = network.machine(0)
      first.forget()
      network.remove(first)
      return network
    } catch {
      return null
    }
  }

  /** A new machine. Its addresses follow from its number: the first from this one that no other machine has. */
  machine(from: number): Machine {
    let number = from
    while (this.#machines.has(number)) number++
    assert(number < MACHINES_MAX, `more than ${MACHINES_MAX} machines`)
    try {
      const machine = new Machine(process.pid, this.#prefix, number)
      this.#machines.set(number, machine)
      return machine
    } catch (error) {
      removeMachine(nameOf(process.pid, number))
      throw error
    }
  }

  remove(machine: Machine): void {
    machine.remove()
    for (const [number, one] of this.#machines) if (one === machine) this.#machines.delete(number)
  }

  /** Removes all machines. Also called when this process ends. */
  close(): void {
    for (const machine of this.#machines.values()) this.remove(machine)
  }
}

function removeLeftOver(): void {
  for (const line of ip(['netns', 'list']).split('\n')) {
    const [name = ''] = line.split(' ')
    const owner = NAME.exec(name)?.[1]
    if (owner !== undefined && !signal(Number(owner), 0)) removeMachine(name)
  }
}

/** False if there is no such process. */
function signal(pid: number, name: 'SIGKILL' | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

/** The first three numbers of 256 private addresses to which this machine has no route of its own. */
function freePrefix(): string {
  for (let n = process.pid; n < process.pid + PREFIXES_TRIED; n++) {
    const prefix = `10.${128 + ((n >> 8) & 63)}.${n & 255}`
    const routes = ['root', 'match'].map((which) => ip(['-4', 'route', 'show', which, `${prefix}.0/24`]))
    const own = routes
      .flatMap((lines) => lines.split('\n'))
      .filter((line) => line !== '' && !line.startsWith('default'))
    if (own.length === 0) return prefix
  }
  throw new Error('no free addresses')
}
