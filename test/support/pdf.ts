import { inflateSync } from 'node:zlib'

/** Returns the streams of a PDF file, decompressed, by the number of their object. */
function readStreams(pdf: Buffer): Map<string, string> {
  const objects = pdf.toString('latin1').matchAll(/(?:^|\n)(\d+) 0 obj\n(.*?)\nendobj/gs)
  return new Map(
    [...objects].flatMap(([, number, object]) => {
      const stream = /\nstream\r?\n(.*)\nendstream$/s.exec(object!)?.[1]
      if (stream === undefined) return []
      const bytes = Buffer.from(stream, 'latin1')
      return [[number!, (object!.includes('/FlateDecode') ? inflateSync(bytes) : bytes).toString('latin1')]]
    }),
  )
}

/**
 * Returns the text that a PDF file of pdfkit shows. Its pages contain numbers of glyphs instead of characters, which the embedded fonts
 * translate: a search in the decompressed file would not find anything.
 */
export function readPdfText(pdf: Buffer): string {
  const source = pdf.toString('latin1')
  const streams = readStreams(pdf)
  const fonts = new Map<string, string[]>()
  for (const [, name, fontObject] of source.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
    const font = new RegExp(`(?:^|\\n)${fontObject} 0 obj\\n(.*?)\\nendobj`, 's').exec(source)?.[1]
    const characterMap = streams.get(/\/ToUnicode (\d+) 0 R/.exec(font ?? '')?.[1] ?? '')
    if (characterMap !== undefined) fonts.set(name!, readCharacters(characterMap))
  }
  let text = ''
  for (const content of streams.values()) {
    let characters: string[] = []
    for (const [, fontName, glyphs] of content.matchAll(/\/(F\d+) [\d.]+ Tf|\[([^\]]*)\] TJ/g)) {
      if (fontName) characters = fonts.get(fontName) ?? []
      else text += `${decodeGlyphs(glyphs!, characters)}\n`
    }
  }
  return text
}

/** Returns the characters of the glyphs of a font, by their numbers. */
function readCharacters(characterMap: string): string[] {
  const characters: string[] = []
  for (const [, first, list] of characterMap.matchAll(/<(\w+)> <\w+> \[([^\]]*)\]/g))
    for (const [index, [, code]] of [...list!.matchAll(/<([\w ]+)>/g)].entries())
      characters[Number.parseInt(first!, 16) + index] = Buffer.from(code!.replaceAll(' ', ''), 'hex')
        .swap16()
        .toString('utf16le')
  return characters
}

function decodeGlyphs(glyphs: string, characters: string[]): string {
  return [...glyphs.matchAll(/<(\w+)>/g)]
    .flatMap(([, hex]) => hex!.match(/.{4}/g) ?? [])
    .map((number) => characters[Number.parseInt(number, 16)] ?? '\ufffd')
    .join('')
}
