/**
 * Forms that a word of a name may take in a text, beside those of `stems.ts`: the endings of Hindi words in both scripts, and the
 * person for what the person does.
 */

/** Endings of Hindi words that stand for each other, the longer first: a verb's, then a noun's. */
const HINDI: [string, string[]][] = [
  ['ना', ['ने', 'नी']],
  ['ने', ['ना', 'नी']],
  ['ी', ['ियां', 'ियों']],
  ['ा', ['े', 'ों']],
]
const CONSONANT = /[क-ह]$/
const ROMANISED: [string, string[]][] = [
  ['na', ['ne', 'ni', 'nee']],
  ['ne', ['na', 'ni']],
  ['i', ['iyan', 'iyon', 'iya']],
  ['a', ['e', 'on']],
]

/** टाइल लगाने for टाइल लगाना, मिस्त्रियों for मिस्त्री. */
export function hindiForms(word: string): string[] {
  if (word.length < 3) return []
  for (const [ending, others] of HINDI)
    if (word.endsWith(ending)) return others.map((other) => word.slice(0, -ending.length) + other)
  return CONSONANT.test(word) ? [`${word}ें`, `${word}ों`] : []
}

/** lagane for lagana, gaadiyan for gaadi; for words that are known to be Hindi. */
export function romanisedForms(word: string): string[] {
  if (word.length < 5) return []
  for (const [ending, others] of ROMANISED)
    if (word.endsWith(ending)) return others.map((other) => word.slice(0, -ending.length) + other)
  return []
}

/** Who does it, where no rule tells. */
const DOERS = new Map(
  Object.entries({
    repair: ['mechanic', 'technician'],
    servicing: ['technician', 'mechanic'],
    service: ['technician'],
    maintenance: ['technician', 'mechanic'],
    installation: ['installer', 'fitter', 'technician'],
    masonry: ['mason'],
    carpentry: ['carpenter'],
    tailoring: ['tailor'],
    cooking: ['cook', 'chef'],
    selling: ['seller', 'salesman'],
    guarding: ['guard'],
    management: ['manager'],
    development: ['developer'],
    design: ['designer'],
    nursing: ['nurse'],
    coaching: ['coach'],
    analysis: ['analyst'],
    engineering: ['engineer'],
    assistance: ['assistant'],
    photography: ['photographer'],
    laying: ['layer', 'mistri'],
  }),
)

/** What is done, in Hindi: "forklift chalana" for forklift operation. A verb stands for all its forms. */
const HINDI_WORDS = new Map(
  Object.entries({
    installation: ['lagana', 'लगाना'],
    fitting: ['lagana', 'लगाना'],
    fixing: ['lagana', 'लगाना'],
    laying: ['lagana', 'लगाना', 'bichhana', 'बिछाना'],
    operation: ['chalana', 'चलाना'],
    driving: ['chalana', 'चलाना'],
    riding: ['chalana', 'चलाना'],
    making: ['banana', 'बनाना'],
    cooking: ['banana', 'बनाना', 'pakana', 'पकाना'],
    washing: ['dhona', 'धोना', 'dhulai', 'धुलाई'],
    cleaning: ['safai', 'सफाई', 'dhona', 'धोना'],
    stitching: ['silna', 'सिलना', 'silai', 'सिलाई'],
    cutting: ['katna', 'काटना', 'kaatna', 'katai', 'कटाई'],
    repair: ['marammat', 'मरम्मत'],
    servicing: ['marammat', 'मरम्मत'],
    teaching: ['padhana', 'पढ़ाना'],
    selling: ['bechna', 'बेचना', 'bikri', 'बिक्री'],
    replacement: ['badalna', 'बदलना'],
    changing: ['badalna', 'बदलना'],
    feeding: ['khilana', 'खिलाना'],
    bathing: ['nahlana', 'नहलाना'],
    massage: ['malish', 'मालिश'],
    spraying: ['chhidkav', 'छिड़काव'],
  }),
)
const NONE: string[] = []

/** Hindi words for what an English word says is done. */
export function hindiWordsOf(word: string): readonly string[] {
  return HINDI_WORDS.get(word) ?? NONE
}

/** Who does what a word names: a driver does driving, an operator operation. */
export function doersOf(word: string): string[] {
  const known = DOERS.get(word)
  if (known) return known
  if (word.length < 6) return []
  if (word.endsWith('ing')) return [`${word.slice(0, -3)}er`]
  return /[ts]ion$/.test(word) ? [`${word.slice(0, -3)}or`] : []
}
