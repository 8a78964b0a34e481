/** Checks everything after a restart, while no one trades: accounts, wallets, positions, imbalances, the books. */
import { demand } from './account.ts'
import { formLeague } from './league.ts'
import { Audit, Instrument, Instruments, type SimulatedClient } from './simulated-client.ts'
import type { SimulatedTrader } from './simulated-trader.ts'
import { until } from './until.ts'

/** Longer than a dead owner's lease, on a machine that others use as well. */
const PATIENCE_MS = 60_000
/** The match plays on and may close positions during a check, which is then repeated. */
const LOOKS_MAX = 200

/** Waits until commands are carried out again, by sending one that the rules always refuse. */
export const waitForTrading = (url: string, client: SimulatedClient): Promise<void> =>
  until(PATIENCE_MS, 20, async () => {
    const { instruments } = await client.read(url, '/api/instruments', Instruments)
    const [instrument] = instruments
    if (instrument !== undefined) {
      const order = { instrumentId: instrument.id, direction: 'long', lotSize: 0, clientPrice: instrument.currentPrice }
      const reply = await client.ask(url, 'POST', '/api/positions/open', order)
      if (reply !== 'lost' && reply.status !== 503) return null
    }
    return `no command was carried out within ${PATIENCE_MS} ms of the start`
  })

/** Signs all of them in, forms their league, and waits until they can trade. */
export async function gather(url: string, admin: SimulatedClient, traders: readonly SimulatedTrader[]): Promise<void> {
  await admin.signIn(url)
  for (const { client } of traders) await client.signIn(url)
  await formLeague(url, traders)
  await waitForTrading(url, admin)
}

/** Throws a Violation when anything is wrong. */
export async function checkConsistency(
  url: string,
  traders: readonly SimulatedTrader[],
  admin: SimulatedClient,
): Promise<void> {
  await Promise.all(traders.map((trader) => trader.rest()))
  await Promise.all(traders.map((trader) => trader.catchUp(url)))
  await Promise.all(traders.map((trader) => trader.findOut(url)))
  await Promise.all(traders.map((trader) => trader.catchUp(url)))
  for (let looks = 1; !(await look(url, traders, admin)); looks++) {
    demand(looks < LOOKS_MAX, () => `the accounts did not come to rest in ${LOOKS_MAX} looks`)
  }
}

/** One check. False if something happened meanwhile, so that it proves nothing. */
async function look(url: string, traders: readonly SimulatedTrader[], admin: SimulatedClient): Promise<boolean> {
  try {
    await Promise.all([...traders.map((trader) => trader.compare(url)), compareImbalances(url, traders, admin)])
  } catch (error) {
    if (await haveMoved(url, traders)) return false
    throw error
  }
  const members = traders.filter(({ league }) => league !== null).length
  const audit = await admin.read(url, '/api/admin/ledger/audit', Audit)
  demand(audit.balanced, () => `the books do not balance: ${JSON.stringify(audit)}`)
  demand(
    audit.purses.every(({ purse, wallets }) => wallets === (purse === 'leagues' ? members : traders.length + 1)),
    () => `${JSON.stringify(audit.purses)}: the wallets of ${traders.length} traders, ${members} of them in a league`,
  )
  return !(await haveMoved(url, traders))
}

async function haveMoved(url: string, traders: readonly SimulatedTrader[]): Promise<boolean> {
  const events = await Promise.all(traders.map((trader) => trader.catchUp(url)))
  return events.some((n) => n > 0)
}

/** Every open lot belongs to a trader. */
async function compareImbalances(
  url: string,
  traders: readonly SimulatedTrader[],
  admin: SimulatedClient,
): Promise<void> {
  const { instruments } = await admin.read(url, '/api/instruments', Instruments)
  const exposure = new Map<string, number>()
  for (const { account } of traders) account.addExposureTo(exposure)
  for (const { id, net_position_imbalance: imbalance } of instruments) {
    const held = exposure.get(id) ?? 0
    demand(imbalance === held, () => `the imbalance of ${id} is ${imbalance}, the traders hold ${held}`)
    exposure.delete(id)
  }
  // The list has those on the pitch. Others may be held, too.
  for (const [id, held] of exposure) {
    if (held === 0) continue
    const { net_position_imbalance: imbalance } = await admin.read(url, `/api/instruments/${id}`, Instrument)
    demand(imbalance === held, () => `the imbalance of ${id} is ${imbalance}, the traders hold ${held}`)
  }
}
