import type { DumpedRow } from './dump-tables.ts'

/** Returns a text in the encodings in which a file or a database could contain it. */
export function encodingsOf(text: string): Buffer[] {
  const bytes = Buffer.from(text)
  const encoded = [
    text,
    text.toLowerCase(),
    JSON.stringify(text).slice(1, -1),
    // In a text that was escaped twice, such as JSON in a row that is printed as text.
    JSON.stringify(JSON.stringify(text)).slice(3, -3),
    text.replaceAll('"', '""'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    encodeURIComponent(text),
    new URLSearchParams({ text }).toString().slice('text='.length),
    ...base64Of(bytes),
  ]
  const utf16 = Buffer.from(text, 'utf16le')
  return [...new Set(encoded)].map((each) => Buffer.from(each)).concat(utf16, Buffer.from(utf16).swap16())
}

/** Base64 of the text at each of the three positions in a longer text, without the characters that depend on its surroundings. */
function base64Of(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const start = Math.ceil((offset * 8) / 6)
    const inner = text.slice(start, Math.floor(((offset + bytes.length) * 8) / 6))
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

/** Returns a line for each table and text that is found, in any encoding. */
export function findTexts(dump: readonly DumpedRow[], texts: readonly string[]): string[] {
  const found = new Set<string>()
  const bytesByTable = new Map(
    [...Map.groupBy(dump, ({ table }) => table)].map(([table, rows]) => [
      table,
      Buffer.from(rows.map(({ text }) => text).join('\n')),
    ]),
  )
  for (const [table, bytes] of bytesByTable)
    for (const text of texts)
      if (encodingsOf(text).some((encoded) => bytes.includes(encoded))) found.add(`${table}: ${text}`)
  return [...found]
}
