/**
 * Leaderboards on Redis, shared by all processes. A board is a sorted set whose members all score 0, so they are
 * ordered by their text: the key of `rankKey` in fixed width, then the user id. A score is a double and cannot hold the
 * tie-breaks.
 */
import type { Result } from 'ioredis'
import { assert, present } from '../actors/kernel/assert.ts'
import { districtId, type UserId, userId } from '../actors/kernel/ids.ts'
import { money } from '../actors/kernel/micros.ts'
import type { CommonPurse } from '../actors/kernel/purse.ts'
import { integer, listOf } from '../actors/kernel/read.ts'
import { instant } from '../actors/kernel/world.ts'
import {
  type BoardName,
  type DistrictScore,
  rankAll,
  type Ranked,
  rankKey,
  roiPpm,
  type Standing,
} from '../actors/community/ranking.ts'
import { type Boards, BoardsUnbuilt, type Place, type Top, type TopStart } from './boards.ts'
import { type FastRedisOptions, openRedis } from './fast/fast-redis.ts'
import { keys } from './fast/fast-store.ts'
import type { RedisClient } from './fast/redis-address.ts'
import { RedisCluster } from './fast/redis-cluster.ts'
import { quit } from './fast/quit.ts'

/** A build without a put for this long belongs to a process that died. */
const BUILD_IDLE_MS = 60_000
/** Standings per call. Each takes about 10 µs, during which Redis serves no other client. */
const PUT_MAX = 200

/**
 * All keys of a build begin with its name, so a new build grows beside the one that is shown; `…:shown` and `…:coming`
 * name the two. An entry is a JSON array: version, key by ROI, key by profit, district, ROI in ppm, and the numbers of
 * the standing, of which the ninth element counts the closes. Without any the user is on no board.
 */
const PUT = `
  local function put(at)
    for i = 3, #ARGV, 2 do
      local user, text = ARGV[i], ARGV[i + 1]
      local entry = cjson.decode(text)
      local before = redis.call('hget', at .. ':entries', user)
      local old = before and cjson.decode(before)
      if not old or old[1] <= entry[1] then
        if old and old[9] > 0 then
          redis.call('zrem', at .. ':roi:all', old[2] .. user)
          redis.call('zrem', at .. ':pnl:all', old[3] .. user)
          redis.call('zrem', at .. ':roi:' .. old[4], old[2] .. user)
          redis.call('zrem', at .. ':pnl:' .. old[4], old[3] .. user)
          redis.call('hincrby', at .. ':members', old[4], -1)
          redis.call('hincrby', at .. ':sums', old[4], string.format('%.0f', 0 - old[5]))
        end
        redis.call('hset', at .. ':entries', user, text)
        if entry[9] > 0 then
          redis.call('zadd', at .. ':roi:all', 0, entry[2] .. user)
          redis.call('zadd', at .. ':pnl:all', 0, entry[3] .. user)
          redis.call('zadd', at .. ':roi:' .. entry[4], 0, entry[2] .. user)
          redis.call('zadd', at .. ':pnl:' .. entry[4], 0, entry[3] .. user)
          redis.call('hincrby', at .. ':members', entry[4], 1)
          redis.call('hincrby', at .. ':sums', entry[4], string.format('%.0f', entry[5]))
        end
      end
    end
  end
  local shown, coming = redis.call('get', KEYS[1] .. ':shown'), redis.call('get', KEYS[1] .. ':coming')
  if ARGV[1] ~= '' then
    if coming ~= ARGV[1] then return 0 end
    redis.call('pexpire', KEYS[1] .. ':coming', ARGV[2])
    put(KEYS[1] .. ':' .. coming)
    return 1
  end
  if not shown then return 0 end
  put(KEYS[1] .. ':' .. shown)
  if coming then put(KEYS[1] .. ':' .. coming) end
  return 1`

/**
 * ARGV: board, limit, offset, member or ''. The page begins `offset` behind the member, or behind the top. Answers the
 * total, the number of users before the page, of those better than its first, then each user and entry.
 */
const TOP = `
  local shown = redis.call('get', KEYS[1] .. ':shown')
  if not shown then return false end
  local at = KEYS[1] .. ':' .. shown
  local board = at .. ':' .. ARGV[1]
  local from = tonumber(ARGV[3])
  if ARGV[4] ~= '' then from = from + redis.call('zlexcount', board, '-', '[' .. ARGV[4]) end
  local found = { tostring(redis.call('zcard', board)), tostring(from), '0' }
  for n, member in ipairs(redis.call('zrange', board, from, from + ARGV[2] - 1)) do
    local user = string.sub(member, -36)
    if n == 1 then found[3] = tostring(redis.call('zlexcount', board, '-', '(' .. string.sub(member, 1, -37))) end
    found[#found + 1] = user
    found[#found + 1] = redis.call('hget', at .. ':entries', user)
  end
  return found`

/**
 * ARGV: board, user, index of the board's key in an entry. Answers the entry, the number of better users and the total;
 * then the same for the nearest user above.
 */
const PLACE = `
  local shown = redis.call('get', KEYS[1] .. ':shown')
  if not shown then return false end
  local at = KEYS[1] .. ':' .. shown
  local board = at .. ':' .. ARGV[1]
  local entry = redis.call('hget', at .. ':entries', ARGV[2])
  if not entry then return {} end
  local key = cjson.decode(entry)[tonumber(ARGV[3])]
  if not redis.call('zscore', board, key .. ARGV[2]) then return {} end
  local better = redis.call('zlexcount', board, '-', '(' .. key)
  local found = { entry, tostring(better), tostring(redis.call('zcard', board)) }
  if better > 0 then
    local member = redis.call('zrange', board, better - 1, better - 1)[1]
    local user = string.sub(member, -36)
    found[4] = user
    found[5] = redis.call('hget', at .. ':entries', user)
    found[6] = tostring(redis.call('zlexcount', board, '-', '(' .. string.sub(member, 1, -37)))
  end
  return found`

const STANDINGS = `
  local shown = redis.call('get', KEYS[1] .. ':shown')
  if not shown then return false end
  return redis.call('hmget', KEYS[1] .. ':' .. shown .. ':entries', unpack(ARGV))`

/** Answers district, members and sum, in turn. */
const DISTRICTS = `
  local shown = redis.call('get', KEYS[1] .. ':shown')
  if not shown then return false end
  local at = KEYS[1] .. ':' .. shown
  local found = {}
  local members = redis.call('hgetall', at .. ':members')
  for i = 1, #members, 2 do
    found[#found + 1] = members[i]
    found[#found + 1] = members[i + 1]
    found[#found + 1] = redis.call('hget', at .. ':sums', members[i])
  end
  return found`

/**
 * The name of what the server has been told: another one after a failover or a crash, which may have lost the latest
 * standings. Empty where the server does not tell it.
 */
const HISTORY = `
  local function history()
    local told = redis.pcall('info', 'replication')
    return type(told) == 'string' and string.match(told, 'master_replid:(%w+)') or ''
  end`

/** ARGV: the rules. */
const BUILT = `${HISTORY}
  if redis.call('exists', KEYS[1] .. ':shown') == 0 then return 0 end
  return redis.call('get', KEYS[1] .. ':built') == history() .. ARGV[1] and 1 or 0`

/** ARGV: the build, its rules. Shows it and answers the names of the builds that it replaces. */
const SHOW = `${HISTORY}
  if redis.call('get', KEYS[1] .. ':coming') ~= ARGV[1] then return false end
  redis.call('set', KEYS[1] .. ':shown', ARGV[1])
  redis.call('set', KEYS[1] .. ':built', history() .. ARGV[2])
  redis.call('del', KEYS[1] .. ':coming')
  redis.call('srem', KEYS[1] .. ':builds', ARGV[1])
  local left = redis.call('smembers', KEYS[1] .. ':builds')
  redis.call('del', KEYS[1] .. ':builds')
  redis.call('sadd', KEYS[1] .. ':builds', ARGV[1])
  return left`

type Texts = readonly (string | null)[]

declare module 'ioredis' {
  interface RedisCommander<Context> {
    boardPut(root: string, build: string, ttlMs: number, ...entries: string[]): Result<number, Context>
    boardTop(
      root: string,
      board: string,
      limit: number,
      offset: number,
      after: string,
    ): Result<string[] | null, Context>
    boardPlace(root: string, board: string, user: string, keyAt: number): Result<string[] | null, Context>
    boardStandings(root: string, ...users: string[]): Result<Texts | null, Context>
    boardDistricts(root: string): Result<string[] | null, Context>
    boardBuilt(root: string, rules: string): Result<number, Context>
    boardShow(root: string, build: string, rules: string): Result<string[] | null, Context>
  }
}

export interface BoardsRedisOptions extends FastRedisOptions {
  /** Names the installation, so that two databases on one server have separate boards. */
  readonly installation: string
  /** The purse whose standings they rank. */
  readonly purse: CommonPurse
  readonly newId: () => string
}

/** Connects. Throws when the server cannot be reached. */
export async function connectBoards(options: BoardsRedisOptions): Promise<Boards> {
  const redis = await openRedis(options, {
    boardPut: { lua: PUT, numberOfKeys: 1 },
    boardTop: { lua: TOP, numberOfKeys: 1 },
    boardPlace: { lua: PLACE, numberOfKeys: 1 },
    boardStandings: { lua: STANDINGS, numberOfKeys: 1 },
    boardDistricts: { lua: DISTRICTS, numberOfKeys: 1 },
    boardBuilt: { lua: BUILT, numberOfKeys: 1 },
    boardShow: { lua: SHOW, numberOfKeys: 1 },
  })
  const root = keys.boards(options.installation, options.purse)
  // A hash tag: all keys of the boards of a purse are in one slot, wherever a script gets their names from.
  return new BoardsRedis(redis, redis instanceof RedisCluster ? `{${root}}` : root, options.newId)
}

class BoardsRedis implements Boards {
  readonly #redis: RedisClient
  readonly #root: string
  readonly #newId: () => string

  constructor(redis: RedisClient, root: string, newId: () => string) {
    this.#redis = redis
    this.#root = root
    this.#newId = newId
  }

  async put(standings: readonly Standing[]): Promise<void> {
    if (!(await this.#put('', standings))) throw new BoardsUnbuilt()
  }

  async top(board: BoardName, limit: number, { after = null, offset = 0 }: TopStart = {}): Promise<Top> {
    const member = after === null ? '' : textOf(board.by, after.key) + after.userId
    const [total, from, better, ...rest] = found(
      await this.#redis.boardTop(this.#root, nameOf(board), limit, offset, member),
    )
    const inOrder = groups(rest, 2).map(([user, entry]) => standingFrom(user, entry))
    return {
      total: Number(total),
      entries: rankAll(board.by, inOrder, { place: Number(from) + 1, rank: Number(better) + 1 }),
    }
  }

  async place(board: BoardName, user: UserId): Promise<Place | null> {
    const keyAt = board.by === 'roi' ? 2 : 3
    const [entry, better, total, nextUser, nextEntry, nextBetter] = found(
      await this.#redis.boardPlace(this.#root, nameOf(board), user, keyAt),
    )
    if (entry === undefined) return null
    const next: Ranked | null =
      nextUser === undefined ? null : { rank: Number(nextBetter) + 1, standing: standingFrom(nextUser, nextEntry) }
    return { rank: Number(better) + 1, standing: standingFrom(user, entry), total: Number(total), next }
  }

  async standings(users: readonly UserId[]): Promise<readonly Standing[]> {
    if (users.length === 0) return []
    const entries = found(await this.#redis.boardStandings(this.#root, ...users))
    return users.flatMap((user, n) => {
      const entry = entries[n] ?? null
      const standing = entry === null ? null : standingFrom(user, entry)
      return standing === null || standing.closed === 0 ? [] : [standing]
    })
  }

  async districts(): Promise<readonly DistrictScore[]> {
    const rows = groups(found(await this.#redis.boardDistricts(this.#root)), 3)
    return rows
      .map(([district, members, sum]) => ({
        districtId: districtId(Number(district)),
        members: Number(members),
        roiPpmSum: Number(sum),
      }))
      .filter(({ members }) => members > 0)
  }

  async built(rules: string): Promise<boolean> {
    return (await this.#redis.boardBuilt(this.#root, rules)) === 1
  }

  async build(pages: AsyncIterable<readonly Standing[]>, rules: string): Promise<number | null> {
    const build = this.#newId()
    if ((await this.#redis.set(`${this.#root}:coming`, build, 'PX', BUILD_IDLE_MS, 'NX')) === null) return null
    let count = 0
    try {
      await this.#redis.sadd(`${this.#root}:builds`, build)
      for await (const page of pages) {
        if (!(await this.#put(build, page))) throw new Error('another build has taken over')
        count += page.length
      }
      const left = await this.#redis.boardShow(this.#root, build, rules)
      if (left === null) throw new Error('another build has taken over')
      for (const old of left) await this.#drop(old)
    } catch (error) {
      // The next build need not wait for one that failed.
      if ((await this.#redis.get(`${this.#root}:coming`)) === build) await this.#redis.del(`${this.#root}:coming`)
      throw error
    }
    return count
  }

  async close(): Promise<void> {
    await quit(this.#redis)
  }

  async #put(build: string, standings: readonly Standing[]): Promise<boolean> {
    for (let from = 0; from < standings.length; from += PUT_MAX) {
      const entries = standings.slice(from, from + PUT_MAX).flatMap((one) => [one.userId, entryOf(one)])
      if ((await this.#redis.boardPut(this.#root, build, BUILD_IDLE_MS, ...entries)) === 0) return false
    }
    return standings.length > 0 || build !== '' || (await this.#redis.exists(`${this.#root}:shown`)) === 1
  }

  async #drop(build: string): Promise<void> {
    const at = `${this.#root}:${build}`
    const districts = ['all', ...(await this.#redis.hkeys(`${at}:members`))]
    const boards = districts.flatMap((district) => [`${at}:roi:${district}`, `${at}:pnl:${district}`])
    await this.#redis.unlink(`${at}:entries`, `${at}:members`, `${at}:sums`, ...boards)
  }
}

const nameOf = ({ by, districtId: district }: BoardName): string => `${by}:${district ?? 'all'}`

/** The rows of an answer. Null means that there are no boards. */
function found<T>(rows: readonly T[] | null): readonly T[] {
  if (rows === null) throw new BoardsUnbuilt()
  return rows
}

function groups(flat: readonly string[], width: number): string[][] {
  return Array.from({ length: flat.length / width }, (_, n) => flat.slice(n * width, (n + 1) * width))
}

/** A column of a key as text that sorts like its numbers: shifted above zero, base 36, fixed width. */
interface Column {
  readonly offset: number
  readonly width: number
}
const WIDE: Column = { offset: 2e15, width: 11 }
const COLUMNS: Readonly<Record<BoardName['by'], readonly Column[]>> = {
  roi: [WIDE, { offset: 1e6, width: 4 }, WIDE, { offset: 0, width: 9 }],
  pnl: [WIDE],
}

const keyOf = (by: BoardName['by'], standing: Standing): string => textOf(by, rankKey(by, standing))

function textOf(by: BoardName['by'], key: readonly number[]): string {
  const parts = key.map((value, n) => {
    const { offset, width } = present(COLUMNS[by][n], 'column')
    const text = (value + offset).toString(36).padStart(width, '0')
    assert(value + offset >= 0 && text.length === width, `a key is out of range: ${value}`)
    return text
  })
  return parts.join('')
}

function entryOf(standing: Standing): string {
  const { version, pnl, baseMoves, stake, closed, wins, firstTradeAt, districtId: district } = standing
  const order = [keyOf('roi', standing), keyOf('pnl', standing), district, roiPpm(standing)]
  return JSON.stringify([version, ...order, pnl, baseMoves, stake, closed, wins, firstTradeAt])
}

function standingFrom(user: string | undefined, entry: string | undefined): Standing {
  const path = `the board entry of ${user ?? 'a user'}`
  const row = listOf<unknown>((value) => value)(JSON.parse(present(entry, path)), path)
  const at = (n: number): number => integer(row[n], `${path}[${n}]`)
  return {
    userId: userId(present(user, 'user')),
    version: at(0),
    districtId: districtId(at(3)),
    pnl: money(at(5)),
    baseMoves: money(at(6)),
    stake: money(at(7)),
    closed: at(8),
    wins: at(9),
    firstTradeAt: instant(at(10)),
  }
}
