import { invalid } from '../../api/invalid.ts'
import type { Detail } from '../../api/problem.ts'
import { DelimitedTextError, parseDelimitedText } from '../../platform/text/delimited-text.ts'
import { isEarlierName } from './default-texts.ts'
import type { TemplateInput } from './register.ts'
import type { MessageTemplate, TemplateStatus } from './template.ts'

const MAX_RECORD_LENGTH = 10_000
const MAX_RECORDS = 2000

/** Column names of DLT portals for the same value. */
const COLUMN_NAMES = {
  name: ['template name', 'template_name', 'name'],
  id: ['template id', 'template_id', 'dlt template id', 'dlt_te_id', 'content template id'],
  header: ['header', 'sender id', 'sender_id', 'headers'],
  status: ['status', 'approval status', 'template status'],
} as const
type Column = keyof typeof COLUMN_NAMES

const statusNames: Record<string, TemplateStatus> = {
  approved: 'approved',
  registered: 'approved',
  active: 'approved',
  pending: 'pending',
  'in progress': 'pending',
  rejected: 'rejected',
  inactive: 'disabled',
  blacklisted: 'disabled',
}

/**
 * Reads the IDs that a DLT portal assigned, from a CSV file with the names and IDs of templates. Templates are found by their name, and rows
 * with earlier texts of a template are ignored. Without a status, a template with an ID is approved.
 */
export function readDltIds(text: string, templates: MessageTemplate[]): TemplateInput[] {
  const [header, ...records] = parseRecords(text)
  const columns = readHeader(header?.cells ?? [])
  const byName = new Map(
    templates.filter(({ channel }) => channel === 'sms').map((template) => [template.name, template]),
  )
  const errors: Detail[] = []
  const inputs = records.flatMap(({ cells, line }): TemplateInput[] => {
    const cell = (column: Column) => cells[columns.get(column) ?? -1]?.trim() ?? ''
    const path = `line ${line}`
    const template = byName.get(cell('name'))
    // The list of a portal also contains the earlier texts of a template.
    if (!template && [...byName.keys()].some((name) => isEarlierName(cell('name'), name))) return []
    if (!template) {
      errors.push({ path, message: `names the template ${cell('name') || '(none)'}, which is not in the register` })
      return []
    }
    const statusText = cell('status').toLowerCase()
    const status = statusText === '' ? undefined : statusNames[statusText]
    if (statusText !== '' && status === undefined)
      errors.push({ path, message: `has the unknown status ${cell('status')}; use approved, pending or rejected` })
    // A portal assigns the ID on approval, so a row without an ID is not approved yet.
    if (cell('id') === '' && (status ?? 'approved') === 'approved') return []
    if (cell('id') !== '' && !/^\d{5,25}$/.test(cell('id'))) {
      const hint = /e\+/i.test(cell('id')) ? '; the spreadsheet has rounded it, format the column as text' : ''
      errors.push({ path, message: `has the template ID ${cell('id')}, which is not 5 to 25 digits${hint}` })
    }
    const { channel, purpose, language, text } = template
    return [
      {
        channel,
        purpose,
        language,
        text,
        registry_id: cell('id') || undefined,
        header: cell('header') || undefined,
        status: status ?? 'approved',
      },
    ]
  })
  if (errors.length > 0) throw invalid(errors)
  return inputs
}

function parseRecords(text: string) {
  try {
    return parseDelimitedText(text, {
      delimiter: ',',
      quotes: true,
      maxRecordLength: MAX_RECORD_LENGTH,
      maxRecords: MAX_RECORDS,
    })
  } catch (error) {
    if (!(error instanceof DelimitedTextError)) throw error
    throw invalid([{ path: `line ${error.line}`, message: `is not valid CSV: ${error.reason}` }])
  }
}

function readHeader(cells: string[]): Map<Column, number> {
  const columns = new Map<Column, number>()
  cells.forEach((cell, index) => {
    const name = cell.trim().toLowerCase()
    for (const column of Object.keys(COLUMN_NAMES) as Column[])
      if ((COLUMN_NAMES[column] as readonly string[]).includes(name) && !columns.has(column)) columns.set(column, index)
  })
  for (const column of ['name', 'id'] as const)
    if (!columns.has(column))
      throw invalid([
        {
          path: 'line 1',
          message: `must contain the columns Template Name and Template ID; it contains ${cells.join(', ') || 'none'}`,
        },
      ])
  return columns
}
