import { inflateSync } from 'node:zlib'

/** Names of PDF objects that run scripts or programs, contain other files or forms, or hide the content of the file from this check. */
const FORBIDDEN_NAMES = namePattern([
  'JavaScript',
  'Launch',
  'EmbeddedFile',
  'EmbeddedFiles',
  'FileAttachment',
  'RichMedia',
  'SubmitForm',
  'ImportData',
  'GoToE',
  'XFA',
  'Encrypt',
])
/** Names so short that they occur by chance in compressed data, where they are not looked for. */
const FORBIDDEN_SHORT_NAMES = namePattern(['JS', 'EF', 'AA'])
const OPEN_ACTION_PATTERN = new RegExp(`/${escapable('OpenAction')}\\s*<<`)
const OBJECT_STREAM_PATTERN = namePattern(['ObjStm'])
/** Objects in the data of a stream: the data belongs to another file, or a comment only looks like the start of a stream. */
const OBJECT_PATTERN = /\d\s+obj(?![A-Za-z])/
const FILTER_PATTERN = /\/Filter\s*(?:\/FlateDecode(?![A-Za-z0-9])|\[\s*\/FlateDecode\s*\])/

const MAX_STREAMS = 5_000
const MAX_OBJECT_STREAMS = 1_000
const MAX_DICTIONARY_LENGTH = 4096
const MAX_INFLATED_BYTES = 6 * 1024 * 1024

export type PdfCheck = 'ok' | 'not a PDF' | 'unsafe'

/**
 * Rejects a PDF file if the name of a script, a program, another file, a form in XML or encryption is found in it or in its compressed
 * object streams, or if it is built in a way that could hide them. This is not a virus scan. The time is proportional to the size.
 */
export function checkPdf(bytes: Buffer): PdfCheck {
  const text = bytes.toString('latin1')
  if (!text.startsWith('%PDF-') || !text.includes('%%EOF')) return 'not a PDF'
  if (FORBIDDEN_NAMES.test(text)) return 'unsafe'
  let streams = 0
  let objectStreams = 0
  let inflatedBytes = 0
  for (let offset = 0; ; ) {
    const stream = findStream(text, offset)
    const objects = text.slice(offset, stream?.index)
    if (hasShortNames(objects)) return 'unsafe'
    const isObjectStream = OBJECT_STREAM_PATTERN.test(objects)
    if (!stream) return isObjectStream ? 'unsafe' : 'ok'
    const end = text.indexOf('endstream', stream.dataIndex)
    if (end < 0 || ++streams > MAX_STREAMS) return 'unsafe'
    const data = text.slice(stream.dataIndex, end)
    if (OBJECT_PATTERN.test(data) || OBJECT_STREAM_PATTERN.test(data)) return 'unsafe'
    if (isObjectStream) {
      if (++objectStreams > MAX_OBJECT_STREAMS) return 'unsafe'
      const inner = readObjectStream(bytes.subarray(stream.dataIndex, end), objects, MAX_INFLATED_BYTES - inflatedBytes)
      if (inner === undefined || FORBIDDEN_NAMES.test(inner) || hasShortNames(inner)) return 'unsafe'
      inflatedBytes += inner.length
    }
    offset = end + 'endstream'.length
  }
}

function hasShortNames(objects: string): boolean {
  return FORBIDDEN_SHORT_NAMES.test(objects) || OPEN_ACTION_PATTERN.test(objects)
}

/** Returns the next keyword that begins a stream, with the offset of its data. */
function findStream(text: string, offset: number): { index: number; dataIndex: number } | undefined {
  const pattern = /stream[ \t]*(?:\r\n?|\n)/g
  pattern.lastIndex = offset
  const match = pattern.exec(text)
  return match ? { index: match.index, dataIndex: match.index + match[0].length } : undefined
}

/**
 * Returns the objects in an object stream, or undefined if it cannot be read with certainty. `objects` is everything between the previous
 * stream and this one, so that no comment or string in it can hide the dictionary.
 */
function readObjectStream(data: Buffer, objects: string, maxBytes: number): string | undefined {
  if (objects.length > MAX_DICTIONARY_LENGTH || objects.includes('#') || objects.includes('/DecodeParms'))
    return undefined
  const raw = data.toString('latin1')
  const filters = objects.split('/Filter').length - 1
  if (filters === 0) return raw
  if (filters > 1 || !FILTER_PATTERN.test(objects) || maxBytes <= 0) return undefined
  try {
    return inflateSync(data, { maxOutputLength: maxBytes }).toString('latin1')
  } catch {
    return undefined
  }
}

/** Returns a pattern that matches any of the names of a PDF file, also with escaped characters: /J#53 is the same name as /JS. */
function namePattern(names: string[]): RegExp {
  return new RegExp(`/(?:${names.map(escapable).join('|')})(?![A-Za-z0-9])`)
}

function escapable(name: string): string {
  return name.replace(/./g, (character) => {
    const code = character.charCodeAt(0).toString(16)
    return `(?:${character}|#${code.replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`)})`
  })
}
