/**
 * A sorted list of numbers with ranks, in the caller's order: sorted blocks, and a Fenwick tree over the block sizes.
 * Adding, removing and ranking among a million takes microseconds (ops/bench/boards.ts).
 */
import { assert, present } from '../kernel/assert.ts'

/** A full block is split in two. Larger blocks move more per insertion, smaller blocks split more often. */
const BLOCK_MAX = 512
/** The size of bulk-loaded blocks: half full, so that the next insertions split none. */
const BLOCK_LOADED = 256

export class RankedList {
  /** A total order: zero only for equal numbers. It must not change for numbers in the list. */
  readonly #compare: (a: number, b: number) => number
  #blocks: number[][] = []
  /** Fenwick tree: entry n sums the sizes of the blocks in the range that ends at n, counted from 1. */
  #sums: number[] = [0]
  #size = 0

  constructor(compare: (a: number, b: number) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#size
  }

  /** Replaces the contents with numbers that are already in order. */
  load(inOrder: readonly number[] | Int32Array): void {
    this.#blocks = []
    for (let from = 0; from < inOrder.length; from += BLOCK_LOADED) {
      this.#blocks.push(Array.from(inOrder.slice(from, from + BLOCK_LOADED)))
    }
    this.#size = inOrder.length
    this.#resum()
  }

  add(item: number): void {
    const at = Math.min(this.#blockOf(item), Math.max(0, this.#blocks.length - 1))
    const block = this.#blocks[at]
    this.#size += 1
    if (block === undefined) {
      this.#blocks.push([item])
      return this.#resum()
    }
    block.splice(
      placeIn(block, (other) => this.#compare(other, item) < 0),
      0,
      item,
    )
    if (block.length < BLOCK_MAX) return this.#resize(at, 1)
    this.#blocks.splice(at + 1, 0, block.splice(block.length >> 1))
    this.#resum()
  }

  /** Throws InvariantBroken when the number is not in the list. */
  remove(item: number): void {
    const at = this.#blockOf(item)
    const block = present(this.#blocks[at], 'block of the removed number')
    const place = placeIn(block, (other) => this.#compare(other, item) < 0)
    assert(block[place] === item, `${item} is not in the list`)
    block.splice(place, 1)
    this.#size -= 1
    if (block.length > 0) return this.#resize(at, -1)
    this.#blocks.splice(at, 1)
    this.#resum()
  }

  /** The numbers before the first for which `before` is false. It must be true up to one point and false after it. */
  count(before: (item: number) => boolean): number {
    const at = placeIn(this.#blocks, (block) => before(present(block.at(-1), 'the last of a block')))
    const block = this.#blocks[at]
    return block === undefined ? this.#size : this.#sumBefore(at) + placeIn(block, before)
  }

  /** At most `count` numbers, from a place on. */
  slice(from: number, count: number): number[] {
    const found: number[] = []
    let { at, rest } = this.#locate(from)
    for (let block = this.#blocks[at]; block !== undefined && found.length < count; block = this.#blocks[++at]) {
      found.push(...block.slice(rest, rest + count - found.length))
      rest = 0
    }
    return found
  }

  /** The first block whose last item does not come before this one; past the end when there is none. */
  #blockOf(item: number): number {
    return placeIn(this.#blocks, (block) => this.#compare(present(block.at(-1), 'the last of a block'), item) < 0)
  }

  #resize(at: number, by: 1 | -1): void {
    for (let n = at + 1; n < this.#sums.length; n += n & -n) this.#sums[n] = (this.#sums[n] ?? 0) + by
  }

  #resum(): void {
    const sums = Array.from({ length: this.#blocks.length + 1 }, () => 0)
    for (const [at, block] of this.#blocks.entries()) {
      const n = at + 1
      const sum = (sums[n] ?? 0) + block.length
      sums[n] = sum
      const parent = n + (n & -n)
      if (parent < sums.length) sums[parent] = (sums[parent] ?? 0) + sum
    }
    this.#sums = sums
  }

  #sumBefore(at: number): number {
    let sum = 0
    for (let n = at; n > 0; n -= n & -n) sum += this.#sums[n] ?? 0
    return sum
  }

  /** The block with this place, and the offset within it. */
  #locate(place: number): { at: number; rest: number } {
    let at = 0
    let rest = place
    let step = 1
    while (step * 2 < this.#sums.length) step *= 2
    for (; step > 0; step >>= 1) {
      const sum = this.#sums[at + step]
      if (sum === undefined || sum > rest) continue
      at += step
      rest -= sum
    }
    return { at, rest }
  }
}

/** The number of leading items that satisfy `before`, by binary search. */
function placeIn<T>(items: readonly T[], before: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (before(present(items[middle], 'an item'))) low = middle + 1
    else high = middle
  }
  return low
}
