import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { measureCpuMs } from '../../../test/support/cpu-limit.ts'
import { itemPackage, itemXml, sampleItems } from '../../../test/support/item-files.ts'
import { Problem } from '../../api/problem.ts'
import { writeZip, type ZipFile } from '../../platform/zip.ts'
import { readCsvItems } from './csv-items.ts'
import { Findings, type ItemDraft, MAX_ERRORS } from './item-draft.ts'
import { readQtiFile, readQtiPackage } from './qti-items.ts'

const BODY_BYTES = 256 * 1024
const MAX_CPU_MS = 5

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

test('the rest of a file with 200 errors is not read', () => {
  const findings = new Findings()
  for (let count = 1; count < MAX_ERRORS; count++) findings.error('items', 'wrong')
  assert.throws(() => findings.error('items', 'wrong'), /The file has at least 200 errors/)
})

function fillPackage(part: string, partCount: number, start = '', end = '') {
  const manifest = `<manifest xmlns="http://www.imsglobal.org/xsd/qti/qtiv3p0/imscp_v1p1">${start}${part.repeat(partCount)}${end}</manifest>`
  return [{ name: 'imsmanifest.xml', content: Buffer.from(manifest) }, padding()]
}

/** A file that makes the package large, so that its other files may be compressed more. */
function padding(): ZipFile {
  return { name: 'image.png', content: randomBytes(190_000) }
}

const ITEM_RESOURCE = '<resource type="imsqti_item_xmlv3p0" href="x.xml"/>'

const PACKAGES: Record<string, Buffer> = {
  'many entries': writeZip(
    Array.from({ length: 2500 }, (_, index) => ({ name: `f${index}`, content: Buffer.alloc(0) })),
  ),
  'a manifest of empty resources': writeZip(fillPackage('<resource/>', 60_000)),
  'a manifest of other elements': writeZip(fillPackage('<a><b/></a>', 29_000)),
  'a manifest of attributes': writeZip(fillPackage(`<a${' b=""'.repeat(60)}/>`, 2500)),
  'a manifest of one text': writeZip(fillPackage('a', 800_000)),
  'a manifest of missing files': writeZip(fillPackage(ITEM_RESOURCE, 15_000)),
  'a manifest of metadata': writeZip(
    fillPackage('<keyword>a</keyword>', 20_000, '<resource><metadata>', '</metadata></resource>'),
  ),
  'a manifest that is not one': writeZip([
    { name: 'imsmanifest.xml', content: Buffer.from(fill('<resource/>', '<a>', '</a>')) },
    padding(),
  ]),
  'files that expand to the limit': writeZip([
    ...fillPackage('<a/>', 1),
    ...Array.from({ length: 38 }, (_, index) => ({ name: `${index}`, content: Buffer.alloc(64 * 1024) })),
  ]),
  'an item that is too large': writeZip([
    ...fillPackage(ITEM_RESOURCE, 1),
    { name: 'x.xml', content: Buffer.from(fill('<p/>', '<p>', '</p>', 2_000_000)) },
  ]),
  'items with errors': itemPackage(
    Array.from({ length: 1300 }, (_, index) => ({ name: `i${index}.xml`, xml: '<x/>' })),
  ),
}

test('a rejected package of up to 256 KB takes at most 5 ms of CPU time, whatever it contains', async () => {
  for (const [name, bytes] of Object.entries(PACKAGES)) {
    assert.ok(bytes.length <= BODY_BYTES, `${name} has ${bytes.length} bytes`)
    await requireCheap(name, bytes, (file, findings) => readQtiPackage(file, 'items.zip', undefined, findings))
  }
})

test('a rejected file of up to 256 KB takes at most 5 ms of CPU time, whatever it contains', async () => {
  for (const [name, text] of Object.entries(FILES)) {
    const read = name.startsWith('XML') ? readQtiFile : readCsvItems
    await requireCheap(name, Buffer.from(text), (file, findings) => read(file, 'items', undefined, findings))
  }
})

/** Fails if rejecting a file takes too much CPU time. */
async function requireCheap(
  name: string,
  bytes: Buffer,
  read: (bytes: Buffer, findings: Findings) => ItemDraft[] | Promise<ItemDraft[]>,
): Promise<void> {
  const ms = await measureCpuMs(MAX_CPU_MS, {
    input: () => bytes,
    run: async () => {
      const errors = await errorsOf((findings) => read(bytes, findings))
      assert.ok(errors.length > 0 && errors.length < MAX_ERRORS + 10, `${name}: ${errors.length} errors`)
    },
  })
  assert.ok(ms <= MAX_CPU_MS, `${name} took ${ms.toFixed(1)} ms of CPU time`)
}

async function errorsOf(
  read: (findings: Findings) => ItemDraft[] | Promise<ItemDraft[]>,
): Promise<{ path: string; message: string }[]> {
  const findings = new Findings()
  try {
    const drafts = await read(findings)
    return [...findings.errors, ...drafts.flatMap((draft) => draft.errors)]
  } catch (error) {
    assert.ok(error instanceof Problem)
    return error.details
  }
}
