import { crc32 } from 'node:zlib'

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** Images have a few dozen chunks; a hostile file could have one for every twelve bytes. */
const MAX_CHUNKS = 1000
/** The type iTXt. */
const INTERNATIONAL_TEXT = 0x69545874
const PNG_KEYWORD = 'openbadgecredential'

/**
 * Returns the text of a submitted file. Open Badges can be "baked" into a PNG or SVG image; then the text is the credential in the
 * image, or empty if there is none.
 */
export function readCredentialFile(bytes: Buffer): string {
  if (bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return readPng(bytes) ?? ''
  const text = bytes.toString()
  return /^\s*<(\?xml|!--|svg)/i.test(text) ? (readSvg(text) ?? '') : text
}

/** Returns a PNG image with the credential in it, as Open Badges 3.0 defines: an international text after the header of the image. */
export function bakeCredential(png: Buffer, credential: string): Buffer {
  // Keyword, no compression, and neither a language nor a translated keyword.
  const data = Buffer.from(`iTXt${PNG_KEYWORD}\0\0\0\0\0${credential}`)
  const chunk = Buffer.alloc(data.length + 8)
  chunk.writeUInt32BE(data.length - 4)
  data.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(data), data.length + 4)
  const headerEnd = PNG_SIGNATURE.length + 12 + png.readUInt32BE(PNG_SIGNATURE.length)
  return Buffer.concat([png.subarray(0, headerEnd), chunk, png.subarray(headerEnd)])
}

/** Returns the international text (iTXt) of the image that contains the credential. */
function readPng(bytes: Buffer): string | undefined {
  let offset = PNG_SIGNATURE.length
  for (let count = 0; count < MAX_CHUNKS && offset + 12 <= bytes.length; count++) {
    const length = bytes.readUInt32BE(offset)
    if (bytes.readUInt32BE(offset + 4) === INTERNATIONAL_TEXT) {
      const text = readInternationalText(bytes.subarray(offset + 8, offset + 8 + length))
      if (text !== undefined) return text
    }
    offset += 12 + length
  }
  return undefined
}

/** The keyword, two bytes about compression (not allowed here), language, translated keyword, and the text; separated by NUL. */
function readInternationalText(data: Buffer): string | undefined {
  const keywordEnd = data.indexOf(0)
  if (data.toString('latin1', 0, Math.max(keywordEnd, 0)) !== PNG_KEYWORD || data[keywordEnd + 1] !== 0)
    return undefined
  const languageEnd = data.indexOf(0, keywordEnd + 3)
  const translationEnd = data.indexOf(0, languageEnd + 1)
  return languageEnd < 0 || translationEnd < 0 ? undefined : data.toString('utf8', translationEnd + 1)
}

/** Returns the VC-JWT in the attribute `verify`, or the JSON in the content of the element. */
function readSvg(text: string): string | undefined {
  const start = text.indexOf('<openbadges:credential')
  const tagEnd = text.indexOf('>', start)
  if (start < 0 || tagEnd < 0) return undefined
  const jwt = /\sverify\s*=\s*(?:"([^"]*)"|'([^']*)')/.exec(text.slice(start, tagEnd))
  const contentEnd = text.indexOf('</openbadges:credential', tagEnd)
  const content = contentEnd < 0 ? '' : text.slice(tagEnd + 1, contentEnd).trim()
  if (content === '') return jwt?.[1] ?? jwt?.[2]
  return content.startsWith('<![CDATA[')
    ? content.slice('<![CDATA['.length, content.indexOf(']]>'))
    : decodeXml(content)
}

/** A credential within the limits of the check has fewer quotation marks and other characters that are written as entities. */
const MAX_ENTITIES = 20_000

function decodeXml(text: string): string {
  let entities = 0
  for (let index = text.indexOf('&'); index >= 0; index = text.indexOf('&', index + 1))
    if (++entities > MAX_ENTITIES) return ''
  // The ampersand is last, because it is part of the others.
  const characters = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'", '&amp;': '&' }
  return Object.entries(characters).reduce(
    (decoded, [entity, character]) => decoded.replaceAll(entity, character),
    text,
  )
}
