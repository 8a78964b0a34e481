/** A process that does all reactions that are due in DATABASE_URL, and ends. It says when it begins. */
import { present } from '../../actors/kernel/assert.ts'
import { Outbox } from '../../db/outbox.ts'
import { connect } from '../../db/postgres/connect.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { react } from '../../src/reactions/react.ts'
import { Reactor } from '../../src/reactions/reactor.ts'
import { systemWorld } from '../../src/system-world.ts'

const connection = await connect({ databaseUrl: present(process.env['DATABASE_URL'], 'DATABASE_URL'), dataDir: null })
const reactor = new Reactor({
  outbox: new Outbox(connection.db, new WalletCache(null, () => undefined), systemWorld()),
  reaction: react,
  tell: () => undefined,
  isSettling: () => false,
  report: (event, error) => {
    throw new Error(event, { cause: error })
  },
})
await connection.ping()
process.stdout.write('reacting\n')
await reactor.drain()
await connection.close()
