/**
 * Protections of the cluster, each removed, and the check that must notice: tests of a rule, or a run of chaos in which one
 * thing happens. What is not noticed here would not be noticed if somebody removed it by mistake.
 */
import type { Mutation } from '../support/mutants.ts'

/** Tests of these files whose names begin with this rule. */
interface Tests {
  readonly rule: string
  readonly files: readonly string[]
}

/** What happens in a run of chaos, round by round. */
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
const ACTOR = 'actors/match/actor.ts'
const TRADING = 'actors/match/trading.ts'
const COMMIT = 'db/commit-arguments.ts'

const STORE_TESTS = 'test/db/match-store.pg.test.ts'
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

const FENCE = `l.match_id = p_match and l.epoch = p_epoch for share`

export const CLUSTER_MUTATIONS: readonly ClusterMutation[] = [
  // Who may write.
  // Chaos alone does not see the first one: keys and closed positions stop most of what a former owner has left to write.
  mutation('a commit of any epoch is taken', tests('A4', STORE_TESTS), BATCH, FENCE, `l.match_id = p_match for share`),
  mutation(
    'a lease is taken while it runs',
    tests('Q1', LEASES_TESTS),
    LEASES,
    `where match_leases.expires_at <= clock_timestamp() or match_leases.owner`,
    `where true or match_leases.owner`,
  ),
  mutation(
    'the clock of a process says whether a lease runs',
    tests('Q2', LEASES_TESTS),
    LEASES,
    `where match_leases.expires_at <= clock_timestamp() or match_leases.owner`,
    `where match_leases.expires_at <= \${new Date()}::timestamptz or match_leases.owner`,
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
    'whoever was overtaken gives back what is another’s',
    tests('Q1', LEASES_TESTS),
    LEASES,
    `update match_leases set expires_at = '-infinity'
       where match_id = \${matchId}::bigint and epoch = \${epoch}::bigint`,
    `update match_leases set expires_at = '-infinity'
       where match_id = \${matchId}::bigint and \${epoch}::bigint > 0`,
  ),
  mutation(
    'matches that nobody runs are not looked for',
    tests('Q3', LEASES_TESTS),
    LEASES,
    `(l.match_id is null or l.expires_at <= clock_timestamp() or`,
    `(l.match_id is null or`,
  ),
  mutation(
    'a lost lease is not noticed',
    tests('A4', 'test/rooms/match-room.test.ts'),
    'rooms/match/match-room.ts',
    `if (!(await this.source.renew())) await this.retire()`,
    `await this.source.renew()`,
  ),
  mutation(
    'a match is taken over as it was before the lease changed hands',
    tests('A9', DESK_TESTS),
    DESK,
    `(await store.load(matchId)) ?? fresh?.() ?? known`,
    `known ?? fresh?.() ?? (await store.load(matchId))`,
  ),
  mutation(
    'an actor goes on after a commit of unknown outcome',
    tests('A3', DESK_TESTS),
    ACTOR,
    `    this.#stopped = true
    for (const entry of this.#mailbox`,
    `    for (const entry of this.#mailbox`,
  ),
  // What a caller is told.
  mutation(
    'silence is told as nothing happened',
    tests('Q5', PEERS_TESTS),
    PEERS,
    `if (asked.kind === 'silent') return { outcome: refused({ code: 'unknown_outcome', retryAfterSecs: 1 }) }`,
    `if (asked.kind === 'silent') return { refusal: NOT_HERE }`,
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
    'a dead owner is waited for',
    tests('Q5', CLUSTER_TESTS),
    BUS,
    `if (declined >= receivers) end({ kind: 'gone' })`,
    `void receivers`,
  ),
  mutation(
    'an answer that cannot be read counts as never given',
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
    `if (terms.at > entry.deadline) return`,
    `if (terms.at < 0) return`,
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
    `return (await this.#recall(command)) ?? refused(refusal)`,
    `return refused(refusal)`,
  ),
  // What others are told.
  mutation(
    'a missing price is not noticed',
    tests('Q9', PRICES_TESTS),
    REMOTE_MATCH,
    ` || price.seq !== this.#seq + 1`,
    ``,
  ),
  mutation(
    'prices are not asked for again after Redis was away',
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
    'a match that opened while Redis was away is never heard of',
    tests('Q8', 'test/rooms/match-host.test.ts'),
    'rooms/match/match-host.ts',
    `if (isOurs && this.actor.view.info.settledAt === null) this.#context.relay?.opened(this)`,
    ``,
  ),
  mutation(
    'whoever was overtaken closes a match for all',
    tests('Q7', PRICES_TESTS),
    PRICES,
    `if (match !== undefined && epoch >= match.newestEpoch) void`,
    `if (match !== undefined) void`,
  ),
  mutation(
    'whoever was overtaken says how a match stands',
    tests('Q7', PRICES_TESTS),
    PRICES,
    `if (epoch < match.newestEpoch) {`,
    `if (epoch < 0) {`,
  ),
  mutation(
    'a match stands as it has not been published yet',
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
  // What follows from commits.
  mutation(
    'two react to one commit',
    tests('R2', OUTBOX_TESTS),
    OUTBOX,
    `order by c.taken_at limit 1
       for update skip locked`,
    `order by c.taken_at limit 1`,
  ),
  mutation(
    'boards that Redis has forgotten are not built anew',
    tests('R9', 'test/db/reactions.pg.test.ts'),
    'src/reactions/board-keeper.ts',
    ` || !(await boards.built())`,
    ``,
  ),
  mutation(
    'nobody starts while boards cannot be shown',
    tests('R8', CLUSTER_TESTS),
    'src/compose/community.ts',
    `await keeper.show().catch(`,
    `await keeper.show().finally(`,
  ),
  // The same where everything is there: only what really happens shows whether the parts fit.
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
]
