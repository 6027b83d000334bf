/**
 * Why an organisation may contact a person.
 * - `consent`: the person agreed to be contacted about jobs
 * - `application`: the person applied for a job with the organisation
 * - `legitimate_use`: another use that the law allows without consent
 */
export const contactBases = ['consent', 'application', 'legitimate_use'] as const
export type ContactBasis = (typeof contactBases)[number]

/** The basis on which a candidate is contacted, stored at the enrolment. */
export interface ContactConsent {
  basis: ContactBasis
  /** When the person gave it; null if the organisation declared the basis for everyone. */
  obtained_at: string | null
  /** Where the person gave it, such as the name of a form. */
  source: string
  /** Version of the text that the person agreed to. */
  text_version: string | null
  /** The source of the basis: the request that enrolled the candidate, or the settings of the organisation. */
  stated_by: 'enrolment' | 'organisation'
}

/** The basis in the privacy settings of an organisation; all fields are null if none is declared. */
export interface DeclaredBasis {
  contact_basis: ContactBasis | null
  contact_basis_source: string | null
  contact_basis_text_version: string | null
  contact_basis_declared_at: Date | null
}

/** Returns the basis that the organisation declared for everyone; undefined if it declared none. */
export function declaredConsent({
  contact_basis: basis,
  contact_basis_source: source,
  contact_basis_text_version: text_version,
}: DeclaredBasis): ContactConsent | undefined {
  if (basis === null || source === null) return undefined
  return { basis, obtained_at: null, source, text_version, stated_by: 'organisation' }
}
