import { APART, hashOf, type Tokens } from '../text/tokens.ts'

/**
 * Names of skills that are not asked for because they tell who the employer is ("flex printing shop") or with whom one works
 * ("report to the project manager").
 */

const BUSINESSES = words(
  'company companies firm firms factory factories shop shops showroom industry industries manufacturer manufacturers brand dealer dealership pvt private ltd limited llp agency agencies institute startup enterprise enterprises group',
)
const TOWARDS = words('with to by under alongside assist assists assisting help helping support supporting between')
/** "report to project manager" needs no article. */
const REPORT = words('report reports reporting')
const TO = words('to')
const ARTICLES = words('the our a an other your senior team of skilled experienced fellow')
const PEOPLE = /(er|or|ist|ant|cian|ner|man|men|boss)s?$/

/** Whether the words `from` up to `to` tell of the employer or of a colleague. */
export function isAboutOthers(tokens: Tokens, from: number, to: number): boolean {
  const { hashes, gaps, count } = tokens
  if (to < count && gaps[to] !== APART && BUSINESSES.has(hashes[to]!)) return true
  let before = from - 1
  while (before >= 0 && before > from - 4 && gaps[before + 1] !== APART && ARTICLES.has(hashes[before]!)) before--
  if (from > 1 && TO.has(hashes[from - 1]!) && REPORT.has(hashes[from - 2]!)) return true
  // "with the designer", but "checking with multimeter".
  if (before < 0 || before === from - 1 || gaps[before + 1] === APART || !TOWARDS.has(hashes[before]!)) return false
  return PEOPLE.test(tokens.word(to - 1))
}

function words(list: string): ReadonlySet<number> {
  return new Set(list.split(' ').map(hashOf))
}
