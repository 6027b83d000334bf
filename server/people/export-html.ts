import { escapeHtml } from '../platform/text/escape-html.ts'
import type { PersonExport } from './export.ts'

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b}
h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2rem;border-bottom:1px solid #ccc}
dl{display:grid;grid-template-columns:minmax(9rem,14rem) 1fr;gap:.2rem 1rem;margin:0 0 1.5rem;padding:.5rem 0;border-bottom:1px solid #eee}
dt{font-weight:600}dd{margin:0;overflow-wrap:anywhere;white-space:pre-wrap}`

/** Renders an export as a standalone HTML page. */
export function renderExport({ person, exported_at, sections }: PersonExport): string {
  const parts = sections
    .filter(({ records }) => records.length > 0)
    .map(({ title, records }) => `<h2>${escapeHtml(title)}</h2>\n${records.map(renderRecord).join('\n')}`)
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Personal data of ${escapeHtml(person.person_id)}</title>
<style>${STYLE}</style></head>
<body>
<h1>Personal data</h1>
<p>All data that was stored about the person ${escapeHtml(person.person_id)} on ${escapeHtml(exported_at)}.</p>
${parts.length > 0 ? parts.join('\n') : '<p>No personal data is stored.</p>'}
</body>
</html>
`
}

function renderRecord(record: Record<string, unknown>): string {
  const rows = Object.entries(record).map(
    ([name, value]) => `<dt>${escapeHtml(fieldName(name))}</dt><dd>${htmlOf(value)}</dd>`,
  )
  return `<dl>${rows.join('')}</dl>`
}

/** Returns the display name of a field: "External candidate ID" for `external_candidate_id`. */
function fieldName(name: string): string {
  const words = name.replaceAll('_', ' ').replace(/\bid\b/g, 'ID')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Returns a value as HTML. Records in a list are separated by empty lines. */
function htmlOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–'
  if (Array.isArray(value)) {
    const separator = value.some((entry) => typeof entry === 'object' && entry !== null) ? '\n\n' : '\n'
    return value.map(htmlOf).join(separator) || '–'
  }
  if (value instanceof Date) return value.toISOString()
  if (typeof value !== 'object') return escapeHtml(String(value))
  const lines = Object.entries(value).map(([name, entry]) => {
    const html = name === 'content' && isFile(value) ? renderDownload(value) : htmlOf(entry)
    return `${escapeHtml(fieldName(name))}: ${html}`
  })
  return lines.join('\n') || '–'
}

interface ExportedFile {
  name: string
  mediaType: string
  /** In Base64. */
  content: string
}

function isFile(value: object): value is ExportedFile {
  return ['name', 'mediaType', 'content'].every((field) => typeof value[field as keyof typeof value] === 'string')
}

function renderDownload({ name, mediaType, content }: ExportedFile): string {
  const url = `data:${mediaType};base64,${content}`
  return `<a href="${escapeHtml(url)}" download="${escapeHtml(name)}">${escapeHtml(name)}</a>`
}
