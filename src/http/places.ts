/** Limits how many long tasks run at once: in the process, and for one owner, which is a user or an address. */
export interface PlacesOptions {
  readonly together: number
  readonly perOwner: number
}

export class Places {
  readonly #options: PlacesOptions
  readonly #owners: string[] = []

  constructor(options: PlacesOptions) {
    this.#options = options
  }

  /** Takes a place and returns how to leave it, which is done once; null if there is none for this owner. */
  take(owner: string): (() => void) | null {
    const { together, perOwner } = this.#options
    const own = this.#owners.filter((each) => each === owner).length
    if (own >= perOwner || this.#owners.length >= together) return null
    this.#owners.push(owner)
    return () => void this.#owners.splice(this.#owners.indexOf(owner), 1)
  }
}
