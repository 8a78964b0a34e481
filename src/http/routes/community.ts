/** Notifications, activity, referrals and achievements (specification 4.4). */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { districtId } from '../../../actors/kernel/ids.ts'
import { decimal } from '../../../actors/kernel/micros.ts'
import { type Badge, BADGES } from '../../../actors/community/badges.ts'
import { levelOf } from '../../../actors/community/career.ts'
import type { Activity } from '../../../db/activity.ts'
import type { Referral } from '../../../db/referrals.ts'
import { answerWith, errors, fail, notFound } from '../answers.ts'
import { BODY, CHANGE, INPUT, SIGNED_IN } from '../error-codes.ts'
import { ACCESS_SECURITY, type Gates, type SignedInEnv } from '../gates.ts'
import { notificationJson, timestamp } from '../json.ts'
import type { HttpDeps } from '../ports.ts'
import type { RateLimits } from '../rate-limits.ts'
import { json, LineInput, NotificationBody, timestampText } from '../schemas.ts'

const limit = z.coerce.number().int().min(1).max(100).default(50)
const idText = z.string().regex(/^[1-9]\d{0,14}$/, 'must be a notification id')
const unreadCount = z.int().openapi({ description: 'All that are unread, on whatever page.' })

const notifications = createRoute({
  method: 'get',
  path: '/api/notifications',
  tags: ['Notifications'],
  summary: "The caller's notifications, the latest first",
  description:
    'Each is pushed over the account stream as well. Pages hang together by `cursor`, so that new ones do not shift ' +
    'them.',
  security: ACCESS_SECURITY,
  request: {
    query: z.object({
      limit,
      unreadOnly: z.enum(['true', 'false']).default('false'),
      cursor: z
        .string()
        .regex(/^[1-9]\d{0,14}$/, 'must be a `nextCursor`')
        .optional(),
    }),
  },
  responses: {
    200: json(
      z.object({ notifications: z.array(NotificationBody), unreadCount, nextCursor: z.string().nullable() }),
      'A page; ask for the next with `cursor`.',
    ),
    ...errors(...SIGNED_IN, ...INPUT),
  },
})

const unread = createRoute({
  method: 'get',
  path: '/api/notifications/unread-count',
  tags: ['Notifications'],
  summary: 'How many notifications are unread',
  description: 'What the badge on the bell shows.',
  security: ACCESS_SECURITY,
  responses: { 200: json(z.object({ unreadCount }), 'As of now.'), ...errors(...SIGNED_IN) },
})

const readOne = createRoute({
  method: 'post',
  path: '/api/notifications/{id}/read',
  tags: ['Notifications'],
  summary: 'Mark one as read',
  description: 'Marking what is read already changes nothing and is no error.',
  security: ACCESS_SECURITY,
  request: { params: z.object({ id: idText.openapi({ example: '41' }) }) },
  responses: {
    200: json(z.object({ read: z.literal(true), unreadCount }), 'It is read now, or was already.'),
    ...errors(...SIGNED_IN, ...INPUT, ...CHANGE, 'NOT_FOUND'),
  },
})

const readAll = createRoute({
  method: 'post',
  path: '/api/notifications/read-all',
  tags: ['Notifications'],
  summary: 'Mark all as read',
  description: 'Those that come while it runs stay unread.',
  security: ACCESS_SECURITY,
  responses: {
    200: json(z.object({ updated: z.int(), unreadCount: z.literal(0) }), 'How many were unread.'),
    ...errors(...SIGNED_IN, ...CHANGE),
  },
})

const EventBody = z
  .object({
    id: z.string(),
    type: z.enum(['big_win', 'washout', 'badge', 'spinner_win', 'legacy_trade']),
    userId: z.uuid(),
    username: z.string(),
    districtId: z.int(),
    text: z.string().openapi({ description: 'To be read after the name.', example: 'won 612.50 long on A. Striker' }),
    data: z.record(z.string(), z.unknown()),
    at: timestampText,
  })
  .openapi('ActivityEvent')

const activity = createRoute({
  method: 'get',
  path: '/api/activity',
  tags: ['Activity'],
  summary: 'What of note has happened, the latest first',
  description:
    'Big wins, washouts, badges, winners of the spinner, and large legacy trades. It may lag a moment behind what ' +
    'happened.',
  security: ACCESS_SECURITY,
  request: {
    query: z.object({
      scope: z.enum(['global', 'district']).default('global'),
      districtId: z.coerce
        .number()
        .int()
        .min(1)
        .max(999_999_999)
        .optional()
        .openapi({ description: "Of scope `district`; the caller's own when left out." }),
      limit,
    }),
  },
  responses: {
    200: json(z.object({ count: z.int(), events: z.array(EventBody) }), '`count` of `events`.'),
    ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND'),
  },
})

const validate = createRoute({
  method: 'post',
  path: '/api/referral/validate',
  tags: ['Referrals'],
  summary: 'Whether a code invites the caller',
  description:
    "Besides what `GET /api/public/referral/validate` says: whether it is the caller's own, and whether somebody has " +
    'brought him before.',
  security: ACCESS_SECURITY,
  request: {
    body: {
      required: true,
      content: { 'application/json': { schema: z.object({ code: z.string().trim().min(1).max(64) }) } },
    },
  },
  responses: {
    200: json(
      z.object({
        valid: z.boolean(),
        invitedBy: z.string().nullable(),
        reason: z.enum(['unknown', 'own_code', 'already_referred']).optional(),
      }),
      'Why not, when it does not.',
    ),
    ...errors(...SIGNED_IN, ...BODY),
  },
})

const shareLink = z.string().openapi({
  description: 'To be shared. Without its host, which is then that of the page, where `CORS_ORIGINS` names none.',
})

const ReferralBody = z
  .object({
    id: z.uuid(),
    name: z.string().nullable().openapi({ description: 'Null for somebody who came with your own code.' }),
    code: z.string(),
    url: shareLink,
    status: z.enum(['pending', 'registered', 'credited']),
    registered: z.boolean(),
    reward: z.number(),
    createdAt: timestampText,
    creditedAt: timestampText.nullable(),
  })
  .openapi('Referral')

const invite = createRoute({
  method: 'post',
  path: '/api/referrals/invites',
  tags: ['Referrals'],
  summary: 'A share link for somebody by name',
  description: 'Each invite has a code of its own, so that the list shows who came. At most 200 may wait for somebody.',
  security: ACCESS_SECURITY,
  request: {
    body: {
      required: true,
      content: {
        'application/json': { schema: z.object({ name: LineInput }) },
      },
    },
  },
  responses: { 201: json(ReferralBody, 'Made.'), ...errors(...SIGNED_IN, ...BODY, 'TOO_MANY_INVITES') },
})

const referrals = createRoute({
  method: 'get',
  path: '/api/referrals',
  tags: ['Referrals'],
  summary: 'Whom the caller has invited and brought',
  description:
    "Invites by name, and those who came with the caller's own code. A reward is credited with their first trade. The list " +
    'shows the latest 1,000; `summary` counts all.',
  security: ACCESS_SECURITY,
  responses: {
    200: json(
      z.object({
        code: z.string().openapi({ description: "The caller's own code." }),
        url: shareLink,
        referrals: z.array(ReferralBody),
        summary: z.object({
          invited: z.int(),
          registered: z.int(),
          earned: z.int().openapi({ description: 'Credited: they have made a first trade.' }),
          pending: z.int().openapi({ description: 'Registered, but not credited yet.' }),
          total_credited: z.number(),
        }),
      }),
      'The latest first.',
    ),
    ...errors(...SIGNED_IN),
  },
})

const LockedBody = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    progress: z.object({ current: z.number(), target: z.number() }),
  })
  .openapi('LockedBadge')

const achievements = createRoute({
  method: 'get',
  path: '/api/achievements',
  tags: ['Achievements'],
  summary: 'Badges that the caller has earned, and how far he is with the others',
  description:
    'XP comes from trades: some for opening, more for closing at a profit, a bonus for the first trade of a day.',
  security: ACCESS_SECURITY,
  responses: {
    200: json(
      z.object({
        xp: z.int(),
        level: z.int(),
        earned: z.array(z.object({ ...LockedBody.omit({ progress: true }).shape, earnedAt: timestampText })),
        locked: z.array(LockedBody),
      }),
      'All badges there are.',
    ),
    ...errors(...SIGNED_IN),
  },
})

type Deps = Pick<HttpDeps, 'community' | 'accounts' | 'world'>

export function communityRoutes({ community, accounts, world }: Deps, gates: Gates, limits: RateLimits) {
  const { inbox, activity: feed, careers, referrals: network, shareUrl } = community
  return new OpenAPIHono<SignedInEnv>()
    .openapi({ ...notifications, middleware: gates.signedIn }, async (c) => {
      const { userId } = c.var.caller
      const query = c.req.valid('query')
      const before = query.cursor === undefined ? null : Number(query.cursor)
      const [found, count] = await Promise.all([
        inbox.list(userId, { limit: query.limit + 1, unreadOnly: query.unreadOnly === 'true', before }),
        inbox.unreadCount(userId),
      ])
      const page = found.slice(0, query.limit)
      const nextCursor = found.length > page.length ? String(page.at(-1)?.id) : null
      return c.json({ notifications: page.map(notificationJson), unreadCount: count, nextCursor }, 200)
    })
    .openapi({ ...unread, middleware: gates.signedIn }, async (c) =>
      c.json({ unreadCount: await inbox.unreadCount(c.var.caller.userId) }, 200),
    )
    .openapi({ ...readAll, middleware: gates.signedIn }, async (c) =>
      c.json({ updated: await inbox.readAll(c.var.caller.userId, world.now()), unreadCount: 0 as const }, 200),
    )
    .openapi({ ...readOne, middleware: gates.signedIn }, async (c) => {
      const { userId } = c.var.caller
      const found = await inbox.read(userId, Number(c.req.valid('param').id), world.now())
      if (!found) return fail(c, notFound('notification'))
      return c.json({ read: true as const, unreadCount: await inbox.unreadCount(userId) }, 200)
    })
    .openapi({ ...activity, middleware: gates.signedIn }, async (c) => {
      const query = c.req.valid('query')
      const own = query.scope === 'district' ? (await accounts.find(c.var.caller.userId))?.districtId : undefined
      const wanted = query.districtId === undefined ? own : districtId(query.districtId)
      const district = query.scope === 'district' ? (wanted ?? null) : null
      if (district !== null && !(await accounts.districts()).some(({ id }) => id === district)) {
        return fail(c, notFound('district'))
      }
      const events = (await feed.list(query.limit, district)).map(eventJson)
      return c.json({ count: events.length, events }, 200)
    })
    .openapi(
      { ...validate, middleware: [limits.perRoute('own-referral-validate'), gates.signedIn] as const },
      async (c) => {
        const { userId } = c.var.caller
        const found = c.req.valid('json').code.includes('\u0000') ? null : await network.find(c.req.valid('json').code)
        if (found === null) return c.json({ valid: false, invitedBy: null, reason: 'unknown' as const }, 200)
        const invitedBy = found.referrerName
        if (found.referrerId === userId) return c.json({ valid: false, invitedBy, reason: 'own_code' as const }, 200)
        if (!(await network.isReferred(userId))) return c.json({ valid: true, invitedBy }, 200)
        return c.json({ valid: false, invitedBy, reason: 'already_referred' as const }, 200)
      },
    )
    .openapi({ ...invite, middleware: [limits.perRoute('referral-invites'), gates.signedIn] as const }, async (c) => {
      const { name } = c.req.valid('json')
      const made = await network.invite(c.var.caller.userId, name)
      return made === null ? fail(c, answerWith('TOO_MANY_INVITES')) : c.json(referralJson(made, shareUrl), 201)
    })
    .openapi({ ...referrals, middleware: gates.signedIn }, async (c) => {
      const { ownCode, referrals: latest, sums } = await network.list(c.var.caller.userId)
      const { invited, registered, credited, rewards } = sums
      const summary = {
        invited,
        registered,
        earned: credited,
        pending: registered - credited,
        total_credited: decimal(rewards),
      }
      const list = latest.map((one) => referralJson(one, shareUrl))
      return c.json({ code: ownCode, url: shareUrl(ownCode), referrals: list, summary }, 200)
    })
    .openapi({ ...achievements, middleware: gates.signedIn }, async (c) => {
      const { userId } = c.var.caller
      const [career, badges] = await Promise.all([careers.find(userId), careers.badges(userId)])
      const earned = BADGES.flatMap((badge) => {
        const at = badges.get(badge.id)
        return at === undefined ? [] : [{ ...badgeJson(badge), earnedAt: timestamp(at) }]
      })
      const locked = BADGES.filter(({ id }) => !badges.has(id)).map((badge) => ({
        ...badgeJson(badge),
        progress: { current: Math.min(badge.count(career), badge.target), target: badge.target },
      }))
      return c.json({ xp: career.xp, level: levelOf(career.xp), earned, locked }, 200)
    })
}

const badgeJson = ({ id, name, description }: Badge) => ({ id, name, description })

const eventJson = (event: Activity): z.output<typeof EventBody> => ({
  id: String(event.id),
  type: event.type,
  userId: event.userId,
  username: event.username,
  districtId: Number(event.districtId),
  text: event.text,
  data: { ...event.data },
  at: timestamp(event.at),
})

const referralJson = (one: Referral, shareUrl: (code: string) => string): z.output<typeof ReferralBody> => ({
  id: one.id,
  name: one.name,
  code: one.code,
  url: shareUrl(one.code),
  status: one.creditedAt !== null ? 'credited' : one.registeredAt !== null ? 'registered' : 'pending',
  registered: one.registeredAt !== null,
  reward: decimal(one.reward),
  createdAt: timestamp(one.createdAt),
  creditedAt: one.creditedAt === null ? null : timestamp(one.creditedAt),
})
