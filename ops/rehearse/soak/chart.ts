/** Memory and sockets over the time of a soak, as an SVG for light and dark backgrounds. */
import type { Soaked } from './report.ts'

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [860, 360, 56, 56, 44, 40]
const MIB = 2 ** 20

export function chart({ samples, quiets, minutes }: Soaked): string {
  const memoryMax = roundUp(Math.max(...samples.map(({ resident }) => resident), MIB) / MIB)
  const socketsMax = roundUp(Math.max(...samples.map((sample) => sample.sockets), 1))
  const x = (minute: number): number => LEFT + (minute / Math.max(minutes, 1 / 60)) * (WIDTH - LEFT - RIGHT)
  const y = (part: number): number => HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)
  const line = (name: string, points: readonly (readonly [minute: number, part: number])[]): string =>
    `<polyline class="${name}" points="${points.map(([minute, part]) => `${x(minute).toFixed(1)},${y(part).toFixed(1)}`).join(' ')}" />`
  const steps = [0, 0.25, 0.5, 0.75, 1]
  const marks = Array.from({ length: 7 }, (_, n) => (minutes * n) / 6)

  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Memory and sockets over ${minutes.toFixed(0)} minutes">
<style>
  text { font: 12px system-ui, sans-serif; fill: #57606a; }
  line { stroke: #d0d7de; }
  polyline { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
  .resident { stroke: #0969da; } .heap { stroke: #bf8700; } .sockets { stroke: #1a7f37; stroke-dasharray: 3 3; }
  circle { fill: #cf222e; }
  .label { font-weight: 600; }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1; } line { stroke: #3d444d; }
    .resident { stroke: #4493f8; } .heap { stroke: #d29922; } .sockets { stroke: #3fb950; } circle { fill: #f85149; }
  }
</style>
${steps
  .map(
    (part) =>
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(part)}" y2="${y(part)}" />` +
      `<text x="${LEFT - 8}" y="${y(part) + 4}" text-anchor="end">${Math.round(memoryMax * part)}</text>` +
      `<text x="${WIDTH - RIGHT + 8}" y="${y(part) + 4}">${Math.round(socketsMax * part)}</text>`,
  )
  .join('\n')}
${marks.map((minute) => `<text x="${x(minute)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${minute.toFixed(0)}</text>`).join('\n')}
<text x="${LEFT}" y="20" class="label">MiB</text>
<text x="${WIDTH - RIGHT}" y="20" class="label" text-anchor="end">sockets</text>
<text x="${WIDTH / 2}" y="${HEIGHT - 6}" text-anchor="middle">minutes</text>
${legend([
  ['resident', 'resident'],
  ['heap', 'heap'],
  ['sockets', 'sockets'],
])}
<circle cx="${LEFT + 426}" cy="16" r="3.5" /><text x="${LEFT + 436}" y="20">heap after a collection, without users</text>
${line(
  'sockets',
  samples.map((sample) => [sample.minute, sample.sockets / socketsMax]),
)}
${line(
  'resident',
  samples.map(({ minute, resident }) => [minute, resident / MIB / memoryMax]),
)}
${line(
  'heap',
  samples.map(({ minute, heap }) => [minute, heap / MIB / memoryMax]),
)}
${quiets.map(({ minute, heap }) => `<circle cx="${x(minute).toFixed(1)}" cy="${y(heap / MIB / memoryMax).toFixed(1)}" r="3.5" />`).join('\n')}
</svg>
`
}

const legend = (entries: readonly (readonly [name: string, text: string])[]): string =>
  entries
    .map(([name, text], n) => {
      const at = LEFT + 100 + n * 105
      return `<polyline class="${name}" points="${at},16 ${at + 22},16" /><text x="${at + 28}" y="20">${text}</text>`
    })
    .join('\n')

/** Rounds up to a value that suits an axis. */
function roundUp(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value))
  const factor = [1, 2, 4, 5, 8, 10].find((one) => one * unit >= value) ?? 10
  return factor * unit
}
