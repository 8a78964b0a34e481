/** The full-time card as a picture, drawn in the browser: nothing of it is kept anywhere. */
import { percent, signed } from '../format.ts'
import type { FullTime } from './full-time.ts'

const SIZE = 1080
const EDGE = 88
const INK = '#f2f5ee'
const SOFT = '#a9bdb0'
const LINE = '#d6f24f'

/** Throws if the browser cannot draw. */
export async function drawCard({ score, total, returnPct, count, best, worst }: FullTime): Promise<Blob> {
  await document.fonts.load('600 96px "Barlow Condensed"')
  const canvas = document.createElement('canvas')
  canvas.width = SIZE
  canvas.height = SIZE
  const context = canvas.getContext('2d')
  if (context === null) throw new Error('the browser has no canvas')
  grass(context)
  const write = (text: string, y: number, size: number, colour: string): void => {
    context.fillStyle = colour
    context.font = `600 ${size}px "Barlow Condensed", sans-serif`
    context.fillText(text, EDGE, y, SIZE - 2 * EDGE)
  }
  write('TOUCHLINE · FULL TIME', 130, 40, LINE)
  write(score, 240, 72, INK)
  write(signed(total), 500, 220, INK)
  write(`${percent(returnPct)} on ${count === 1 ? 'one position' : `${count} positions`}`, 590, 52, SOFT)
  if (best !== null) write(`Best call   ${best.name}  ${signed(best.pnl)}`, 780, 56, INK)
  if (worst !== null) write(`Worst call   ${worst.name}  ${signed(worst.pnl)}`, 860, 56, SOFT)
  write(location.host, 1_000, 36, SOFT)
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob === null ? reject(new Error('no picture')) : resolve(blob)), 'image/png')
  })
}

function grass(context: CanvasRenderingContext2D): void {
  for (let x = 0; x < SIZE; x += 120) {
    context.fillStyle = (x / 120) % 2 === 0 ? '#12352a' : '#153b2f'
    context.fillRect(x, 0, 120, SIZE)
  }
  context.strokeStyle = 'rgb(242 245 238 / 0.25)'
  context.lineWidth = 4
  context.beginPath()
  context.arc(SIZE - 120, SIZE, 260, 0, 2 * Math.PI)
  context.stroke()
}
