/** Programs with one deliberate fault each. A check that passes such a program would also pass the real mistake. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** A change of text; `from` occurs in its file exactly once. */
export interface Edit {
  readonly file: string
  readonly from: string
  readonly to: string
}

export interface Mutation {
  readonly name: string
  readonly edits: readonly Edit[]
}

/** The text after an edit. Throws unless the edit applies exactly once. */
export function edited(text: string, { file, from, to }: Edit): string {
  if (text.split(from).length !== 2) throw new Error(`${file}: this stands there not exactly once: ${from}`)
  return text.replace(from, () => to)
}

/** A copy of parts of the project, to which edits can be applied. */
export class Copy {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  /** With packages, the copy can run everything. Its `node_modules` is its own, since caches are kept there. */
  static async of(paths: readonly string[], { packages }: { readonly packages: boolean }): Promise<Copy> {
    const copy = new Copy(await mkdtemp(join(tmpdir(), 'touchline-mutants-')))
    for (const path of paths) await cp(join(ROOT, path), join(copy.folder, path), { recursive: true })
    if (packages) await copy.#link()
    return copy
  }

  /** Applies the edits, runs the work, and restores the files. */
  async whileBroken<T>({ edits }: Mutation, work: () => Promise<T>): Promise<T> {
    const files = [...new Set(edits.map((edit) => join(this.folder, edit.file)))]
    const originals = await Promise.all(files.map((file) => readFile(file, 'utf8')))
    try {
      for (const [n, file] of files.entries()) {
        const own = edits.filter((edit) => join(this.folder, edit.file) === file)
        await writeFile(file, own.reduce(edited, originals[n] ?? ''))
      }
      return await work()
    } finally {
      for (const [n, file] of files.entries()) await writeFile(file, originals[n] ?? '')
    }
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true })
  }

  async #link(): Promise<void> {
    const [from, to] = [join(ROOT, 'node_modules'), join(this.folder, 'node_modules')]
    await mkdir(to)
    for (const name of await readdir(from)) if (name !== '.cache') await symlink(join(from, name), join(to, name))
  }
}
