/**
 * A sorted list in blocks of bounded size: adding and removing one of a million items moves a block, never the whole
 * list. Places are counted over the lengths of the blocks, some thousands of them, which takes microseconds.
 */
import { InvariantBroken, present } from './assert.ts'

/** A larger block is split in two. Larger blocks make every insertion move more, smaller ones make counting slower. */
const BLOCK_MAX = 512
/** The size of blocks after `fill`: half of the largest, so that the next insertions split none. */
const BLOCK_FILLED = 256

export class SortedList<T> {
  /** A total order: zero only for one and the same item. It must not change for items that are in the list. */
  readonly #compare: (a: T, b: T) => number
  /** No block is empty. */
  #blocks: T[][] = []
  #size = 0

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#size
  }

  get first(): T | undefined {
    return this.#blocks[0]?.[0]
  }

  /** Replaces all items. The new ones must be in order already. */
  fill(inOrder: Iterable<T>): void {
    this.#blocks = []
    this.#size = 0
    let block: T[] = []
    for (const item of inOrder) {
      if (this.#size % BLOCK_FILLED === 0) {
        block = []
        this.#blocks.push(block)
      }
      block.push(item)
      this.#size += 1
    }
  }

  add(item: T): void {
    this.#size += 1
    const at = Math.min(this.#blockOf(item), this.#blocks.length - 1)
    const block = this.#blocks[at]
    if (block === undefined) {
      this.#blocks.push([item])
      return
    }
    block.splice(this.#placeIn(block, item), 0, item)
    if (block.length > BLOCK_MAX) this.#blocks.splice(at + 1, 0, block.splice(block.length >> 1))
  }

  /** Throws InvariantBroken when it is not in the list. */
  remove(item: T): void {
    const at = this.#blockOf(item)
    const block = this.#blocks[at] ?? []
    const place = this.#placeIn(block, item)
    const found = block[place]
    if (found === undefined || this.#compare(found, item) !== 0) {
      throw new InvariantBroken(`${JSON.stringify(item)} is not in the sorted list`)
    }
    block.splice(place, 1)
    this.#size -= 1
    if (block.length === 0) this.#blocks.splice(at, 1)
  }

  /** The number of items before the first for which `before` is false. */
  count(before: (item: T) => boolean): number {
    const at = countWhile(this.#blocks, (block) => before(lastOf(block)))
    const block = this.#blocks[at]
    let count = block === undefined ? 0 : countWhile(block, before)
    for (let n = 0; n < at; n++) count += this.#blocks[n]?.length ?? 0
    return count
  }

  /** At most `count` items, beginning with the one at the place `from`. */
  slice(from: number, count: number): T[] {
    const found: T[] = []
    let skip = from
    for (const block of this.#blocks) {
      if (found.length === count) break
      if (skip < block.length) found.push(...block.slice(skip, skip + count - found.length))
      skip = Math.max(0, skip - block.length)
    }
    return found
  }

  /**
   * Skips the items for which `passed` is true, then yields the following ones while `holds` is true. Looks at one item
   * more than it yields. The list must not change meanwhile.
   */
  *between(passed: (item: T) => boolean, holds: (item: T) => boolean): Generator<T> {
    const first = countWhile(this.#blocks, (block) => passed(lastOf(block)))
    for (let at = first; at < this.#blocks.length; at++) {
      const block = present(this.#blocks[at], 'a block')
      for (let place = at === first ? countWhile(block, passed) : 0; place < block.length; place++) {
        const item = present(block[place], 'an item')
        if (!holds(item)) return
        yield item
      }
    }
  }

  /** The first block whose last item is not before this one; the number of blocks when there is none. */
  #blockOf(item: T): number {
    return countWhile(this.#blocks, (block) => this.#compare(lastOf(block), item) < 0)
  }

  #placeIn(block: readonly T[], item: T): number {
    return countWhile(block, (other) => this.#compare(other, item) < 0)
  }
}

const lastOf = <T>(block: readonly T[]): T => present(block.at(-1), 'the last item of a block')

/** The number of items at the beginning for which `before` is true, by halving. */
function countWhile<T>(items: readonly T[], before: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (before(present(items[middle], 'an item'))) low = middle + 1
    else high = middle
  }
  return low
}
