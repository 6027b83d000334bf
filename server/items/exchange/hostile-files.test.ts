import assert from 'node:assert/strict'
import { test } from 'node:test'
import { itemXml, sampleItems } from '../../../test/support/item-files.ts'
import { Problem } from '../../api/problem.ts'
import { readCsvItems } from './csv-items.ts'
import { Findings, type ItemDraft, MAX_ERRORS } from './item-draft.ts'
import { readQtiFile } from './qti-items.ts'

const BODY_BYTES = 256 * 1024
const MAX_CPU_MS = 5
const MAX_RUNS = 30

const HEADER = 'skill,difficulty,stem_en,key_en,distractor1_en,distractor2_en,distractor3_en\n'

function fill(part: string, start = '', end = '', length = BODY_BYTES): string {
  return start + part.repeat(Math.floor((length - start.length - end.length) / part.length)) + end
}

/** Returns an item with the parts at the end of its body. */
function fillItem(part: string): string {
  const [start = '', end = ''] = itemXml(sampleItems(1)[0]!).split('</qti-item-body>')
  return fill(part, start, `</qti-item-body>${end}`, 64 * 1024)
}

const FILES: Record<string, string> = {
  'rows of one cell': fill('a\n', HEADER),
  'rows of quotation marks': fill('""\n', HEADER),
  'rows of commas': fill(',,,,,,,,\n', HEADER),
  'rows with too many cells': fill(',', HEADER),
  'empty lines': fill('\n', HEADER),
  'rows with errors in every cell': fill('x,9,,,,,\n', HEADER, '', 16_000),
  'a long cell': fill('a', `${HEADER}sk_1001,1,`),
  'a long cell of quotation marks': fill('""', `${HEADER}sk_1001,1,"`, '"'),
  'an unclosed quotation mark': fill('a\n', `${HEADER}sk_1001,1,"`),
  'a long column name': fill('a', 'skill,'),
  'many columns': fill('skill,'),
  'unknown columns': fill(`stem_${'x'.repeat(1200)},`, 'skill,'),
  'spaces without a line end': fill(' '),
  'XML: elements that are not supported': fillItem('<x/>'),
  'XML: elements after the choices': fillItem('<p/>'),
  'XML: a document type with entities': fill('<!ENTITY a "&b;">', '<!DOCTYPE a ['),
  'XML: deep nesting': fill('<p>', '', '', 64 * 1024),
  'XML: an item that is too large': fill('<p/>', '<qti-assessment-item>'),
}

test('a rejected file of up to 256 KB takes at most 5 ms of CPU time, whatever it contains', () => {
  for (const [name, text] of Object.entries(FILES)) {
    const bytes = Buffer.from(text)
    const read = name.startsWith('XML') ? readQtiFile : readCsvItems
    let fastestMs = Number.POSITIVE_INFINITY
    for (let runs = 0; runs < MAX_RUNS && fastestMs > MAX_CPU_MS / 2; runs++) {
      const start = process.cpuUsage()
      const errors = errorsOf((findings) => read(bytes, 'items', undefined, findings))
      const { user, system } = process.cpuUsage(start)
      fastestMs = Math.min(fastestMs, (user + system) / 1000)
      assert.ok(errors.length > 0 && errors.length < MAX_ERRORS + 10, `${name}: ${errors.length} errors`)
    }
    assert.ok(fastestMs <= MAX_CPU_MS, `${name} took ${fastestMs.toFixed(1)} ms of CPU time`)
  }
})

function errorsOf(read: (findings: Findings) => ItemDraft[]): { path: string; message: string }[] {
  const findings = new Findings()
  try {
    const drafts = read(findings)
    return [...findings.errors, ...drafts.flatMap((draft) => draft.errors)]
  } catch (error) {
    assert.ok(error instanceof Problem)
    return error.details
  }
}
