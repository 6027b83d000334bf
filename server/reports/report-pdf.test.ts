import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inflateSync } from 'node:zlib'
import type { ReportContent } from './report-content.ts'
import { renderReportPdf } from './report-pdf.ts'

const CONTENT: ReportContent = {
  title: 'Report: Asha Rao',
  testNotice: undefined,
  job: 'Electrician',
  summary: 'Qualified.',
  sections: [],
  linkExpiry: '1 June 2026',
}

/** Returns the drawing instructions of each page, in the order of the file. */
async function drawPages(changes: Partial<ReportContent>): Promise<string[]> {
  const url = 'https://verify.example.com/reports/1'
  const pdf = await renderReportPdf({
    content: { ...CONTENT, ...changes },
    brandName: 'Acme Staffing',
    url,
    createdAt: 0,
  })
  const streams = pdf.toString('latin1').matchAll(/\nstream\r?\n(.*?)\nendstream/gs)
  return [...streams].flatMap(([, bytes]) => {
    try {
      const text = inflateSync(Buffer.from(bytes!, 'latin1')).toString('latin1')
      return text.includes(' BDC') ? [text] : []
    } catch {
      return [] // fonts are not pages
    }
  })
}

const isNumbered = (page: string) => page.includes('/Pagination')

test('only reports of several pages have page numbers', async () => {
  const facts = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `Question ${index}`, value: 'Yes' }))
  const short = await drawPages({ sections: [{ heading: 'Answers', facts: facts(3) }] })
  assert.deepEqual(short.map(isNumbered), [false])
  const long = await drawPages({ sections: [{ heading: 'Answers', facts: facts(60) }] })
  assert.ok(long.length > 1)
  assert.ok(long.every(isNumbered))
})

test('the notice of TEST mode and the note about other scripts have a colour of their own', async () => {
  const countNotices = async (changes: Partial<ReportContent>) =>
    (await drawPages(changes)).join('').match(/^0\.6117\d* 0\.1843\d* 0\.1098\d* scn$/gm)?.length ?? 0
  assert.equal(await countNotices({}), 0)
  assert.equal(await countNotices({ testNotice: 'TEST mode: no real candidate' }), 1)
  assert.equal(await countNotices({ job: 'ইলেকট্রিশিয়ান' }), 1)
})
