import { unstorableReason } from '../../platform/http/json.ts'
import type { Language } from '../../platform/text/languages.ts'
import { ITEM_KINDS } from '../../questions/bank/format.ts'
import { checkItem, ITEM_LIMITS, type ItemCheck, normaliseOption } from '../../questions/checks.ts'
import type { ItemText } from '../../questions/skill-items.ts'
import { visibleLength } from '../../questions/text.ts'
import {
  type Findings,
  type ItemDraft,
  MAX_EXTERNAL_ID_LENGTH,
  MIN_DISTRACTORS,
  UNSPECIFIED_KIND,
} from './item-draft.ts'

/**
 * The findings of `checkItem` for imported items, with advice. The first group makes an item unusable; the others are signs of a weak
 * item, which its author can accept. Lengths and equal options are checked here, because imported items can have more options.
 */
const ERRORS: Partial<Record<ItemCheck, string>> = {
  'all or none of the above':
    'an option refers to other options ("all of the above"); options are shuffled, so replace it',
  language: 'most letters are not in the script of the language; check that the text is in the right column or file',
}
const WARNINGS: Partial<Record<ItemCheck, string>> = {
  'absolute word': 'an option contains a word such as "always" or "never", which reveals that it is wrong; reword it',
  'key longest by far': 'the right answer is much longer than the others, which reveals it; shorten it',
  'key echoes the stem': 'a word of the question occurs only in the right answer, which reveals it; reword one of them',
  'options of one kind':
    'the right answer looks different from the others, which reveals it; use the same form for all',
  'options of one length': 'the options have very different lengths; make them about equally long',
  'negative stem': 'the question is negative, which is easily misread; ask for what is right',
  'reading level': 'the question has long sentences or difficult words; use shorter ones',
  stem: 'the question should be a complete question that ends with a question mark',
}

/** Checks of the stem; the others are about options. */
const STEM_CHECKS: ReadonlySet<ItemCheck> = new Set(['negative stem', 'stem', 'reading level', 'language'])

/** Letters of Indic scripts have up to three marks, which do not count as characters. */
const MAX_UNITS_PER_CHARACTER = 6

const CONTROL_CHARACTERS = /[\p{Cc}\p{Co}\p{Cn}\u202a-\u202e\u2066-\u2069\ufffd]/u

/** Checks a draft. Adds its errors and warnings to the findings. */
export function checkDraft(draft: ItemDraft, findings: Findings): void {
  const { path, kind, externalId } = draft
  if (kind !== UNSPECIFIED_KIND && !(ITEM_KINDS as readonly string[]).includes(kind))
    findings.error(draft.locateField('kind'), `unknown kind; leave it empty, or use one of ${ITEM_KINDS.join(', ')}`)
  if (externalId !== undefined && ([...externalId].length > MAX_EXTERNAL_ID_LENGTH || isUnprintable(externalId)))
    findings.error(draft.locateField('id'), `the ID must have at most ${MAX_EXTERNAL_ID_LENGTH} printable characters`)
  const texts = Object.entries(draft.texts) as [Language, ItemText][]
  const optionCounts = new Set(texts.map(([, { options }]) => options.length))
  if (optionCounts.size > 1)
    findings.error(
      path,
      'the languages have different numbers of wrong answers; each needs the translations of the same ones',
    )
  for (const [language, text] of texts) checkText(draft, language, text, findings)
}

function checkText({ locate }: ItemDraft, language: Language, { stem, options }: ItemText, findings: Findings): void {
  const errorCount = findings.errors.length
  checkLength(locate(language, 'stem'), 'the question', stem, ITEM_LIMITS.stem.max, findings)
  for (const [index, option] of options.entries())
    checkLength(locate(language, index), 'the answer', option, ITEM_LIMITS.option.max, findings)
  const seenOptions = new Set<string>()
  for (const [index, option] of options.entries()) {
    const normalised = normaliseOption(option)
    if (option && seenOptions.has(normalised))
      findings.error(locate(language, index), 'the answer is the same as another one; replace it')
    seenOptions.add(normalised)
  }
  // Warnings compare the texts with each other, so they need all of them.
  const isComplete = findings.errors.length === errorCount && [stem, ...options].every(Boolean)
  for (const { check, path } of findWeaknesses(language, stem, options, locate)) {
    const [error, warning] = [ERRORS[check], WARNINGS[check]]
    if (error) findings.error(path, error)
    else if (warning && isComplete) findings.warn(path, warning)
  }
}

/** Returns the findings of `checkItem`, each with its position, and each only once. */
function findWeaknesses(
  language: Language,
  stem: string,
  options: readonly string[],
  locate: ItemDraft['locate'],
): { check: ItemCheck; path: string }[] {
  const distractors = options.flatMap((option, index) => (index > 0 && option ? [index] : []))
  const found = new Map<string, { check: ItemCheck; path: string }>()
  // A person sees the key and three of the distractors: check the first and the last three.
  for (const shown of [distractors.slice(0, MIN_DISTRACTORS), distractors.slice(-MIN_DISTRACTORS)]) {
    const indexes = [0, ...shown]
    const item = { stem, options: indexes.map((index) => options[index]!), key: 0, language }
    for (const { check, option } of checkItem(item)) {
      const path = locate(language, STEM_CHECKS.has(check) ? 'stem' : indexes[option ?? 0]!)
      found.set(`${check} ${path}`, { check, path })
    }
  }
  return [...found.values()]
}

function checkLength(path: string, noun: string, text: string, maxLength: number, findings: Findings): void {
  const length = visibleLength(text)
  if (length > maxLength) findings.error(path, `${noun} has ${length} characters; the maximum is ${maxLength}`)
  else if (text.length > maxLength * MAX_UNITS_PER_CHARACTER)
    findings.error(path, `${noun} has too many combining characters; remove them`)
  if (isUnprintable(text)) findings.error(path, `${noun} contains control characters; remove them`)
}

function isUnprintable(text: string): boolean {
  return CONTROL_CHARACTERS.test(text) || unstorableReason(text) !== undefined
}
