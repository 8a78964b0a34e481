import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Block, blocksOf, type Inline, inlinesOf, sectionsOf } from '../../src/web/control/markdown.ts'

const read = (text: string): readonly Block[] => blocksOf(text.split('\n'))

describe('the Markdown of the runbook', () => {
  it('has paragraphs, lists with what is indented under them, tables and commands', () => {
    const text =
      'One\ntwo\n\n1. First\n   goes on\n   - below\n2. Then:\n\n   ```sh\n   a\n     b\n   ```\n\n| x | y |\n|---|---|\n| `a\\|b` | c |'
    expect(read(text)).toEqual([
      { kind: 'text', text: ['One two'] },
      {
        kind: 'list',
        first: 1,
        items: [
          [
            { kind: 'text', text: ['First goes on'] },
            { kind: 'list', first: null, items: [[{ kind: 'text', text: ['below'] }]] },
          ],
          [
            { kind: 'text', text: ['Then:'] },
            { kind: 'commands', text: 'a\n  b' },
          ],
        ],
      },
      { kind: 'table', head: [['x'], ['y']], rows: [[[{ kind: 'code', text: 'a|b' }], ['c']]] },
    ])
  })

  it('has code, emphasis and links, and nothing that becomes HTML', () => {
    expect(inlinesOf('**Do `x`** or *y*: [z](https://z.example) <b>')).toEqual([
      { kind: 'bold', text: ['Do ', { kind: 'code', text: 'x' }] },
      ' or ',
      { kind: 'italic', text: ['y'] },
      ': ',
      { kind: 'link', text: ['z'], to: 'https://z.example' },
      ' <b>',
    ])
    expect(inlinesOf('2 * 3 * 4')).toEqual(['2 * 3 * 4'])
  })

  it('is read to its end: no mark is left in the text', () => {
    const wordsOf = (parts: readonly Inline[]): string[] =>
      parts.flatMap((part) => (typeof part === 'string' ? [part] : part.kind === 'code' ? [] : wordsOf(part.text)))
    const textOf = (blocks: readonly Block[]): string[] =>
      blocks.flatMap((block): string[] => {
        if (block.kind === 'text') return wordsOf(block.text)
        if (block.kind === 'list') return block.items.flatMap(textOf)
        return block.kind === 'table' ? [...block.head, ...block.rows.flat()].flatMap(wordsOf) : []
      })
    const sections = sectionsOf(readFileSync(join(import.meta.dirname, '../../ops/runbook.md'), 'utf8'))
    expect(sections.length).toBeGreaterThan(15)
    for (const { title, blocks } of sections) {
      expect([title, textOf(blocks).filter((text) => /`|\*\*|^\||^\d+\. |^- /.test(text))]).toEqual([title, []])
    }
  })
})
