/** Whether users who know more than the feed win: on replays, whose outcome can be known, and beside the pitch. */
import { AHEAD_EARNS } from '../../../actors/kernel/limits.ts'
import { connect } from '../../../db/postgres/connect.ts'
import { schemaState } from '../../../db/postgres/migrate.ts'
import { type Config, databaseOf } from '../../../src/config.ts'
import { type Finding, ok, warned } from './finding.ts'

const WHAT = 'replays'
const OFF = 'replays pay the main purse, and who knows a recording knows its outcome: set replays.practice'
const PROTECTION = 'protection'
const UNPROTECTED = `trading.protection is off: ${AHEAD_EARNS}; set it to on if prizes are worth that`

/** Nothing to say where there are no live matches, or in development. */
export async function checkForesight(config: Config): Promise<readonly Finding[]> {
  if (!config.production || config.provider === null || config.databaseUrl === null) return []
  const connection = await connect(databaseOf(config))
  try {
    const { db } = connection
    if ((await schemaState(db)).missing.length > 0) return [warned(WHAT, OFF), warned(PROTECTION, UNPROTECTED)]
    const settings = await db
      .selectFrom('settings')
      .select(['key', 'value'])
      .where('key', 'in', ['replays.practice', 'trading.protection'])
      .execute()
    const valueOf = (name: string): unknown => settings.find(({ key }) => key === name)?.value
    const paying = await db
      .selectFrom('replays')
      .select('recording')
      .where('state', '=', 'running')
      .where('practice', '=', false)
      .execute()
    return [
      valueOf('replays.practice') === true
        ? ok(WHAT, 'they are practice unless their starter says otherwise')
        : warned(WHAT, OFF),
      valueOf('trading.protection') === 'on' ? ok(PROTECTION, 'on') : warned(PROTECTION, UNPROTECTED),
      ...paying.map(({ recording }) => warned(WHAT, `${recording} is playing, and pays the main purse`)),
    ]
  } finally {
    await connection.close()
  }
}
