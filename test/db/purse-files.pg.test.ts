import { expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import type { Position } from '../../actors/position/position.ts'
import { Positions } from '../../db/positions.ts'
import { PurseFiles } from '../../db/purse-files.ts'
import { Wallets } from '../../db/wallets.ts'
import { systemWorld } from '../../src/system-world.ts'
import { eachDatabase } from '../support/databases.ts'
import { openSeason } from '../support/season.ts'

eachDatabase((open) => {
  it('[C7] shows a purse as of one moment, while its owner trades', async () => {
    const { db } = open()
    const season = await openSeason(open(), systemWorld())
    const user = await season.player()
    const match = await season.match()
    const files = new PurseFiles(db, (of) => ({
      wallets: new Wallets(of, season.cache),
      positions: new Positions(of),
    }))
    let reads = 0
    const trade = async () => {
      const held: Position[] = []
      while (reads < 60) {
        held.push(await match.open(user))
        if (held.length > 3) await match.close(present(held.shift(), 'position'), 201)
      }
    }
    const read = async () => {
      for (; reads < 60; reads++) {
        const file = present((await files.find(user, 'main', 10_000)) ?? undefined, 'purse')
        const { wallet, positions, ledger } = file
        const margins = positions.map(({ position: { margin, close } }) => (close === null ? margin : 0))
        const entries = ledger.map(({ amount }) => amount)
        expect([sum(margins), sum(entries)]).toEqual([wallet.marginUsed, wallet.balance])
      }
    }
    await Promise.all([trade(), read(), read()])
    expect(await files.find(user, 'practice', 1)).toMatchObject({ positions: [] })
    const stranger = systemWorld().newId() as typeof user
    expect(await files.find(stranger, 'main', 1)).toBeNull()
  })
})

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)
