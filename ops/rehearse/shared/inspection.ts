/** Looks at everything after a restart, with nobody trading: accounts, wallets, positions, imbalances, the books. */
import { setTimeout as pause } from 'node:timers/promises'
import { performance } from 'node:perf_hooks'
import { demand } from './account.ts'
import { Audit, type Guest, Instruments } from './guest.ts'
import type { Player } from './trader.ts'

/** Longer than a dead owner's lease, on a machine that others use as well. */
const PATIENCE_MS = 60_000
/** The match plays on and may close positions during a look, which is then repeated. */
const LOOKS_MAX = 200

/** Waits until commands are carried out again, and says so by asking for what no rule allows. */
export async function waitForTrading(url: string, guest: Guest): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    const { instruments } = await guest.read(url, '/api/instruments', Instruments)
    const [instrument] = instruments
    if (instrument !== undefined) {
      const order = { instrumentId: instrument.id, direction: 'long', lotSize: 0, clientPrice: instrument.currentPrice }
      const reply = await guest.ask(url, 'POST', '/api/positions/open', order)
      if (reply !== 'lost' && reply.status !== 503) return
    }
    demand(performance.now() < until, () => `no command was carried out within ${PATIENCE_MS} ms of the start`)
    await pause(20)
  }
}

/** Throws a Violation when anything is not as it must be. */
export async function inspect(url: string, players: readonly Player[], admin: Guest): Promise<void> {
  await Promise.all(players.map((player) => player.catchUp(url)))
  await Promise.all(players.map((player) => player.findOut(url)))
  await Promise.all(players.map((player) => player.catchUp(url)))
  for (let looks = 1; !(await look(url, players, admin)); looks++) {
    demand(looks < LOOKS_MAX, () => `the accounts did not come to rest in ${LOOKS_MAX} looks`)
  }
}

/** One look. False when something happened meanwhile, so that it proves nothing. */
async function look(url: string, players: readonly Player[], admin: Guest): Promise<boolean> {
  try {
    await Promise.all([...players.map((player) => player.compare(url)), compareImbalances(url, players, admin)])
  } catch (error) {
    if (await haveMoved(url, players)) return false
    throw error
  }
  const audit = await admin.read(url, '/api/admin/ledger/audit', Audit)
  demand(audit.balanced, () => `the books do not balance: ${JSON.stringify(audit)}`)
  demand(
    audit.wallets === players.length + 1,
    () => `${audit.wallets} wallets for ${players.length} players and an admin`,
  )
  return !(await haveMoved(url, players))
}

async function haveMoved(url: string, players: readonly Player[]): Promise<boolean> {
  const events = await Promise.all(players.map((player) => player.catchUp(url)))
  return events.some((n) => n > 0)
}

/** Every open lot there is belongs to a player. */
async function compareImbalances(url: string, players: readonly Player[], admin: Guest): Promise<void> {
  const { instruments } = await admin.read(url, '/api/instruments', Instruments)
  const exposure = new Map<string, number>()
  for (const { account } of players) account.addExposureTo(exposure)
  for (const { id, net_position_imbalance: imbalance } of instruments) {
    const held = exposure.get(id) ?? 0
    demand(imbalance === held, () => `the imbalance of ${id} is ${imbalance}, the players hold ${held}`)
    exposure.delete(id)
  }
  const strange = [...exposure].filter(([, held]) => held !== 0)
  demand(strange.length === 0, () => `positions are open in instruments that are not: ${JSON.stringify(strange)}`)
}
