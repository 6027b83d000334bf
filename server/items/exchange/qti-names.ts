import type { AuthorDifficulty } from '../../measurement/model.ts'

export const NAMESPACES = {
  item: 'http://www.imsglobal.org/xsd/imsqtiasi_v3p0',
  package: 'http://www.imsglobal.org/xsd/qti/qtiv3p0/imscp_v1p1',
  lom: 'http://ltsc.ieee.org/xsd/LOM',
  xsi: 'http://www.w3.org/2001/XMLSchema-instance',
} as const

/** The catalog of the identifier in LOM that all languages of an item share. */
export const CATALOG_NAME = 'attestry'
/** Prefix of the keyword with the kind of an item. */
export const KIND_KEYWORD = 'kind:'

/** The vocabulary of LOM for difficulties. An export uses the last name of each difficulty. */
export const DIFFICULTY_NAMES: ReadonlyMap<string, AuthorDifficulty> = new Map([
  ['very easy', 1],
  ['easy', 1],
  ['medium', 2],
  ['very difficult', 3],
  ['difficult', 3],
])
