import { BOLD_FONT, REGULAR_FONT, replaceUndrawable } from '../platform/drawing/fonts.ts'
import type { ReportContent, ReportSection } from './report-content.ts'

export interface ReportPdfInput {
  content: ReportContent
  /** Name of the organisation, as on the report page; undefined without branding. */
  brandName: string | undefined
  /** Address of the report page; undefined for a report without a link. */
  url: string | undefined
  createdAt: number
}

const BRAND = '#0a6550'
const INK = '#1b2420'
const SOFT = '#56605b'
const NOTICE = '#9c2f1c'
const MARGIN = 56
const LIST_INDENT = 12
/** A heading is not drawn so close to the end of a page that its text would be on the next one. */
const MIN_HEIGHT_AFTER_HEADING = 60

/**
 * Returns a report as a PDF file with a structure for screen readers. The fonts have Latin and Devanagari letters: texts in other scripts
 * are replaced by a note, and the file refers to the page, which shows them.
 */
export async function renderReportPdf({ content, brandName, url, createdAt }: ReportPdfInput): Promise<Buffer> {
  const { default: PDFDocument } = await import('pdfkit')
  const { title, testNotice, job, summary, sections, linkExpiry } = content
  let isComplete = true
  const doc = new PDFDocument({
    size: 'A4',
    margin: MARGIN,
    lang: 'en',
    pdfVersion: '1.7',
    tagged: true,
    displayTitle: true,
    bufferPages: true,
    info: { Title: drawable(title), Author: 'Attestry', CreationDate: new Date(createdAt) },
  })
  doc.registerFont('regular', REGULAR_FONT).registerFont('bold', BOLD_FONT)
  const chunks: Buffer[] = []
  doc.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = new Promise<void>((resolve, reject) => doc.on('end', resolve).on('error', reject))
  const width = doc.page.width - 2 * MARGIN

  add('P', brandName ?? 'Attestry', { font: 'bold', size: 12, color: BRAND })
  if (testNotice) add('P', testNotice, { font: 'bold', size: 11, color: NOTICE })
  doc.moveDown(1)
  add('H1', title, { font: 'bold', size: 22 })
  if (job) add('P', job, { size: 12, color: SOFT })
  doc.moveDown(0.6)
  add('P', summary, { font: 'bold', size: 12 })
  for (const section of sections) addSection(section)
  doc.moveDown(1.2)
  if (!isComplete)
    add(
      'P',
      'This file has only Latin and Devanagari letters. Texts in other scripts are replaced by a note in square brackets; the web page shows them.',
      { color: NOTICE },
    )
  if (url !== undefined) {
    add('P', `Report page, until ${linkExpiry}:`, { color: SOFT })
    add('Link', url, { color: BRAND, link: url })
  }
  addPageNumbers()
  doc.end()
  await ended
  return Buffer.concat(chunks)

  function addSection({ heading, paragraphs = [], list = [], skills = [], facts = [] }: ReportSection) {
    if (doc.y > doc.page.height - MARGIN - MIN_HEIGHT_AFTER_HEADING) doc.addPage()
    doc.moveDown(1)
    add('H2', heading, { font: 'bold', size: 13 })
    for (const text of paragraphs) add('P', text)
    for (const text of list) add('P', `• ${text}`, { indent: LIST_INDENT })
    for (const { name, verdict, evidence, questions } of skills) {
      doc.moveDown(0.4)
      add('P', `${name}: ${verdict.toLowerCase()}`, { font: 'bold' })
      add('P', [evidence, questions].filter((text) => text !== '–').join('; '), { color: SOFT })
    }
    for (const { name, value } of facts) {
      doc.moveDown(0.4)
      add('P', name, { color: SOFT })
      add('P', value)
    }
  }

  function add(
    role: 'H1' | 'H2' | 'P' | 'Link',
    text: string,
    {
      font = 'regular',
      size = 10.5,
      color = INK,
      ...options
    }: { font?: 'regular' | 'bold'; size?: number; color?: string; indent?: number; link?: string } = {},
  ) {
    const drawnText = drawable(text)
    doc.addStructure(
      doc.struct(role, {}, () => {
        doc
          .font(font)
          .fontSize(size)
          .fillColor(color)
          .text(drawnText, { width, ...options })
      }),
    )
  }

  function drawable(text: string): string {
    const drawnText = replaceUndrawable(text)
    if (drawnText !== text.replace(/\s+/gu, ' ')) isComplete = false
    return drawnText
  }

  function addPageNumbers() {
    const { count } = doc.bufferedPageRange()
    for (let index = 0; count > 1 && index < count; index++) {
      doc.switchToPage(index)
      // Below the bottom margin, text would otherwise start a new page.
      doc.page.margins.bottom = 0
      doc.markContent('Artifact', { type: 'Pagination' })
      doc
        .font('regular')
        .fontSize(9)
        .fillColor(SOFT)
        .text(`${index + 1} / ${count}`, MARGIN, doc.page.height - 36, { width, align: 'right' })
      doc.endMarkedContent()
    }
  }
}
