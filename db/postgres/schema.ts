/** Every table of the database as a type. The tables themselves are in the SQL of migrations/. */
import type { CommunityTables } from './schema/community.ts'
import type { MatchTables } from './schema/matches.ts'
import type { MoneyTables } from './schema/money.ts'
import type { OperationTables } from './schema/operations.ts'
import type { PositionTables } from './schema/positions.ts'
import type { ReactionTables } from './schema/reactions.ts'
import type { UserTables } from './schema/users.ts'

export type Database = UserTables &
  MoneyTables &
  MatchTables &
  PositionTables &
  ReactionTables &
  CommunityTables &
  OperationTables
