/**
 * Rebuilds everything derived from trades: `npm run ops -- reactions-rebuild`. Careers, XP and weeks are deleted and
 * made again; badges, notifications, activity and credits stay as they are. Stop the servers first. They rebuild their
 * leaderboards when they start with an empty store, or when an admin asks. The exit code is 1 if a commit was set
 * aside.
 */
import { AuditLog } from '../../db/audit-log.ts'
import { migrate } from '../../db/postgres/migrate.ts'
import { Outbox } from '../../db/outbox.ts'
import { Settings } from '../../db/settings.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { reactionUnder } from '../../src/reactions/react.ts'
import { referralTermsOf } from '../../src/reactions/referral-terms.ts'
import { systemWorld } from '../../src/system-world.ts'
import { openDatabase } from './on-database.ts'

const connection = await openDatabase()
try {
  await connection.withoutTimeout((patient) => migrate(patient))
  const world = systemWorld()
  const settings = await Settings.open({
    db: connection.db,
    world,
    audit: new AuditLog(connection.db, world),
    declared: {},
    report: (event, error) => console.error(event, error),
  })
  const reaction = reactionUnder(() => referralTermsOf(settings))
  const cache = new WalletCache(null, () => undefined)
  const outbox = new Outbox(connection.db, cache, world)
  await connection.withoutTimeout((patient) => new Outbox(patient, cache, world).forget())
  let commits = 0
  for (;;) {
    const reacted = await outbox.react(reaction)
    if (reacted === null && (await outbox.lag()).commits === 0) break
    if (reacted?.kind === 'failed' && reacted.setAside !== null) {
      console.error('set aside:', reacted.error)
      process.exitCode = 1
    }
    if (reacted?.kind === 'reacted') commits += reacted.commits
  }
  console.log(`${commits} commits processed`)
} finally {
  await connection.close()
}
