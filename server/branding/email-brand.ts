import type { Config } from '../config.ts'
import type { Queries } from '../platform/database/database.ts'
import { findBrand, fitLogo } from './branding.ts'

/** The look of an organisation's emails. */
export interface EmailBrand {
  name: string
  /** Complete address and displayed size of the logo. */
  logo: { url: string; width: number; height: number } | null
  colour: string | null
  replyTo: string | null
  footer: string | null
  homepage: string | null
}

const MAX_LOGO_WIDTH = 160
const MAX_LOGO_HEIGHT = 40

/** Returns the look of the emails of an organisation, or undefined if it has not set any part of it. */
export async function findEmailBrand(
  queries: Queries,
  { publicUrl }: Pick<Config, 'publicUrl'>,
  orgId: string,
): Promise<EmailBrand | undefined> {
  const brand = await findBrand(queries, orgId)
  if (!brand) return undefined
  const { name, logo, colours, replyTo, footer, homepage } = brand
  return {
    name,
    logo:
      logo && publicUrl !== undefined
        ? { ...fitLogo(logo, MAX_LOGO_WIDTH, MAX_LOGO_HEIGHT), url: publicUrl + logo.url }
        : null,
    colour: colours?.light ?? null,
    replyTo,
    footer,
    homepage,
  }
}
