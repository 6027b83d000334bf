import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { BOLD_FONT, isDrawableUnshaped, REGULAR_FONT } from '../../platform/drawing/fonts.ts'
import type { PublicCredential } from '../credentials.ts'
import { readDetails } from './credential-details.ts'
import { credentialState } from './credential-state.ts'
import type { DrawingOptions } from './drawings.ts'
import { formatDate, translator } from './texts.ts'

const WIDTH = 1200
const HEIGHT = 630
const MARGIN = 80
const TITLE_SIZES = [84, 68, 56, 46]
const MAX_TITLE_LINES = 3

/** Whether the fonts are loaded, which takes longer than drawing. */
let hasFonts = false

/**
 * Returns the picture that messengers and social networks show with the link, as PNG. It has no name, because pictures are cached by
 * others and cannot be withdrawn.
 */
export async function renderCredentialPicture(
  credential: PublicCredential,
  { now, look }: Pick<DrawingOptions, 'now' | 'look'>,
): Promise<Buffer> {
  const { make, encodePNGToStream, registerFont } = await import('pureimage')
  const t = translator('en')
  const { skill, issuer, validFrom } = readDetails(credential.credential)
  const state = credentialState(credential, now)
  if (!hasFonts) {
    registerFont(REGULAR_FONT, 'Regular').loadSync()
    registerFont(BOLD_FONT, 'Bold').loadSync()
    hasFonts = true
  }
  const image = make(WIDTH, HEIGHT)
  const canvas = image.getContext('2d')
  const colour = state === 'valid' ? (look?.colour ?? '#0a6550') : '#56605b'
  canvas.fillStyle = '#f6f5f1'
  canvas.fillRect(0, 0, WIDTH, HEIGHT)
  canvas.fillStyle = colour
  canvas.fillRect(0, 0, WIDTH, 20)
  const wordmark = look && isDrawableUnshaped(look.name) ? look.name : 'Attestry'
  drawText(cut(wordmark, 34), MARGIN, 110, 'Bold', 34, colour)
  drawText(label(), MARGIN, 200, 'Regular', 36, state === 'valid' ? '#56605b' : '#9c2f1c')

  const title = isDrawableUnshaped(skill) ? skill : t('verified_skill')
  const { lines, size } = fitTitle(title)
  lines.forEach((line, index) => {
    drawText(line, MARGIN, 200 + size * 1.25 * (index + 1), 'Bold', size, '#1b2420')
  })
  if (isDrawableUnshaped(issuer)) drawText(`${t('issued_by')} ${issuer}`, MARGIN, 535, 'Regular', 34, '#1b2420')
  drawText(`${t('issued_on')} ${formatDate(validFrom, 'en')}`, MARGIN, 583, 'Regular', 28, '#56605b')

  const stream = new PassThrough()
  const [png] = await Promise.all([buffer(stream), encodePNGToStream(image, stream)])
  return png

  function label(): string {
    const testMark = credential.mode === 'test' ? ' (TEST)' : ''
    return (state === 'valid' ? t('verified_skill') : t(`state_${state}`)) + testMark
  }

  function drawText(text: string, x: number, y: number, font: string, size: number, fill: string) {
    canvas.font = `${size}pt ${font}`
    canvas.fillStyle = fill
    canvas.fillText(text, x, y)
  }

  /** Returns the largest size at which the title fits, with its lines. A title that never fits is cut. */
  function fitTitle(text: string): { lines: string[]; size: number } {
    for (const size of TITLE_SIZES) {
      const lines = wrap(text, size)
      if (lines.length * size * 1.25 <= 270 && lines.every((line) => widthOf(line, size) <= WIDTH - 2 * MARGIN))
        return { lines, size }
    }
    const size = TITLE_SIZES.at(-1)!
    return { lines: wrap(text, size).slice(0, MAX_TITLE_LINES), size }
  }

  /** Cuts a text that is wider than the picture. */
  function cut(text: string, size: number): string {
    if (widthOf(text, size) <= WIDTH - 2 * MARGIN) return text
    let end = text.length
    while (widthOf(`${text.slice(0, end)}…`, size) > WIDTH - 2 * MARGIN) end--
    return `${text.slice(0, end).trimEnd()}…`
  }

  function wrap(text: string, size: number): string[] {
    const lines: string[] = []
    for (const word of text.split(' ')) {
      const last = lines.at(-1)
      if (last !== undefined && widthOf(`${last} ${word}`, size) <= WIDTH - 2 * MARGIN)
        lines[lines.length - 1] = `${last} ${word}`
      else lines.push(word)
    }
    return lines
  }

  function widthOf(text: string, size: number): number {
    canvas.font = `${size}pt Bold`
    return canvas.measureText(text).width
  }
}
