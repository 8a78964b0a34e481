/**
 * Protections of the cluster, each removed, and the check that must notice: tests of a rule, or a chaos run with one
 * action. A removal that is not noticed here would not be noticed if it happened by mistake.
 */
import type { Mutation } from '../support/mutants.ts'

/** Tests of these files whose names begin with this rule. */
interface Tests {
  readonly rule: string
  readonly files: readonly string[]
}

/** The actions of a chaos run, round by round. */
interface Chaos {
  readonly chaos: readonly string[]
}

export type Check = Tests | Chaos

export interface ClusterMutation extends Mutation {
  readonly check: Check
}

const BATCH = 'db/postgres/commit-batch.sql'
const LEASES = 'db/leases.ts'
const OUTBOX = 'db/outbox.ts'
const PUB_SUB = 'db/fast/pub-sub-redis.ts'
const BUS = 'rooms/cluster/bus.ts'
const PEERS = 'rooms/cluster/peers.ts'
const PRICES = 'rooms/cluster/remote-prices.ts'
const REMOTE_MATCH = 'rooms/cluster/remote-match.ts'
const DESK = 'rooms/match/match-desk.ts'
const REQUESTS = 'rooms/match/match-requests.ts'
const ACTOR = 'actors/match/actor.ts'
const TRADING = 'actors/match/trading.ts'
const COMMIT = 'db/commit-arguments.ts'
const GROUPS = 'db/commit-groups.ts'

const STORE_TESTS = 'test/db/match-store.pg.test.ts'
const GROUP_TESTS = 'test/db/commit-groups.pg.test.ts'
const LEASES_TESTS = 'test/db/leases.pg.test.ts'
const OUTBOX_TESTS = 'test/db/outbox.pg.test.ts'
const BUS_TESTS = 'test/rooms/bus.test.ts'
const PUB_SUB_TESTS = 'test/rooms/pub-sub.redis.test.ts'
const PEERS_TESTS = 'test/rooms/peers.test.ts'
const PRICES_TESTS = 'test/rooms/remote-prices.test.ts'
const DESK_TESTS = 'test/rooms/match-desk.test.ts'
const CLUSTER_TESTS = 'test/e2e/cluster.e2e.test.ts'

const mutation = (name: string, check: Check, file: string, from: string, to: string): ClusterMutation => ({
  name,
  check,
  edits: [{ file, from, to }],
})

const tests = (rule: string, ...files: readonly string[]): Tests => ({ rule, files })
const chaos = (...ids: readonly string[]): Chaos => ({ chaos: ids })

const FENCE = `l.match_id = b.match and l.epoch = b.epoch for share`

export const CLUSTER_MUTATIONS: readonly ClusterMutation[] = [
  // Write protection.
  // Chaos alone does not catch the first: keys and closed positions stop most of a former owner's remaining writes.
  mutation('a commit of any epoch is taken', tests('A4', STORE_TESTS), BATCH, FENCE, `l.match_id = b.match for share`),
  mutation(
    'a lost match takes others with it',
    tests('D4', GROUP_TESTS),
    GROUPS,
    `if (group.length > 1 && rows[0]?.verdict !== 'committed') this.#eachAlone(group)`,
    `if (group.length > 9 && rows[0]?.verdict !== 'committed') this.#eachAlone(group)`,
  ),
  mutation(
    'a match that cannot commit takes others with it',
    tests('D4', GROUP_TESTS),
    GROUPS,
    `(!isSent || wasRolledBack(error))`,
    `(!isSent || group.length > 9)`,
  ),
  mutation(
    'batches that share a user commit together',
    tests('D4', GROUP_TESTS),
    GROUPS,
    `!users.some((user) => this.#users.has(user))`,
    `users.length > 0`,
  ),
  mutation(
    'a lease is taken while it runs',
    tests('Q1', LEASES_TESTS),
    LEASES,
    `where not \${this.#runs('match_leases')} or match_leases.owner`,
    `where true or match_leases.owner`,
  ),
  mutation(
    'a process’s own clock decides whether a lease runs',
    tests('Q2', LEASES_TESTS),
    LEASES,
    `(\${end} > clock_timestamp() and`,
    `(\${end} > \${new Date()}::timestamptz and`,
  ),
  mutation(
    'an epoch is used twice',
    tests('Q1', LEASES_TESTS),
    LEASES,
    `epoch = match_leases.epoch + 1`,
    `epoch = match_leases.epoch`,
  ),
  mutation(
    'a lease is not given back',
    tests('Q1', LEASES_TESTS),
    LEASES,
    `set expires_at = '-infinity'`,
    `set expires_at = expires_at`,
  ),
  mutation(
    'a former owner gives back another’s lease',
    tests('Q1', LEASES_TESTS),
    LEASES,
    `set expires_at = '-infinity' where \${this.#isOwn(matchId, epoch)}`,
    `set expires_at = '-infinity' where match_id = \${matchId}::bigint and \${epoch}::bigint > 0`,
  ),
  mutation(
    'an epoch that a failover gave twice is renewed by both',
    tests('Q1', LEASES_TESTS),
    LEASES,
    ` and owner = \${owner}::text`,
    ``,
  ),
  mutation(
    'matches without an owner are not looked for',
    tests('Q3', LEASES_TESTS),
    LEASES,
    `(l.match_id is null or not \${this.#runs('l')} or`,
    `(l.match_id is null or`,
  ),
  mutation(
    'a lost lease is not noticed',
    tests('A4', 'test/rooms/match-room.test.ts'),
    'rooms/match/match-room.ts',
    `if (!isOurs) await this.retire()`,
    ``,
  ),
  mutation(
    'a match is taken over as it was before the lease changed hands',
    tests('A9', DESK_TESTS),
    DESK,
    `(await loadOrQuarantine(context, matchId)) ?? fresh ?? known`,
    `known ?? fresh ?? (await loadOrQuarantine(context, matchId))`,
  ),
  mutation(
    'an actor continues after a commit of unknown outcome',
    tests('A3', DESK_TESTS),
    ACTOR,
    `    this.#stopped = true
    for (const entry of this.#mailbox`,
    `    for (const entry of this.#mailbox`,
  ),
  // Answers to callers.
  mutation(
    'silence is reported as not carried out',
    tests('Q5', PEERS_TESTS),
    REQUESTS,
    `? { code: 'unknown_outcome', retryAfterSecs: 1 }`,
    `? NOT_HERE`,
  ),
  mutation(
    'a command is repeated after silence',
    tests('Q5', PEERS_TESTS),
    PEERS,
    `if (reply.kind === 'silent') return { kind: 'silent' }`,
    ``,
  ),
  mutation(
    'a message that may have arrived counts as lost',
    tests('Q5', BUS_TESTS),
    BUS,
    `report('bus_request_failed', error, { kind })
          end({ kind: 'silent' })`,
    `report('bus_request_failed', error, { kind })
          end({ kind: 'gone' })`,
  ),
  mutation(
    'callers wait for a dead owner',
    tests('Q5', CLUSTER_TESTS),
    BUS,
    `if (declined >= receivers) end({ kind: 'gone' })`,
    `void receivers`,
  ),
  mutation(
    'an unreadable answer counts as no answer',
    tests('Q15', BUS_TESTS),
    BUS,
    `this.#reportOnce('bus_answer_unreadable', { kind })
          end({ kind: 'silent' })`,
    `this.#reportOnce('bus_answer_unreadable', { kind })
          end({ kind: 'gone' })`,
  ),
  mutation(
    'a request of a foreign version is served',
    tests('Q15', BUS_TESTS),
    BUS,
    `if (!overlap(versions, protocol.versions)) return decline('version')`,
    ``,
  ),
  {
    name: 'a message that may have arrived is sent again',
    check: tests('Q6', PUB_SUB_TESTS),
    edits: [
      { file: PUB_SUB, from: `autoResendUnfulfilledCommands: false`, to: `autoResendUnfulfilledCommands: true` },
      { file: PUB_SUB, from: `maxRetriesPerRequest: 0`, to: `maxRetriesPerRequest: null` },
    ],
  },
  mutation(
    'a command that waited too long is carried out',
    tests('A7', DESK_TESTS),
    ACTOR,
    `if (this.#options.world.steady.now() > entry.deadline) return`,
    `if (this.#options.world.steady.now() < 0) return`,
  ),
  mutation(
    'a key that has opened something may be refused',
    tests('A5', STORE_TESTS),
    BATCH,
    `or (p_look and (select p.id`,
    `or (false and (select p.id`,
  ),
  mutation(
    'a key that was refused may open something',
    tests('A5', STORE_TESTS),
    BATCH,
    `(select r.id from command_results r where r.id = d.id) is not null`,
    `false`,
  ),
  mutation(
    'the result of a key that opens nothing is not stored',
    tests('A5', STORE_TESTS),
    BATCH,
    `where d.result is not null;`,
    `where false;`,
  ),
  {
    name: 'a position does not have the id of its key',
    check: tests('Q11', CLUSTER_TESTS),
    edits: [
      { file: TRADING, from: `command.idempotency?.id ?? terms.newId()`, to: `terms.newId()` },
      { file: COMMIT, from: `assert(result.position.id === idempotency.id,`, to: `assert(true,` },
    ],
  },
  mutation(
    'the stored answer is forgotten when the match is over',
    tests('A5', DESK_TESTS),
    DESK,
    `return (await this.recall(command.userId, idempotencyOf(command))) ?? refusal`,
    `return refusal`,
  ),
  // Messages to others.
  mutation(
    'a missing price is not noticed',
    tests('Q9', PRICES_TESTS),
    REMOTE_MATCH,
    ` || price.seq !== this.#seq + 1`,
    ``,
  ),
  mutation(
    'prices are not requested again after Redis was unavailable',
    tests('Q9', PRICES_TESTS),
    PRICES,
    `for (const match of this.#followed.values()) void this.#renew(match)`,
    `void this.#followed`,
  ),
  mutation(
    'a new epoch begins without a snapshot',
    tests('Q9', PRICES_TESTS),
    PRICES,
    `    fanOut.open(match)
`,
    ``,
  ),
  mutation(
    'a match that opened while Redis was unavailable stays unknown',
    tests('Q8', 'test/rooms/match-host.test.ts'),
    'rooms/match/match-host.ts',
    `if (isOurs && this.actor.view.info.settledAt === null) this.#context.relay?.opened(this)`,
    ``,
  ),
  mutation(
    'a former owner closes a match for all',
    tests('Q7', PRICES_TESTS),
    PRICES,
    `if (match !== undefined && epoch >= match.newestEpoch) void`,
    `if (match !== undefined) void`,
  ),
  mutation(
    'a former owner publishes the state of a match',
    tests('Q7', PRICES_TESTS),
    PRICES,
    `if (epoch < match.newestEpoch) {`,
    `if (epoch < 0) {`,
  ),
  mutation(
    'the state of a match is ahead of what was published',
    tests('Q9', PRICES_TESTS),
    PRICES,
    `      fanOut.collect(source)
`,
    ``,
  ),
  mutation(
    'subscriptions do not come back with Redis',
    tests('Q10', PUB_SUB_TESTS),
    PUB_SUB,
    `if (this.#listeners.size > 0) await`,
    `if (this.#listeners.size < 0) await`,
  ),
  // Reactions to commits.
  mutation(
    'two processes react to one commit',
    tests('R2', OUTBOX_TESTS),
    OUTBOX,
    `order by c.taken_at limit 1
       for update skip locked`,
    `order by c.taken_at limit 1`,
  ),
  mutation(
    'boards lost by Redis are not rebuilt',
    tests('R9', 'test/db/reactions.pg.test.ts'),
    'src/reactions/board-keeper.ts',
    `    if (built.includes(false)) await this.rebuild()`,
    ``,
  ),
  mutation(
    'a process does not start while boards are unavailable',
    tests('R8', CLUSTER_TESTS),
    'src/compose/community.ts',
    `await keeper.show().catch(`,
    `await keeper.show().finally(`,
  ),
  // The same with all parts present: only real faults show whether the parts fit.
  mutation(
    'chaos: a message that may have arrived counts as lost',
    chaos('api-without-redis', 'api-without-redis', 'api-without-redis'),
    BUS,
    `report('bus_request_failed', error, { kind })
          end({ kind: 'silent' })`,
    `report('bus_request_failed', error, { kind })
          end({ kind: 'gone' })`,
  ),
  mutation(
    'chaos: a new epoch begins without a snapshot',
    chaos('kill-owner'),
    PRICES,
    `    fanOut.open(match)
`,
    ``,
  ),
  mutation(
    'chaos: silent connections to the database are kept',
    chaos('silent-all'),
    'db/postgres/pools.ts',
    `if (silent.length > 0) this.#beginAnew(silent.map(({ client }) => client))`,
    ``,
  ),
  mutation(
    'chaos: a process that does not hear itself keeps its connection',
    chaos('silent-api'),
    'rooms/cluster/presence.ts',
    `if (this.#unheard % (RECONNECT_AFTER + 1) === RECONNECT_AFTER) pubSub.reconnect()`,
    ``,
  ),
]
