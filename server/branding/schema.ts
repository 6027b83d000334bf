import { type Static, type TSchema, Type } from 'typebox'
import { named } from '../platform/http/named-schemas.ts'
import { NOT_BLANK_PATTERN } from '../platform/http/validation.ts'
import { type Brand, fitLogo, MAX_LOGO_TEXT_LENGTH, PAGE_LOGO_HEIGHT, PAGE_LOGO_WIDTH } from './branding.ts'

const closed = { additionalProperties: false }
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const optionalText = (maxLength: number) =>
  Type.Optional(orNull(Type.String({ maxLength, pattern: NOT_BLANK_PATTERN })))

/** More than the length of the largest logo, so that the error for a larger file names its size. */
const MAX_LOGO_FIELD_LENGTH = MAX_LOGO_TEXT_LENGTH + 100_000

const BrandLogo = named(
  'BrandLogo',
  Type.Object(
    { url: Type.String(), width: Type.Integer(), height: Type.Integer() },
    { description: 'Logo of an organisation.' },
  ),
)
const BrandColours = named(
  'BrandColours',
  Type.Object(
    {
      light: Type.String(),
      lightText: Type.String(),
      lightTint: Type.String(),
      dark: Type.String(),
      darkText: Type.String(),
      darkTint: Type.String(),
    },
    { description: 'Colours of the light and the dark theme, in hexadecimal form.' },
  ),
)

export const BrandingRecord = named(
  'Branding',
  Type.Object({
    organisation_name: Type.String(),
    display_name: orNull(Type.String()),
    logo: orNull(BrandLogo),
    colour: orNull(Type.String()),
    reply_to: orNull(Type.String()),
    footer: orNull(Type.String()),
    homepage: orNull(Type.String()),
  }),
)

export const BrandingBody = named(
  'BrandingChange',
  Type.Object(
    {
      display_name: optionalText(100),
      logo: Type.Optional(orNull(Type.String({ minLength: 1, maxLength: MAX_LOGO_FIELD_LENGTH }))),
      colour: optionalText(20),
      reply_to: optionalText(254),
      footer: optionalText(200),
      homepage: optionalText(200),
    },
    closed,
  ),
)

export const ColourQuery = Type.Object({ colour: Type.String({ maxLength: 20 }) }, closed)

export const ColourCheckRecord = named(
  'ColourCheck',
  Type.Object({
    colour: Type.String(),
    isReadable: Type.Boolean(),
    whiteText: Type.Number(),
    lightPage: Type.Number(),
    darkPage: Type.Number(),
    suggestion: Type.String(),
    colours: BrandColours,
  }),
)

/** The part of a brand that pages show. */
export const PageBrand = named(
  'PageBrand',
  Type.Object(
    {
      name: Type.String(),
      logo: orNull(BrandLogo),
      colours: orNull(BrandColours),
      footer: orNull(Type.String()),
      homepage: orNull(Type.String()),
    },
    { description: 'Look of the pages of the organisation. Absent if the organisation has not set it.' },
  ),
)
export type PageBrand = Static<typeof PageBrand>

/** Returns the part of a brand that pages show. */
export function pageBrand({ name, logo, colours, footer, homepage }: Brand): PageBrand {
  return { name, logo: logo && fitLogo(logo, PAGE_LOGO_WIDTH, PAGE_LOGO_HEIGHT), colours, footer, homepage }
}
