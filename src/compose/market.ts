/** What is traded and what was: settings, the catalogue of players, wallets, positions, prices and the audit log. */
import { microsNearest, money } from '../../actors/kernel/micros.ts'
import { AccountLog } from '../../db/account-log.ts'
import { Anchors } from '../../db/anchors.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { Catalogue } from '../../db/catalogue.ts'
import { Movers } from '../../db/movers.ts'
import { Positions } from '../../db/positions.ts'
import { PurseFiles } from '../../db/purse-files.ts'
import { PriceHistory } from '../../db/price-history.ts'
import { PriceMoves } from '../../db/price-moves.ts'
import { Refills } from '../../db/refills.ts'
import type { Declared } from '../../db/setting-catalogue.ts'
import { Settings } from '../../db/settings.ts'
import { RecentTrades } from '../../db/recent-trades.ts'
import { Wallets } from '../../db/wallets.ts'
import { instrumentIdFor } from '../provider/instrument-ids.ts'
import type { Base } from './base.ts'
import type { Stores } from './stores.ts'

export interface Market {
  readonly settings: Settings
  readonly audit: AuditLog
  readonly anchors: Anchors
  readonly catalogue: Catalogue
  readonly wallets: Wallets
  readonly refills: Refills
  readonly moves: PriceMoves
  readonly positions: Positions
  readonly purseFiles: PurseFiles
  readonly accountLog: AccountLog
  readonly prices: PriceHistory
  readonly recentTrades: RecentTrades
  readonly movers: Movers
}

/** `declared`: the settings of features. */
export async function openMarket({ world, log, report }: Base, stores: Stores, declared: Declared): Promise<Market> {
  const { db, walletCache } = stores
  const { reads } = stores.connection
  const audit = new AuditLog(db, world, reads)
  const settings = await Settings.open({ db, world, audit, declared, report })
  walletCache.boundBy(() => money(microsNearest(settings.value('trading.adoption_max'))))
  settings.onChange((changed) => log.info('settings_changed', { keys: [...changed] }))
  const isProtected = () => settings.rules.protection !== null
  const walletsOf = (of: typeof db, replica = of) => new Wallets(of, walletCache, replica, isProtected)
  const positionsOf = (of: typeof db) => new Positions(of, isProtected)
  return {
    settings,
    audit,
    anchors: new Anchors({ db, audit, instrumentIdOf: (player) => instrumentIdFor('provider', player) }),
    catalogue: new Catalogue(db, world),
    wallets: walletsOf(db, reads),
    refills: new Refills(db, walletCache, world),
    positions: positionsOf(db),
    purseFiles: new PurseFiles(db, (of) => ({ wallets: walletsOf(of), positions: positionsOf(of) })),
    accountLog: new AccountLog(db, world),
    prices: new PriceHistory(reads),
    moves: new PriceMoves(db),
    recentTrades: new RecentTrades(reads),
    movers: new Movers(reads, world),
  }
}
