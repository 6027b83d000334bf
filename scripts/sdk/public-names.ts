// Public names of the SDKs that do not follow from the API descriptions. Changing one breaks programs that use an SDK.

export const apis = ['partner', 'verification', 'catalogue'] as const

export type ApiName = (typeof apis)[number]

/** Resources of the verification session API by tag. An unknown tag becomes a resource of its own. */
export const SESSION_RESOURCES: Record<string, string> = {
  Sessions: 'sessions',
  Steps: 'sessions',
  Credentials: 'sessions',
  'Human endorsement': 'endorsements',
  Assessment: 'assessments',
}

/** Resource and method of an operation, where the name derived from its path and operation ID is not clear. */
export const METHOD_NAMES: Record<string, string> = {
  'partner.requestSkill': 'skillRequests.create',
  'verification.openSession': 'sessions.open',
  'verification.getVerification': 'verifications.get',
  'verification.getVerifyPage': 'endorsements.getReviewPage',
  'catalogue.countCatalogue': 'catalogue.getTotals',
  'catalogue.listLimitedVisitors': 'catalogue.listLimitedAddresses',
}

/** Short names that are keywords in one of the languages; such a method keeps its operation ID, as in `items.importItems`. */
export const RESERVED_METHOD_NAMES = [
  'class',
  'default',
  'export',
  'for',
  'function',
  'go',
  'import',
  'new',
  'package',
  'return',
  'switch',
  'throw',
  'try',
  'while',
]
