/** Breaks a stored document in every way that a fault of a writer, a disk or an operator may break it. */

/** A broken document. */
export interface Damage {
  /** What was done, and where: `home.id removed`. */
  readonly what: string
  readonly json: unknown
}

type Path = readonly (string | number)[]

/** Every field removed, of another type, cut or fractional, one at a time; and the document as a whole. */
export function damagesOf(document: unknown): readonly Damage[] {
  const text = JSON.stringify(document)
  const whole: readonly Damage[] = [
    { what: 'the text cut', json: text.slice(0, text.length / 2) },
    { what: 'all of it removed', json: {} },
    { what: 'all of it of another type', json: [7] },
  ]
  return [...whole, ...pathsOf(document, []).flatMap((path) => damagesAt(document, path))]
}

/** Of a list the first item stands for all, and of a record by number the first entry. */
function pathsOf(value: unknown, at: Path): readonly Path[] {
  if (typeof value !== 'object' || value === null) return []
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value).toSorted()
  const isUniform = Array.isArray(value) || keys.every((key) => /^\d+$/.test(String(key)))
  return keys.slice(0, isUniform ? 1 : keys.length).flatMap((key) => {
    const path = [...at, key]
    return [path, ...pathsOf(Reflect.get(value, key), path)]
  })
}

function damagesAt(document: unknown, path: Path): readonly Damage[] {
  const name = path.join('.')
  const value = path.reduce<unknown>((inside, key) => Reflect.get(Object(inside), key), document)
  const damages: Damage[] = [
    { what: `${name} removed`, json: without(document, path) },
    { what: `${name} of another type`, json: having(document, path, ofAnotherType(value)) },
  ]
  if (typeof value === 'string')
    damages.push({ what: `${name} cut`, json: having(document, path, value.slice(0, value.length / 2)) })
  if (typeof value === 'number')
    damages.push({ what: `${name} with a fraction`, json: having(document, path, value + 0.5) })
  return damages
}

function ofAnotherType(value: unknown): unknown {
  if (typeof value === 'string') return 7
  return typeof value === 'object' ? 'text' : { value }
}

/** A copy in which the place of the path is changed. */
function changed(document: unknown, path: Path, change: (holder: object, key: string | number) => void): unknown {
  const copy: unknown = structuredClone(document)
  const holder = path.slice(0, -1).reduce<unknown>((inside, key) => Reflect.get(Object(inside), key), copy)
  change(Object(holder), path.at(-1) ?? '')
  return copy
}

const having = (document: unknown, path: Path, value: unknown): unknown =>
  changed(document, path, (holder, key) => Reflect.set(holder, key, value))

const without = (document: unknown, path: Path): unknown =>
  changed(document, path, (holder, key) => Reflect.deleteProperty(holder, key))
