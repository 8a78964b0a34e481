/** The labels of the marks on the chart: each where it covers no other. */

/** The widest character of a label, in pixels. */
export const CHARACTER = 7

interface Labelled {
  readonly text?: string | undefined
  readonly position: string
}

/**
 * The marks, from the oldest, without the labels that newer ones would cover. `xOf` is where a mark is, in pixels.
 * Labels above the line and below it do not touch.
 */
export function labelled<M extends Labelled>(marks: readonly M[], xOf: (mark: M) => number): readonly M[] {
  /** The left end of the label before, by position. */
  const taken = new Map<string, number>()
  return marks
    .toReversed()
    .map((mark) => {
      const half = ((mark.text ?? '').length * CHARACTER) / 2
      const x = xOf(mark)
      if (x + half > (taken.get(mark.position) ?? Infinity)) return { ...mark, text: '' }
      taken.set(mark.position, x - half)
      return mark
    })
    .toReversed()
}
