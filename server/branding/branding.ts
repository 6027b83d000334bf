import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { getOrganisation } from '../access/organisations.ts'
import { invalid } from '../api/invalid.ts'
import type { Detail } from '../api/problem.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { breakLinks, linkErrors } from '../platform/text/links.ts'
import { toSingleLine } from '../platform/text/strip-invisible.ts'
import { type BrandColours, brandColours, checkColour, isColour } from './colour.ts'
import { type ImageInfo, type ImageType, readImage } from './image.ts'

const MAX_LOGO_BYTES = 100 * 1024
const MAX_LOGO_PIXELS = 1024
/** Length of a logo of MAX_LOGO_BYTES in Base64. */
export const MAX_LOGO_TEXT_LENGTH = Math.ceil(MAX_LOGO_BYTES / 3) * 4
const LOGO_HASH_LENGTH = 16
/** The size of the logo on pages, in CSS pixels. On a small phone, a job title and a choice of language fit next to it. */
export const PAGE_LOGO_WIDTH = 96
export const PAGE_LOGO_HEIGHT = 36

/** The branding of an organisation as it is stored. Applies to both modes. */
export interface Branding {
  display_name: string | null
  logo: { url: string; width: number; height: number } | null
  colour: string | null
  reply_to: string | null
  footer: string | null
  homepage: string | null
}

/** The look of the pages and emails of an organisation. */
export interface Brand {
  name: string
  logo: { url: string; width: number; height: number } | null
  colours: BrandColours | null
  replyTo: string | null
  footer: string | null
  homepage: string | null
}

/** Changes of the branding: null removes a value, and an absent field is not changed. */
export interface BrandingChange extends Partial<Omit<Branding, 'logo'>> {
  /** The image in Base64. */
  logo?: string | null
}

interface BrandingRow extends Omit<Branding, 'logo'> {
  organisation_name: string
  logo_type: ImageType | null
  logo_width: number | null
  logo_height: number | null
  logo_hash: string | null
}

export async function getBranding(queries: Queries, orgId: string): Promise<Branding & { organisation_name: string }> {
  const row = await findRow(queries, orgId)
  if (!row) {
    const { name } = await getOrganisation(queries, orgId)
    return {
      organisation_name: name,
      display_name: null,
      logo: null,
      colour: null,
      reply_to: null,
      footer: null,
      homepage: null,
    }
  }
  const { organisation_name, display_name, colour, reply_to, footer, homepage } = row
  return { organisation_name, display_name, logo: logoOf(orgId, row), colour, reply_to, footer, homepage }
}

/** Returns the look of an organisation's pages and emails, or undefined if it has not set any part of it. */
export async function findBrand(queries: Queries, orgId: string): Promise<Brand | undefined> {
  const row = await findRow(queries, orgId)
  if (!row) return undefined
  const { colour, reply_to, footer, homepage } = row
  return {
    name: nameOf(row),
    logo: logoOf(orgId, row),
    colours: colour === null ? null : brandColours(colour),
    replyTo: reply_to,
    footer,
    homepage,
  }
}

/** Returns the name under which pages and emails present an organisation, also if it has no branding. */
export async function getPublicName(queries: Queries, orgId: string): Promise<string> {
  const { rows } = await sql<Pick<BrandingRow, 'organisation_name' | 'display_name'>>`
    select o.name as organisation_name, b.display_name
    from organisations o left join branding b using (org_id) where o.org_id = ${orgId}`.execute(queries)
  return nameOf(rows[0]!)
}

function nameOf({ organisation_name, display_name }: Pick<BrandingRow, 'organisation_name' | 'display_name'>): string {
  return display_name ?? breakLinks(toSingleLine(organisation_name))
}

async function findRow(queries: Queries, orgId: string): Promise<BrandingRow | undefined> {
  const { rows } = await sql<BrandingRow>`
    select o.name as organisation_name, b.display_name, b.logo_type, b.logo_width, b.logo_height, b.logo_hash, b.colour, b.reply_to,
      b.footer, b.homepage
    from branding b join organisations o using (org_id) where b.org_id = ${orgId}`.execute(queries)
  return rows[0]
}

/** Returns the largest size with the same proportions in a box. Small logos are not enlarged. */
export function fitLogo<Logo extends { width: number; height: number }>(
  logo: Logo,
  maxWidth: number,
  maxHeight: number,
): Logo {
  const scale = Math.min(1, maxWidth / logo.width, maxHeight / logo.height)
  const toPixels = (length: number) => Math.max(1, Math.round(length * scale))
  return { ...logo, width: toPixels(logo.width), height: toPixels(logo.height) }
}

function logoOf(orgId: string, { logo_hash, logo_type, logo_width, logo_height }: BrandingRow): Branding['logo'] {
  if (logo_hash === null) return null
  return { url: logoPath(orgId, logo_hash, logo_type!), width: logo_width!, height: logo_height! }
}

function logoPath(orgId: string, hash: string, type: ImageType): string {
  return `/brand/${orgId}/logo/${hash}.${type.slice('image/'.length)}`
}

/** Returns the logo and its path, or undefined if the organisation has none. */
export async function findLogo(
  queries: Queries,
  orgId: string,
): Promise<{ bytes: Buffer; type: ImageType; path: string } | undefined> {
  const { rows } = await sql<{ logo: Buffer; logo_type: ImageType; logo_hash: string }>`
    select logo, logo_type, logo_hash from branding where org_id = ${orgId} and logo is not null`.execute(queries)
  const [row] = rows
  return row && { bytes: row.logo, type: row.logo_type, path: logoPath(orgId, row.logo_hash, row.logo_type) }
}

/** Changes the branding of an organisation. An organisation without any value has no row. */
export async function changeBranding(tx: Tx, clock: Clock, orgId: string, change: BrandingChange): Promise<void> {
  await getOrganisation(tx, orgId)
  const { logo, ...fields } = change
  const details: Detail[] = [
    ...linkErrors(Object.entries(fields).filter(([path]) => path === 'display_name' || path === 'footer')),
    ...fieldErrors(fields),
  ]
  const logoColumns = logo === undefined ? {} : logo === null ? NO_LOGO : readLogo(logo, details)
  if (details.length > 0) throw invalid(details)
  const values = { ...normalise(fields), ...logoColumns, updated_at: new Date(clock.now()) }
  await tx
    .insertInto('branding')
    .values({ org_id: orgId, ...values })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet(values))
    .execute()
  await sql`delete from branding where org_id = ${orgId}
    and num_nonnulls(display_name, logo, colour, reply_to, footer, homepage) = 0`.execute(tx)
}

/** Names and footers are one line without invisible characters; colours are in lower case. */
function normalise({ display_name, footer, colour, ...others }: Omit<BrandingChange, 'logo'>) {
  return {
    ...others,
    ...(display_name === undefined ? {} : { display_name: display_name && toSingleLine(display_name) }),
    ...(footer === undefined ? {} : { footer: footer && toSingleLine(footer) }),
    ...(colour === undefined ? {} : { colour: colour?.toLowerCase() ?? null }),
  }
}

const EMAIL_PATTERN = /^[^\s@<>,;"]+@[^\s@<>,;"]+\.[^\s@<>,;"]+$/

function fieldErrors({ display_name, colour, reply_to, footer, homepage }: Omit<BrandingChange, 'logo'>): Detail[] {
  const details: Detail[] = []
  for (const [path, text] of Object.entries({ display_name, footer }))
    if (text != null && toSingleLine(text) === '') details.push({ path, message: 'must contain a visible character' })
  if (colour != null) details.push(...colourErrors(colour))
  if (reply_to != null && !EMAIL_PATTERN.test(reply_to))
    details.push({ path: 'reply_to', message: 'must be an email address, such as jobs@example.com' })
  if (homepage != null && !isHomepage(homepage))
    details.push({ path: 'homepage', message: 'must be an https address, such as https://www.example.com' })
  return details
}

function colourErrors(colour: string): Detail[] {
  if (!isColour(colour)) return [{ path: 'colour', message: 'must be a colour in hexadecimal form, such as #1d5fbf' }]
  const { isReadable, whiteText, lightPage, suggestion } = checkColour(colour)
  if (isReadable) return []
  const message = `is hard to read: its contrast is ${whiteText}:1 with white text and ${lightPage}:1 with the page, and must be at least 4.5:1; use ${suggestion}, the nearest readable colour`
  return [{ path: 'colour', message }]
}

function isHomepage(text: string): boolean {
  if (!URL.canParse(text) || /\s/.test(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  return protocol === 'https:' && hostname.includes('.') && username === '' && password === ''
}

const NO_LOGO = { logo: null, logo_type: null, logo_width: null, logo_height: null, logo_hash: null }

/** Returns the columns of a logo. If the file is not accepted, adds the reason to the validation errors. */
function readLogo(text: string, details: Detail[]) {
  const bytes = Buffer.from(text, 'base64')
  const image = readImage(bytes)
  const error = logoError(bytes, image)
  if (error !== undefined) details.push({ path: 'logo', message: error })
  if (error !== undefined || !image) return {}
  const { type, width, height } = image
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, LOGO_HASH_LENGTH)
  return { logo: bytes, logo_type: type, logo_width: width, logo_height: height, logo_hash: hash }
}

function logoError(bytes: Buffer, image: ImageInfo | undefined): string | undefined {
  if (!image) return 'must be a PNG, JPEG or WebP image; other types, such as SVG, are not accepted'
  const { width, height, isAnimated } = image
  if (isAnimated) return 'must not be animated; save the image as a still picture'
  if (bytes.length > MAX_LOGO_BYTES)
    return `must have at most 100 KB; this file has ${Math.ceil(bytes.length / 1024)} KB`
  if (width === 0 || height === 0 || width > MAX_LOGO_PIXELS || height > MAX_LOGO_PIXELS)
    return `must have 1 to 1,024 pixels a side; this image has ${width} × ${height}`
  return undefined
}
