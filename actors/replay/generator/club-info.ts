/** A club of a generated match. */

export interface ClubInfo {
  readonly name: string
  readonly shortCode: string
}
