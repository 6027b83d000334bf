import { constants, inflateSync } from 'node:zlib'

/** Names of PDF objects that run scripts or programs, contain other files, or hide the content of the file from this check. */
const FORBIDDEN_NAMES =
  /\/(JavaScript|Launch|EmbeddedFiles?|FileAttachment|RichMedia|SubmitForm|ImportData|GoToE|Encrypt)(?![A-Za-z0-9])/
/** Short names occur by chance in compressed data, so they are looked for only outside of it. */
const FORBIDDEN_SHORT_NAMES = /\/(JS|EF|XFA)(?![A-Za-z0-9])/
const MAX_INFLATED_BYTES = 20 * 1024 * 1024

export type PdfCheck = 'ok' | 'not a PDF' | 'active content'

/**
 * Checks that a PDF file contains no scripts and no other files. Looks at the names in the file and in its compressed object streams; a
 * stream that cannot be read counts as active content.
 */
export function checkPdf(bytes: Buffer): PdfCheck {
  const text = bytes.toString('latin1')
  if (!text.startsWith('%PDF-') || !text.includes('%%EOF')) return 'not a PDF'
  if (FORBIDDEN_NAMES.test(unescapeNames(text))) return 'active content'
  let inflatedBytes = 0
  // Each part of the text is read once, whatever the file contains.
  for (let offset = 0; ; ) {
    const keyword = findStream(text, offset)
    const objects = unescapeNames(text.slice(offset, keyword?.index))
    if (FORBIDDEN_SHORT_NAMES.test(objects)) return 'active content'
    if (!keyword) return 'ok'
    const end = text.indexOf('endstream', keyword.end)
    if (end < 0) return 'active content'
    const dictionary = objects.slice(Math.max(0, objects.lastIndexOf('obj')))
    if (/\/ObjStm(?![A-Za-z0-9])/.test(dictionary)) {
      const inner = readStream(bytes.subarray(keyword.end, end), dictionary)
      inflatedBytes += inner?.length ?? 0
      if (inner === undefined || inflatedBytes > MAX_INFLATED_BYTES || isForbidden(inner)) return 'active content'
    }
    offset = end + 'endstream'.length
  }
}

/** Returns the next keyword that begins a stream, with the offset of its data. */
function findStream(text: string, offset: number): { index: number; end: number } | undefined {
  const pattern = /stream\r?\n/g
  pattern.lastIndex = offset
  const match = pattern.exec(text)
  return match ? { index: match.index, end: match.index + match[0].length } : undefined
}

function isForbidden(objects: string): boolean {
  const names = unescapeNames(objects)
  return FORBIDDEN_NAMES.test(names) || FORBIDDEN_SHORT_NAMES.test(names)
}

function readStream(data: Buffer, dictionary: string): string | undefined {
  const filters = /\/Filter\s*(\[[^\]]*\]|\/\w+)/.exec(dictionary)?.[1]
  if (filters === undefined) return data.toString('latin1')
  if (filters.replace(/[[\]\s]/g, '') !== '/FlateDecode') return undefined
  try {
    return inflateSync(data, {
      maxOutputLength: MAX_INFLATED_BYTES,
      finishFlush: constants.Z_SYNC_FLUSH, // line breaks before `endstream` belong to the data
    }).toString('latin1')
  } catch {
    return undefined
  }
}

/** Replaces the escaped characters of names: /J#53 is the same name as /JS. */
function unescapeNames(text: string): string {
  return text.includes('#')
    ? text.replace(/#([0-9A-Fa-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text
}
