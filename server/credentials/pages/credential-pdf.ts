import { BOLD_FONT, isDrawable, REGULAR_FONT } from '../../platform/drawing/fonts.ts'
import type { Language } from '../../platform/text/languages.ts'
import type { PublicCredential } from '../credentials.ts'
import { readDetails } from './credential-details.ts'
import { credentialState } from './credential-state.ts'
import type { DrawingOptions } from './drawings.ts'
import { qrCodeModules } from './qr-code.ts'
import { formatDate, translator } from './texts.ts'

const DEFAULT_COLOUR = '#0a6550'
const INK = '#1b2420'
const SOFT = '#56605b'
const NO = '#9c2f1c'
const MARGIN = 56
const QR_SIZE = 120
/** Languages whose letters the embedded font has. */
const PDF_LANGUAGES: readonly Language[] = ['en', 'hi', 'mr']

/** Returns a certificate of one page to print. The signed JSON is attached to the file, so that the file alone can be checked. */
export async function renderCredentialPdf(credential: PublicCredential, options: DrawingOptions): Promise<Buffer> {
  const { default: PDFDocument } = await import('pdfkit')
  const language = PDF_LANGUAGES.includes(options.language) ? options.language : 'en'
  const t = translator(language)
  const details = readDetails(credential.credential)
  const state = credentialState(credential, options.now)
  const { look } = options
  const colour = look?.colour ?? DEFAULT_COLOUR
  const doc = new PDFDocument({
    size: 'A4',
    margin: MARGIN,
    lang: language,
    displayTitle: true,
    info: { Title: details.skill, Author: details.issuer, CreationDate: credential.issuedAt },
  })
  doc.registerFont('regular', REGULAR_FONT).registerFont('bold', BOLD_FONT)
  const chunks: Buffer[] = []
  doc.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = new Promise<void>((resolve, reject) => doc.on('end', resolve).on('error', reject))
  const width = doc.page.width - 2 * MARGIN

  doc.rect(0, 0, doc.page.width, 12).fill(state === 'valid' ? colour : SOFT)
  doc
    .font('bold')
    .fontSize(12)
    .fillColor(colour)
    .text(drawable(look?.name ?? 'Attestry', 'Attestry'), MARGIN, 48, { width, height: 16, ellipsis: true })
  if (credential.mode === 'test') doc.fontSize(11).fillColor(NO).text(t('test_banner'), { width })
  if (state !== 'valid') {
    const date = state === 'revoked' ? credential.revokedAt! : credential.validUntil
    doc
      .fontSize(13)
      .fillColor(NO)
      .text(t(`${state}_banner`, { date: formatDate(date, language) }), { width })
  }
  doc.moveDown(2).font('regular').fontSize(13).fillColor(SOFT).text(t('verified_skill'))
  doc.font('bold').fontSize(30).fillColor(INK).text(drawable(details.skill, credential.id), { width, lineGap: 2 })
  doc.moveDown(0.6)
  if (details.holderName) addFact(t('issued_to'), details.holderName.text)
  addFact(t('issued_by'), details.issuer)
  addFact(t('issued_on'), formatDate(details.validFrom, language))
  if (details.validUntil) addFact(t('valid_until'), formatDate(details.validUntil, language))
  addHeading(t('evidence_title'))
  for (const { text } of details.evidence) addParagraph(text)
  addParagraph(details.criteria)
  for (const { name, value, unit } of details.results) addParagraph(`${name.text}: ${value.text}${unit}`)

  const qrTop = doc.page.height - MARGIN - QR_SIZE
  drawQr(await qrCodeModules(options.url), MARGIN, qrTop)
  doc.font('bold').fontSize(10).fillColor(INK)
  doc.text(t('check_title'), MARGIN + QR_SIZE + 16, qrTop + 12, { width: width - QR_SIZE - 16 })
  doc
    .font('regular')
    .fillColor(colour)
    .text(options.url, { link: options.url, width: width - QR_SIZE - 16 })
  doc.fillColor(SOFT).text(`${t('credential_id')}: ${credential.id}`, { width: width - QR_SIZE - 16 })
  doc.file(Buffer.from(JSON.stringify(credential.credential)), {
    name: `${credential.id}.json`,
    type: 'application/vc',
    creationDate: credential.issuedAt,
    modifiedDate: credential.issuedAt,
  })
  doc.end()
  await ended
  return Buffer.concat(chunks)

  function addFact(name: string, value: string) {
    doc.font('regular').fontSize(11).fillColor(SOFT).text(`${name}: `, { continued: true })
    doc.font('bold').fillColor(INK).text(drawable(value, '—'), { width })
  }

  function addHeading(text: string) {
    doc.moveDown(1).font('bold').fontSize(13).fillColor(INK).text(text, { width })
  }

  function addParagraph(text: string) {
    // The page number and the QR code stay on the first page: a long text is cut instead of starting a second page.
    const height = doc.page.height - MARGIN - QR_SIZE - 24 - doc.y
    if (text === '' || height < 16) return
    doc.moveDown(0.3).font('regular').fontSize(11).fillColor(INK)
    doc.text(drawable(text, ''), { width, height, ellipsis: true })
  }

  function drawQr(modules: boolean[][], left: number, top: number) {
    const scale = QR_SIZE / modules.length
    modules.forEach((row, y) => {
      row.forEach((dark, x) => {
        // Slightly larger than a module, because PDF viewers show gaps between adjacent squares.
        if (dark) doc.rect(left + x * scale, top + y * scale, scale + 0.1, scale + 0.1)
      })
    })
    doc.fill('#000000')
  }
}

/** Returns the text, or the replacement if the font lacks some of its letters: empty boxes look like an error. */
function drawable(text: string, replacement: string): string {
  return isDrawable(text) ? text : replacement
}
