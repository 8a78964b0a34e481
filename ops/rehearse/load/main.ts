/**
 * Loads a server with simulated users and reports how it performed:
 *
 *   npm run ops -- load [--users 100] [--sockets 200] [--seconds 30] [--trades 20] [--follow 10] [--drop-every 60]
 *                   [--rooms 0] [--url http://host:port] [--keys file] [--json] [--find-limit]
 *
 * Without `--url` it starts a server of its own: on DATABASE_URL and REDIS_URL if they are set (in a database made for
 * it), otherwise embedded. The users of a remote server sign in by its dev routes; one in production has none, and
 * `--keys` names a file with a personal key of each user, with the scope `trade`, one a line. Its RATE_LIMIT_PER_MIN
 * must fit the load: 0, or a key is limited like an address. Its ledger is audited with the key in TOUCHLINE_KEY, which
 * needs the scope `admin:read`, or if ADMIN_EMAILS names load_auditor@synthetic.invalid. `--trades` is orders per
 * second over all users; `--drop-every` is the average life of a connection in seconds, 0 for ever. `--find-limit`
 * starts with `--sockets`, then tries 1.5 times as many, for `--seconds` each, until the tick p99 exceeds 100 ms or
 * something fails; if the first step is too much, it tries half as many. `--rooms` is the share of users, from 0 to 1,
 * who instead of the price feed join the room of a match with the stock SDK of Colyseus, as game clients do, and return
 * to their seats by it; they are counted apart, and a room that cannot be joined is an error. At the end what users
 * were told is compared with the events of their accounts (`recorder.ts`). The exit code is 1 if a sequence has a
 * gap, an account contradicts what its user was told, the books do not balance, or something failed.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { present } from '../../../actors/kernel/assert.ts'
import { Program } from '../rig/program.ts'
import { numbers, reached, refuse, share } from '../rig/options.ts'
import { auditBooks } from './books.ts'
import { auditorOf, ownPlace, signIn, usersOf, waitForMatch } from './setup.ts'
import { nextTry, SOCKETS_MAX, SOCKETS_MIN, type Step } from './limit.ts'
import { describe, type Outcome, perSecond, secondLine, stepLine, verdicts } from './report.ts'
import { Rest } from './rest.ts'
import { type Measured, measure, type Plan } from './run.ts'

/** The server's limit per user. */
const SOCKETS_PER_USER_MAX = 10
/** A little less than the life of an access token. */
const SECONDS_MAX = 800
/** The `Date` header that is compared has whole seconds. */
const CLOCKS_APART_MS = 2_000
const [AUDITOR, AUDITOR_EMAIL] = ['Load Auditor', 'load_auditor@synthetic.invalid']
const LIMIT_P99_MS = 100

const { users, sockets, ...values } = numbers(
  {
    users: [100, 1],
    sockets: [200, 0],
    seconds: [30, 1, SECONDS_MAX],
    trades: [20, 0],
    follow: [10, 0, 400],
    'drop-every': [60, 0],
  },
  {
    rooms: { type: 'string', default: '0' },
    url: { type: 'string' },
    keys: { type: 'string' },
    json: { type: 'boolean', default: false },
    'find-limit': { type: 'boolean', default: false },
  },
)
const { seconds, follow, trades: tradesPerSecond, 'drop-every': dropEverySecs } = values
const isOwn = values.url === undefined
const terms = { seconds, tradesPerSecond, follow, dropEverySecs, rooms: share('rooms', values.rooms) }
if (terms.rooms > 0 && (sockets === 0 || terms.follow === 0)) {
  refuse('--rooms needs --sockets and --follow of at least 1: a seat in a room is one of the sockets')
}

/** Progress goes to stderr, apart from the report. */
const say = (line: string): void => void process.stderr.write(`${line}\n`)

async function main(): Promise<number> {
  if (values.url !== undefined) {
    await checkLimit(values.url)
    return load(values.url)
  }
  const place = await ownPlace()
  const program = new Program({
    ...place.env,
    RATE_LIMIT_PER_MIN: '0',
    JWT_ACCESS_EXPIRY: '7d',
    DEMO_SPEED: '10',
    DEMO_TRADERS: '0',
    ADMIN_EMAILS: AUDITOR_EMAIL,
  })
  try {
    say(`starting a server on ${place.description}`)
    return await load((await program.listening).url)
  } finally {
    await program.stop()
    await place.remove()
  }
}

/** Signs users in, loads the server, audits and reports; the exit code. */
async function load(url: string): Promise<number> {
  const rest = new Rest(url, 64)
  try {
    const count = usersFor(values['find-limit'] ? SOCKETS_MAX : sockets)
    if (count > users) say(`${count} users instead of ${users}: one may have ${SOCKETS_PER_USER_MAX} sockets`)
    const tokens = await (values.keys === undefined ? signIn(rest, count) : usersOf(rest, values.keys, count))
    // The key of an admin, or a user who is one on our own server and on a remote one that names the address.
    const key = (isOwn ? undefined : process.env['TOUCHLINE_KEY']) ?? (values.keys === undefined ? undefined : 'tl_')
    const adminToken = key ?? (await auditorOf(rest, AUDITOR))
    const instruments = await waitForMatch(rest, tokens)
    await checkClocks(rest)
    const plan = { url, tokens, instruments, sockets, ...terms }
    say(`${count} users, ${instruments.length} instruments in play`)

    const found = values['find-limit'] ? await findLimit(plan) : { sockets, measured: await play(plan), steps: [] }
    say('reading the books')
    const books = await auditBooks(rest, tokens, adminToken)
    return conclude({
      ...found,
      isOwn,
      plan: { url, users: usersFor(found.sockets), ...terms, sockets: found.sockets },
      books,
    })
  } finally {
    rest.close()
  }
}

const usersFor = (count: number): number => Math.max(users, Math.ceil(count / SOCKETS_PER_USER_MAX))

const play = (plan: Plan): Promise<Measured> => measure(plan, (second, isReady) => say(secondLine(second, isReady)))

/** The largest step that succeeded, or the last one if none did, and all steps. */
async function findLimit(plan: Plan): Promise<{ sockets: number; measured: Measured; steps: Step[] }> {
  const steps: Step[] = []
  let shown: { sockets: number; measured: Measured } | null = null
  let isAnyFine = false
  const since = performance.now()
  const isSoonOut = (): boolean =>
    !isOwn && values.keys === undefined && (performance.now() - since) / 1_000 + seconds > SECONDS_MAX
  for (let count: number | null = Math.max(SOCKETS_MIN, sockets); count !== null; count = nextTry(steps)) {
    if (steps.length > 0 && isSoonOut()) {
      say('the users are signed out soon: --keys, or fewer --seconds, search on')
      break
    }
    const measured = await play({ ...plan, tokens: plan.tokens.slice(0, usersFor(count)), sockets: count })
    const { tally, rooms } = measured
    const p99 = Math.max(tally.durations.tick.percentile(99), rooms.durations.tick.percentile(99))
    const failures = tally.faults + rooms.faults
    const isFine = p99 <= LIMIT_P99_MS && failures === 0
    const step = { sockets: count, p99, failures, prices: perSecond(measured, 'prices'), isFine }
    steps.push(step)
    say(stepLine(step))
    if (isFine || !isAnyFine) shown = { sockets: count, measured }
    isAnyFine ||= isFine
    await pause(1_000) // the server needs a moment to drop closed connections
  }
  return { ...present(shown, 'a first step'), steps }
}

function conclude(outcome: Outcome): number {
  process.stdout.write(values.json ? `${JSON.stringify(outcome)}\n` : `${describe(outcome)}\n`)
  return verdicts(outcome).length === 0 ? 0 : 1
}

/** Ends the program if the server would refuse most orders: that measures its limit and nothing else. */
async function checkLimit(url: string): Promise<void> {
  const { headers } = await reached(url, '/api/flags')
  const each = Number(/;q=(\d+)/.exec(headers.get('ratelimit-policy') ?? '')?.[1] ?? Infinity)
  const [allowed, needed] = [each * (values.keys === undefined ? 1 : users), 60 * terms.tradesPerSecond]
  if (needed > allowed)
    refuse(
      `${url} takes ${allowed} requests a minute, not ${needed} orders: raise its RATE_LIMIT_PER_MIN, or set it to 0`,
    )
}

/** Ticks are timed by the server's clock and ours. Throws if they are seconds apart; milliseconds are not checked. */
async function checkClocks(rest: Rest): Promise<void> {
  const response = await fetch(new URL('/health', rest.url))
  const apartMs = Math.abs(Date.parse(response.headers.get('date') ?? '') - Date.now())
  if (apartMs > CLOCKS_APART_MS) throw new Error(`the clocks are ${Math.round(apartMs / 1_000)} s apart`)
}

process.exitCode = await main()
