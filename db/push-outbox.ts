/** Notes what browsers are to be told. The push feature sends it. */
import { sql, type Transaction } from 'kysely'
import type { UserId } from '../actors/kernel/ids.ts'
import { bigints, texts, uuids } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'

/**
 * What a browser can be told of: a level that closed a position, a washout, a margin warning, full time, a league, news
 * and alerts of followed players.
 */
export const PUSH_KINDS = ['stop', 'washout', 'warning', 'settlement', 'league', 'player'] as const
export type PushKind = (typeof PUSH_KINDS)[number]

/** What kind of message a notification is, if any. */
function pushKindOf({ type, data }: { readonly type: string; readonly data: object }): PushKind | null {
  if (type === 'margin_warning') return 'warning'
  if (type === 'settlement') return 'settlement'
  if (type === 'league') return 'league'
  if (type === 'player_news' || type === 'price_reached') return 'player'
  if (type !== 'position_closed' || !('closedBy' in data)) return null
  if (data.closedBy === 'washout') return 'washout'
  return data.closedBy === 'stop_loss' || data.closedBy === 'take_profit' ? 'stop' : null
}

/** Notes what the browsers of these users are to be told. Call it in the transaction of the notifications. */
export async function notePushes(
  tx: Transaction<Database>,
  notifications: readonly { id: number; userId: UserId; type: string; data: object }[],
): Promise<void> {
  const wanted = notifications.flatMap((one) => {
    const kind = pushKindOf(one)
    return kind === null ? [] : [{ id: one.id, userId: one.userId, kind }]
  })
  if (wanted.length === 0) return
  await sql`
    insert into push_outbox (notification_id, subscription_id)
      select n.id, s.id
        from unnest(${bigints(wanted.map((n) => n.id))}::bigint[], ${uuids(wanted.map((n) => n.userId))}::uuid[],
                    ${texts(wanted.map((n) => n.kind))}::text[]) n (id, user_id, kind)
        join push_subscriptions s on s.user_id = n.user_id and n.kind = any (s.kinds)`.execute(tx)
}
